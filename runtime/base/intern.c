/* Interned strings: an open-addressed table of pointers, at most three quarters full. Old tables stay in the
 * arena. */
#include "runtime/base/mem.h"
#include "runtime/base/philox.h"

struct entry {
    const char *text; /* NULL = free */
    uint64_t hash;
    size_t n;
};
struct interner {
    struct arena *arena;
    struct entry *at;
    size_t n, cap; /* cap is a power of two */
};

struct interner *interner_new(struct arena *a)
{
    struct interner *t = arena_new_of(a, struct interner);
    t->arena = a;
    t->cap = 64;
    t->at = arena_array(a, struct entry, t->cap);
    return t;
}

static struct entry *entry_find(const struct interner *t, uint64_t hash, const char *s, size_t n)
{
    size_t i = (size_t)hash & (t->cap - 1);
    for (;; i = (i + 1) & (t->cap - 1)) {
        struct entry *e = &t->at[i];
        if (!e->text || (e->hash == hash && e->n == n && memcmp(e->text, s, n) == 0)) {
            return e;
        }
    }
}

static void interner_grow(struct interner *t)
{
    struct entry *old = t->at;
    size_t n = t->cap;
    t->cap *= 2;
    t->at = arena_array(t->arena, struct entry, t->cap);
    for (size_t i = 0; i < n; i++) {
        if (old[i].text) {
            *entry_find(t, old[i].hash, old[i].text, old[i].n) = old[i];
        }
    }
}

const char *intern_n(struct interner *t, const char *s, size_t n)
{
    uint64_t hash = mix64(fnv1a64(s, n)); /* FNV's low bits alone cluster */
    struct entry *e = entry_find(t, hash, s, n);
    if (e->text) {
        return e->text;
    }
    if (t->n + 1 > t->cap / 4 * 3) {
        interner_grow(t);
        e = entry_find(t, hash, s, n);
    }
    *e = (struct entry){arena_strndup(t->arena, s, n), hash, n};
    t->n++;
    return e->text;
}

const char *intern(struct interner *t, const char *s)
{
    return intern_n(t, s, strlen(s));
}
