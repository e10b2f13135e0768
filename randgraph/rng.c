/* The source of random choices: xoshiro256++ seeded by splitmix64, or a fuzzer's bytes. */
#include "randgraph/randgraph_internal.h"

static uint32_t drawer_below(struct drawer *d, uint32_t n)
{
    return n ? rng_below((struct rng *) d, n) : 0; /* the drawer is the first member */
}

uint32_t rng_large_size(struct rng *r, uint32_t above, uint32_t most)
{
    static const uint8_t tiles[] = { 15, 16, 17, 31, 32, 33, 48, 63, 64 };
    uint32_t size = rng_below(r, 2) ? tiles[rng_below(r, COUNT(tiles))]
                                    : above + 1 + rng_below(r, most - above);

    return size < most ? size : most;
}

static uint32_t drawer_size(struct drawer *d, uint32_t n)
{
    struct rng *r = (struct rng *) d;

    if (r->most > n && rng_percent(r, r->large))
        return rng_large_size(r, n, r->most);
    return 1 + drawer_below(d, n);
}

void rng_seed(struct rng *r, uint64_t seed, uint64_t index)
{
    struct stream s = { seed };

    s.state = stream_next(&s) ^ index;
    *r = (struct rng){ .drawer = { drawer_below, drawer_size } };
    for (int i = 0; i < 4; i++)
        r->state[i] = stream_next(&s);
}

void rng_bytes(struct rng *r, const uint8_t *bytes, size_t length)
{
    static const uint8_t none[1];

    *r = (struct rng){ .drawer = { drawer_below, drawer_size } };
    r->bytes = bytes ? bytes : none;
    r->end = r->bytes + (bytes ? length : 0);
}

static uint64_t rotate(uint64_t x, int k)
{
    return x << k | x >> (64 - k);
}

/* The next n bytes, the lowest first; 0 after the end. */
static uint64_t take_bytes(struct rng *r, int n)
{
    uint64_t x = 0;

    for (int i = 0; i < n && r->bytes < r->end; i++)
        x |= (uint64_t) *r->bytes++ << 8 * i;
    return x;
}

static inline uint64_t next_of_state(uint64_t *s)
{
    uint64_t result = rotate(s[0] + s[3], 23) + s[0], t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate(s[3], 45);
    return result;
}

uint64_t rng_next(struct rng *r)
{
    return r->bytes ? take_bytes(r, 8) : next_of_state(r->state);
}

uint32_t rng_below(struct rng *r, uint32_t n)
{
    if (r->bytes) /* as few bytes per choice as possible: a mutation stays local */
        return (uint32_t) (take_bytes(r, n <= 1 ? 0 : n <= 256 ? 1 : n <= 65536 ? 2 : 4) % n);
    uint64_t m = (next_of_state(r->state) >> 32) * n;
    if ((uint32_t) m < n)
        for (uint32_t least = -n % n; (uint32_t) m < least;)
            m = (next_of_state(r->state) >> 32) * n;
    return (uint32_t) (m >> 32);
}

double rng_unit(struct rng *r)
{
    return r->bytes ? (double) take_bytes(r, 2) * 0x1p-16 : (double) (rng_next(r) >> 11) * 0x1p-53;
}

bool rng_percent(struct rng *r, uint32_t percent)
{
    return percent && rng_below(r, 100) < percent;
}

static struct rng rng_aside(const struct rng *r, uint64_t salt)
{
    struct rng aside = *r;
    struct stream salted = { salt };

    aside.state[0] ^= stream_next(&salted);
    rng_next(&aside);
    return aside;
}

bool rng_percent_aside(const struct rng *r, uint64_t salt, uint32_t percent)
{
    struct rng aside = rng_aside(r, salt);

    return rng_percent(&aside, percent);
}

uint32_t rng_below_aside(const struct rng *r, uint64_t salt, uint32_t n)
{
    struct rng aside = rng_aside(r, salt);

    return rng_below(&aside, n);
}

uint32_t draw_weighted(struct rng *r, const uint32_t *weight, uint32_t n)
{
    uint32_t sum = 0, i = 0;

    for (uint32_t k = 0; k < n; k++)
        sum += weight[k];
    if (sum == 0)
        return 0;
    for (uint32_t k = rng_below(r, sum); k >= weight[i]; i++)
        k -= weight[i];
    return i;
}

void rng_stream(struct rng *r, struct stream *ret_stream)
{
    ret_stream->state = rng_next(r);
}
