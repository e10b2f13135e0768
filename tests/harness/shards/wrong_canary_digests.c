/* A table of canaries of which the last one is wrong, for a command that is linked with it: as if
 * the machine computed this case wrongly. */
#include "harness/shards/canaries.h"

const uint64_t canary_digests[CANARIES] = {
    0x8191edd881d9d94bu, 0x54b8f214bb748030u, 0x646a2b9b7a9f00edu, 0x42d7d9857849203au,
    0x18eb7468d86972bdu, 0x095b13cb60d369d7u, 0x1f5b378b8287c585u, 0x6182c48ebe7fe9efu,
    0xca4963c265beac67u, 0x1ac394db950763c4u, 0x08b7bb5774cffdf3u, 0x3daa1c343e905cafu,
    0xa61d7c4837673a7cu, 0x4f2f66ba838e7921u, 0x6fd264b8f4e1d4a9u, 0xdbafcda1438a081cu,
    0x5b463d6ac5fc0eb7u, 0x8da70a94291fd619u, 0x7ecd07bdf59d99c9u, 0xdd27245649f644eau,
};
