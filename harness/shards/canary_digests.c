#include "harness/shards/canaries.h"

/* The same on every machine.  A change of the generator or of the reference changes them:
 * tests/harness/shards/test_canaries.c prints the new ones. */
const uint64_t canary_digests[CANARIES] = {
    0x910aac7edc831d07u, 0xdb7464ec9ef96391u, 0x8d0a6f7b7b21382fu, 0x1b62db57fde54d34u,
    0x4c57ff4b360a8904u, 0x2b4ea70fe3cc41d1u, 0x1f5b378b8287c585u, 0x94c842475775d688u,
    0x86872ac5326957c8u, 0x72ab21592ba34d12u, 0x27d650454604e7d0u, 0x09e54fbb68d476cbu,
    0xa61d7c4837673a7cu, 0x6025047a067d5148u, 0x62f90200d9f7d676u, 0x6f8dfcfbd9177abeu,
    0xf1f18f896df20ca6u, 0x3ebd5950663b6a69u, 0x7ecd07bdf59d99c9u, 0x63fee251786a834eu,
};
