/* SPDX-License-Identifier: Apache-2.0 */
#include "base/hash.h"
#include <sys/random.h>

/* Odd numbers without pattern: the fractional digits of pi. */
static const uint64_t k0 = 0x243f6a8885a308d3, k1 = 0x13198a2e03707345;

uint64_t hash_seed = 0xa4093822299f31d1;

__attribute__((constructor)) static void seed_draw(void)
{
    uint64_t seed;
    if (getrandom(&seed, sizeof seed, GRND_NONBLOCK) == (ssize_t)sizeof seed)
        hash_seed = seed;
}

static uint64_t load64(const char *p)
{
    uint64_t word;
    memcpy(&word, p, sizeof word);
    return word;
}

uint64_t hash_bytes(struct str s)
{
    const char *p = s.p;
    size_t n = s.n;
    uint64_t h = hash_seed ^ k1 ^ n;
    while (n > 16) {
        h = hash_mix(load64(p) ^ h, load64(p + 8) ^ hash_seed);
        p += 16;
        n -= 16;
    }
    uint64_t a = 0, b = 0; /* the last 0 to 16 bytes, two words that may overlap */
    if (n >= 8) {
        a = load64(p);
        b = load64(p + n - 8);
    } else if (n) {
        memcpy(&a, p, n);
    }
    h = hash_mix(a ^ h, b ^ hash_seed);
    return hash_mix(h ^ k0, k1);
}
