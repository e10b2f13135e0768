/* A table of canaries of which the last one is wrong, for a command that is linked with it: as if
 * the machine computed this case wrongly. */
#include "harness/shards/canaries.h"

const uint64_t canary_digests[CANARIES] = {
    0x8ef503785b3eadb1u, 0xea394cb8ef496000u, 0x91de61482697416eu, 0x8ca6cf74a1a18989u,
    0xc6ef89b21d1d8cb4u, 0x8b094a767f583f78u, 0xbf7562b794a1e4ceu, 0x4f93ea43613b7cabu,
    0x3603d9df44bb9920u, 0xa82a47216e98acbcu, 0x5fb280637406b560u, 0x43575b4a417d8eaau,
    0xe935d1ebfcda44a2u, 0xc9799c5b89ffc179u, 0x589dfd981071d3bcu, 0x82da18f337e4dfa0u,
    0x98b7b982d6a21d6cu, 0x53a3faad06c185c4u, 0xef5815058c6626bfu, 0xe5a41d5ccf1e18cdu,
};
