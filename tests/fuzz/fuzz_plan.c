/* Campaigns of many shards: the JSON that their TOML becomes.  A plan is rejected with the file's
 * name and a reason, or has commands that can be written down, and is the same campaign as itself.
 */
#include <stdlib.h>
#include <string.h>

#include "harness/campaigns/sharded_plan.h"
#include "harness/check/buffer.h"
#include "tests/fuzz/common/fuzz_client.h"
#include "tests/fuzz/mutate/mutate.h"

static const char file[] = "/proc/self/exe"; /* exists: its folder is looked for */

static void use(const struct sharded_plan *p)
{
    struct buffer b = { 0 };
    struct why w;

    fuzz_must(p->n_shards > 0 && p->n_words > 0 && p->jobs > 0 && p->options);
    sharded_plan_put_command(p, p->n_shards, &b);
    fuzz_must(!b.failed && b.length);
    fuzz_must(sharded_plan_compare(p, p->identity, &w) == 0);
    buffer_done(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    struct sharded_plan p = { 0 };
    struct why w = { 0 };
    char *json = malloc(length + 1);

    fuzz_must(json);
    memcpy(json, bytes, length);
    json[length] = 0;
    if (sharded_plan_parse(json, file, &p, &w) == 0) {
        use(&p);
        sharded_plan_done(&p);
    } else {
        fuzz_must(strstr(w.text, file) && !p.arena);
    }
    free(json);
    return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t length, size_t max, unsigned seed)
{
    return mutate_json(bytes, length, max, seed);
}
