/* The format of the bytes of fuzz_service and fuzz_remote: messages, each after its length (two
 * bytes, the lower one first) and a byte of these flags. */
#ifndef TESTS_FUZZ_PACKETS_H
#define TESTS_FUZZ_PACKETS_H

enum {
    /* both: the message's header has a wrong count */
    PACKET_CLAIMS_MORE_BYTES = 64,
    PACKET_CLAIMS_MORE_FDS = 128,

    /* to a service: PACKET_FDS holds 1 + number of descriptors; the kind of descriptors is above */
    PACKET_FDS = 3,
    PACKET_NO_FD = 1,
    PACKET_ONE_FD = 2,
    PACKET_FD_KINDS = 4, /* factor of the kind, which is a sum of: */
    FD_IS_LONG = 1,      /* 8192 bytes instead of 3 */
    FD_IS_SEALED = 2,
    FD_IS_SOCKET = 4,

    /* to a client */
    PACKET_HAS_FD = 1,
    PACKET_IS_EVENT = 2 /* sent as an event, before the reply, which is the next message */
};

#endif
