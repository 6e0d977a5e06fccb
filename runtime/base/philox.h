/* Counter-based randomness: Philox4x32-10, keys, uniform and normal draws, and the shuffle permutation.
 *
 * A draw is a pure function of (key, element, scan iteration, step): counter = (element / 4, iteration, step
 * lo, step hi), lane = element % 4; key = control.key ^ op id. Valid C11 and CUDA C++, the same bits
 * everywhere.
 */
#ifndef GML_BASE_PHILOX_H
#define GML_BASE_PHILOX_H
#include <stddef.h>
#include "runtime/base/portable_math.h"

struct philox {
    uint32_t x[4];
};

/* Ten rounds over the counter c0..c3 with the key k0, k1 (Salmon et al. 2011, as in Random123). */
GML_HD struct philox philox4x32_10(uint32_t c0, uint32_t c1, uint32_t c2, uint32_t c3, uint32_t k0,
                                   uint32_t k1)
{
    for (int i = 0; i < 10; i++) {
        uint64_t p0 = (uint64_t)0xD2511F53u * c0, p1 = (uint64_t)0xCD9E8D57u * c2;
        uint32_t n0 = (uint32_t)(p1 >> 32) ^ c1 ^ k0, n2 = (uint32_t)(p0 >> 32) ^ c3 ^ k1;
        c0 = n0;
        c1 = (uint32_t)p1;
        c2 = n2;
        c3 = (uint32_t)p0;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    struct philox r = {{c0, c1, c2, c3}};
    return r;
}

/* splitmix64's finaliser: a bijection of 64 bits. */
GML_HD uint64_t mix64(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
    return x ^ (x >> 31);
}

/* 64-bit FNV-1a of n bytes: op ids. */
GML_HD uint64_t fnv1a64(const void *bytes, size_t n)
{
    const unsigned char *s = (const unsigned char *)bytes;
    uint64_t h = 0xCBF29CE484222325ull;
    for (size_t i = 0; i < n; i++) {
        h = (h ^ s[i]) * 0x100000001B3ull;
    }
    return h;
}

/* All four lanes of elements 4*block .. 4*block + 3. */
GML_HD struct philox draw_block(uint64_t key, uint32_t block, uint32_t iteration, uint64_t step)
{
    return philox4x32_10(block, iteration, (uint32_t)step, (uint32_t)(step >> 32), (uint32_t)key,
                         (uint32_t)(key >> 32));
}

/* 32 random bits of one element. */
GML_HD uint32_t draw_bits(uint64_t key, uint64_t element, uint32_t iteration, uint64_t step)
{
    return draw_block(key, (uint32_t)(element / 4), iteration, step).x[element % 4];
}

/* Uniform in [0, 1): the top 24 bits, exact in f32. */
GML_HD float uniform_u24(uint32_t bits)
{
    return (float)(bits >> 8) * (1.0f / 16777216.0f);
}

/* Standard normal from the top 24 bits by the inverse distribution function; |x| <= 5.42. */
GML_HD float normal_u24(uint32_t bits)
{
    return (float)portable_normal_quantile(((double)(bits >> 8) + 0.5) * (1.0 / 16777216.0));
}

/* A keyed permutation of 0 .. n-1: a balanced Feistel network over the smallest even number of bits that
 * holds n, walked until the value is below n (fewer than 4 rounds of the network on average). A network makes
 * even permutations only, and few rounds leave traces where halves are small: up to 256 places it runs
 * longer, and half of the keys exchange the first two. */
struct permutation {
    uint64_t key;
    uint32_t n, half, rounds;
};
GML_HD struct permutation permutation_make(uint32_t n, uint64_t key, uint64_t epoch)
{
    struct permutation p = {mix64(key ^ mix64(epoch + 0x9E3779B97F4A7C15ull)), n, 1, 8};
    while (p.half < 16 && (1ull << (2 * p.half)) < n) {
        p.half++;
    }
    p.rounds = p.half <= 4 ? 16 : 8;
    return p;
}
/* What a round adds to the left half. */
GML_HD uint32_t permutation_round(const struct permutation *p, uint32_t round, uint32_t right)
{
    return (uint32_t)(mix64(p->key + round * 0x9E3779B97F4A7C15ull + right) >> 40) & ((1u << p->half) - 1);
}
/* The last step behind the walk. */
GML_HD uint32_t permutation_end(const struct permutation *p, uint32_t i)
{
    return p->half <= 4 && i < 2 ? i ^ (uint32_t)(mix64(~p->key) & 1) : i;
}
/* Place i of it, which must be < n. */
GML_HD uint32_t permute_index(uint32_t i, uint32_t n, uint64_t key, uint64_t epoch)
{
    if (n < 2) {
        return 0;
    }
    struct permutation p = permutation_make(n, key, epoch);
    do {
        uint32_t left = i >> p.half, right = i & ((1u << p.half) - 1);
        for (uint32_t round = 0; round < p.rounds; round++) {
            uint32_t next = left ^ permutation_round(&p, round, right);
            left = right;
            right = next;
        }
        i = left << p.half | right;
    } while (i >= n);
    return permutation_end(&p, i);
}

#endif
