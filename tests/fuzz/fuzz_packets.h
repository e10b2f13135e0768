/* What stands before each packet in the bytes of fuzz_service and fuzz_remote: its length (two
 * bytes) and a byte of flags. */
#ifndef TESTS_FUZZ_PACKETS_H
#define TESTS_FUZZ_PACKETS_H

enum {
    /* both: the packet's header lies */
    PACKET_CLAIMS_MORE_BYTES = 64,
    PACKET_CLAIMS_MORE_FDS = 128,

    /* to a service: 1 + number of descriptors, and what they are */
    PACKET_FDS = 3,
    PACKET_NO_FD = 1,
    PACKET_ONE_FD = 2,
    PACKET_FD_KINDS = 4, /* the kind times this: */
    FD_IS_LONG = 1,      /* 8192 bytes, not 3 */
    FD_IS_SEALED = 2,
    FD_IS_SOCKET = 4,

    /* to a client */
    PACKET_HAS_FD = 1,
    PACKET_IS_EVENT = 2 /* the next packet comes at once */
};

#endif
