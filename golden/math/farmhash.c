#include "golden/math/farmhash.h"

/* Odd 64-bit primes from FarmHash's definition. */
static const uint64_t k0 = 0xc3a5c85c97cb3127, k1 = 0xb492b66fbe98f273, k2 = 0x9ae16a3b2f90404f;

static uint64_t load(const unsigned char *p, int bytes)
{
    uint64_t x = 0;

    for (int i = 0; i < bytes; i++)
        x |= (uint64_t) p[i] << (8 * i);
    return x;
}

static uint64_t load64(const unsigned char *p)
{
    return load(p, 8);
}

static uint64_t rotate(uint64_t x, int right)
{
    return x >> right | x << (64 - right);
}

static uint64_t mix(uint64_t x)
{
    return x ^ x >> 47;
}

static uint64_t fold(uint64_t low, uint64_t high, uint64_t by)
{
    uint64_t a = mix((low ^ high) * by);

    return mix((high ^ a) * by) * by;
}

static uint64_t up_to_16(const unsigned char *p, size_t n)
{
    uint64_t by = k2 + n * 2;

    if (n >= 8) {
        uint64_t a = load64(p) + k2, b = load64(p + n - 8);
        return fold(rotate(b, 37) * by + a, (rotate(a, 25) + b) * by, by);
    }
    if (n >= 4)
        return fold(n + (load(p, 4) << 3), load(p + n - 4, 4), by);
    if (n > 0) {
        uint64_t first = p[0] + ((uint64_t) p[n >> 1] << 8), last = n + ((uint64_t) p[n - 1] << 2);
        return mix((first * k2) ^ (last * k0)) * k2;
    }
    return k2;
}

static uint64_t up_to_32(const unsigned char *p, size_t n)
{
    uint64_t by = k2 + n * 2, a = load64(p) * k1, b = load64(p + 8);
    uint64_t c = load64(p + n - 8) * by, d = load64(p + n - 16) * k2;

    return fold(rotate(a + b, 43) + rotate(c, 30) + d, a + rotate(b + k2, 18) + c, by);
}

static uint64_t up_to_64(const unsigned char *p, size_t n)
{
    uint64_t by = k2 + n * 2, a = load64(p) * k2, b = load64(p + 8);
    uint64_t c = load64(p + n - 8) * by, d = load64(p + n - 16) * k2;
    uint64_t y = rotate(a + b, 43) + rotate(c, 30) + d;
    uint64_t z = fold(y, a + rotate(b + k2, 18) + c, by);
    uint64_t e = load64(p + 16) * by, f = load64(p + 24);
    uint64_t g = (y + load64(p + n - 32)) * by, h = (z + load64(p + n - 24)) * by;

    return fold(rotate(e + f, 43) + rotate(g, 30) + h, e + rotate(f + a, 18) + g, by);
}

struct pair {
    uint64_t a, b;
};

/* Mixes 32 bytes into the pair (a, b). */
static struct pair absorb(const unsigned char *p, uint64_t a, uint64_t b)
{
    a += load64(p);
    b = rotate(b + a + load64(p + 24), 21);
    uint64_t sum = a + load64(p + 8) + load64(p + 16);
    return (struct pair){ sum + load64(p + 24), b + rotate(sum, 44) + a };
}

/* The state between blocks of 64 bytes. */
struct state {
    uint64_t x, y, z;
    struct pair v, w;
};

static void take_block(struct state *s, const unsigned char *p, uint64_t by, uint64_t times)
{
    uint64_t x = rotate(s->x + s->y + s->v.a + load64(p + 8), 37) * by;
    uint64_t y = rotate(s->y + s->v.b + load64(p + 48), 42) * by;
    uint64_t z = rotate(s->z + s->w.a, 33) * by;

    x ^= s->w.b * times;
    y += s->v.a * times + load64(p + 40);
    s->v = absorb(p, s->v.b * by, x + s->w.a);
    s->w = absorb(p + 32, z + s->w.b, y + load64(p + 16));
    s->x = z;
    s->y = y;
    s->z = x;
}

static uint64_t longer(const unsigned char *p, size_t n)
{
    struct state s = { .x = 81, .y = 81 * k1 + 113 };
    const unsigned char *last = p + n - 64;

    s.z = mix(s.y * k2 + 113) * k2;
    s.x = s.x * k2 + load64(p);
    for (; p < last; p += 64)
        take_block(&s, p, k1, 1);
    uint64_t by = k1 + ((s.z & 0xff) << 1);
    s.w.a += (n - 1) & 63;
    s.v.a += s.w.a;
    s.w.a += s.v.a;
    take_block(&s, last, by, 9);
    return fold(fold(s.v.a, s.w.a, by) + mix(s.y) * k0 + s.z, fold(s.v.b, s.w.b, by) + s.x, by);
}

uint64_t farmhash64(const void *bytes, size_t n)
{
    if (n <= 16)
        return up_to_16(bytes, n);
    if (n <= 32)
        return up_to_32(bytes, n);
    return n <= 64 ? up_to_64(bytes, n) : longer(bytes, n);
}
