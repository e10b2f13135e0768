#include "harness/shards/canaries.h"

/* The same on every machine.  A change of the generator or of the reference changes them:
 * tests/harness/shards/test_canaries.c prints the new ones. */
const uint64_t canary_digests[CANARIES] = {
    0x4007c9e5c3c7ccdeu, 0x628b48572d160eb7u, 0xfa773bc9c39ef717u, 0xbe1a6803a4134265u,
    0x5880918a47156cf0u, 0x9349260e065dba1fu, 0xecbb069c95d3fe2eu, 0xb91f6346c3f9887fu,
    0xf0111e33da947b14u, 0xf64d4ea77646286cu, 0x44f651094dde03b4u, 0x18fd8ea47c4593f7u,
    0x174c486a9330dbe6u, 0x486943e770af2454u, 0x377aec05cbc809bbu, 0x850945073b2a396cu,
    0x52d5fec1d7d6687cu, 0xe9171ab2d962a3c3u, 0x32d18ee400ec2126u, 0x443dbbb2706b98cbu,
};
