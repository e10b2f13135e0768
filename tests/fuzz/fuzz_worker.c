/* The parent of workers, one of which a driver has taken over: the bytes are its messages and
 * deaths.  Each message is accepted, or rejected with a reason; nothing of it reaches the console
 * or a verdict unchecked.
 *
 * Packets: kind and case (one byte), length (two bytes, the lower one first), bytes. */
#include <stdio.h>
#include <string.h>

#include "harness/run/campaign_internal.h"
#include "tests/fuzz/common/fuzz_client.h"

enum { CASES = 4, TARGETS = 2, KINDS = 4 };
enum packet_kind { OF_CASE, OF_END, COMPLETE, DEATH };

static void die(uint64_t item, const uint8_t *bytes, size_t n, struct campaign *c)
{
    struct worker_pool_death d = { .is_first = true };
    uint32_t step = 0;
    struct why w = { 0 };

    memcpy(&d.mark, bytes, n < sizeof d.mark ? n : sizeof d.mark);
    if (n > 4)
        d.step = bytes[4];
    if (n > 5)
        d.signal = bytes[5] & 31;
    d.hang = n > 6 && bytes[6] & 1;
    if (n > 7)
        memcpy(d.nonsense, bytes + 7, n - 7 < sizeof d.nonsense ? n - 7 : sizeof d.nonsense - 1);
    int again = campaign_take_death(item, &d, &step, c, &w);
    fuzz_must(again >= 0);
    if (!again)
        fuzz_must(campaign_take_complete(item, c, &w) == 0);
}

/* What rejects a message says why. */
static void check(int rc, const struct why *w)
{
    fuzz_must(rc >= 0 && (rc == 0 || (rc == 1 && w->text[0])));
}

static void take(struct campaign *c, uint8_t head, const uint8_t *bytes, size_t n)
{
    uint64_t item = head / KINDS % CASES;
    struct why w = { 0 };

    switch ((enum packet_kind)(head % KINDS)) {
    case OF_CASE: check(campaign_take_message(item, bytes, n, c, &w), &w); break;
    case OF_END: check(campaign_take_message(WORKER_POOL_NO_ITEM, bytes, n, c, &w), &w); break;
    case COMPLETE: check(campaign_take_complete(item, c, &w), &w); break;
    case DEATH: die(item, bytes, n, c);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    static const char *const target[TARGETS] = { "sim:cpu", "lib:x.so" };
    static struct options options = { .shard = 1, .n_shards = 1, .timeout = 10, .verbosity = 2 };
    static bool is_quiet;
    const struct cases cases = cases_random(&randgraph_default, 1, 0, CASES);
    struct campaign c = { .options = &options,
                          .cases = &cases,
                          .target = target,
                          .n_targets = TARGETS,
                          .details = length & 1,
                          .isolated = { false, true } };

    if (!is_quiet)
        fuzz_must(freopen("/dev/null", "w", stdout) != NULL);
    is_quiet = true;
    options.json = length & 2;
    c.console = console_start(&options, CASES);
    c.n_items = CASES;
    while (length >= 3) {
        size_t n = bytes[1] | (size_t) bytes[2] << 8;
        uint8_t head = bytes[0];
        bytes += 3;
        length -= 3;
        n = n < length ? n : length;
        take(&c, head, bytes, n);
        bytes += n;
        length -= n;
    }
    campaign_done(&c);
    return 0;
}
