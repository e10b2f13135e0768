/* A table of canaries of which the last one is wrong, for a command that is linked with it: as if
 * the machine computed this case wrongly. */
#include "harness/shards/canaries.h"

const uint64_t canary_digests[CANARIES] = {
    0x8ef503785b3eadb1u, 0xea394cb8ef496000u, 0xee119a1e437759d7u, 0x093bd68a7cb2774cu,
    0xc6ef89b21d1d8cb4u, 0x8b094a767f583f78u, 0xbf7562b794a1e4ceu, 0x85f9bba030c395deu,
    0x3603d9df44bb9920u, 0xa82a47216e98acbcu, 0x5fb280637406b560u, 0x2248b90c96150b1du,
    0xe935d1ebfcda44a2u, 0x5cf8e21cba605157u, 0x589dfd981071d3bcu, 0x82da18f337e4dfa0u,
    0x98b7b982d6a21d6cu, 0x52bd7de80452bd53u, 0x570eb242ed80385cu, 0xde25b5d2feb23e42u,
};
