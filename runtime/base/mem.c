/* The allocation seam, arenas, growable arrays and text.
 *
 * An arena is a list of chunks; `head` is the one that blocks are cut from, larger requests get a chunk of
 * their own behind it. Chunk memory is zeroed when it is made and never handed out twice, so blocks are
 * zeroed for free. Under AddressSanitizer everything but the bytes asked for is poisoned.
 */
#include "runtime/base/mem.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include "runtime/base/checked.h"

#if defined(__SANITIZE_ADDRESS__)
#define MEM_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define MEM_ASAN 1
#endif
#endif
#ifdef MEM_ASAN
#include <sanitizer/asan_interface.h>
#define mem_hide(p, n) ASAN_POISON_MEMORY_REGION((p), (n))
#define mem_show(p, n) ASAN_UNPOISON_MEMORY_REGION((p), (n))
#else
#define mem_hide(p, n) ((void)(p), (void)(n))
#define mem_show(p, n) ((void)(p), (void)(n))
#endif

/* New blocks come from calloc: large ones are then zero pages that cost nothing until used. */
static void *system_resize(void *ctx, void *old, size_t old_bytes, size_t new_bytes)
{
    (void)ctx;
    (void)old_bytes;
    if (new_bytes == 0) {
        free(old);
        return NULL;
    }
    return old ? realloc(old, new_bytes) : calloc(1, new_bytes);
}

struct mem_seam mem_seam = {system_resize, NULL, NULL};

static void *exhausted(size_t bytes)
{
    if (mem_seam.exhausted) {
        mem_seam.exhausted(mem_seam.ctx, bytes);
    }
    fprintf(stderr, "gml: out of memory (%zu bytes)\n", bytes);
    abort();
}

void *mem_resize(void *old, size_t old_bytes, size_t new_bytes)
{
    size_t want = new_bytes ? new_bytes : 1;
    void *p = mem_seam.resize(mem_seam.ctx, old, old_bytes, want);
    if (!p) {
        return exhausted(want);
    }
    bool already_zero = !old && mem_seam.resize == system_resize;
    if (want > old_bytes && !already_zero) {
        memset((char *)p + old_bytes, 0, want - old_bytes);
    }
    return p;
}

void *mem_alloc(size_t bytes)
{
    return mem_resize(NULL, 0, bytes);
}

void mem_free(void *p, size_t bytes)
{
    if (p) {
        mem_seam.resize(mem_seam.ctx, p, bytes ? bytes : 1, 0);
    }
}

size_t mem_size(size_t n, size_t size)
{
    size_t total;
    if (__builtin_mul_overflow(n, size, &total)) {
        exhausted(SIZE_MAX);
    }
    return total;
}

/* -- arenas */

enum { ALIGN = 16, CHUNK_FIRST = 16 << 10, CHUNK_LAST = 1 << 20 };

struct chunk {
    struct chunk *next;
    size_t used, bytes; /* of data */
    _Alignas(ALIGN) char data[];
};
struct arena {
    struct chunk *head;
    size_t next_bytes;
};

static size_t rounded(size_t bytes)
{
    if (bytes > SIZE_MAX - 2 * ALIGN - sizeof(struct chunk)) {
        exhausted(bytes);
    }
    return bytes ? (bytes + ALIGN - 1) & ~(size_t)(ALIGN - 1) : ALIGN;
}

static struct chunk *chunk_new(size_t bytes)
{
    struct chunk *c = mem_alloc(sizeof *c + bytes);
    c->bytes = bytes;
    mem_hide(c->data, bytes);
    return c;
}

struct arena *arena_new(void)
{
    struct arena *a = mem_alloc(sizeof *a);
    a->next_bytes = CHUNK_FIRST;
    return a;
}

void arena_free(struct arena *a)
{
    if (!a) {
        return;
    }
    for (struct chunk *c = a->head, *next; c; c = next) {
        next = c->next;
        mem_show(c->data, c->bytes);
        mem_free(c, sizeof *c + c->bytes);
    }
    mem_free(a, sizeof *a);
}

static void *chunk_cut(struct chunk *c, size_t need, size_t bytes)
{
    void *p = c->data + c->used;
    c->used += need;
    mem_show(p, bytes);
    return p;
}

void *arena_alloc(struct arena *a, size_t bytes)
{
    size_t need = rounded(bytes);
    if (a->head && a->head->bytes - a->head->used >= need) {
        return chunk_cut(a->head, need, bytes);
    }
    if (a->head && need > a->next_bytes / 4) { /* keep cutting from the head, it has room for small blocks */
        struct chunk *c = chunk_new(need);
        c->next = a->head->next;
        a->head->next = c;
        return chunk_cut(c, need, bytes);
    }
    struct chunk *c = chunk_new(need > a->next_bytes ? need : a->next_bytes);
    c->next = a->head;
    a->head = c;
    if (a->next_bytes < CHUNK_LAST) {
        a->next_bytes *= 2;
    }
    return chunk_cut(c, need, bytes);
}

void *arena_resize(struct arena *a, void *old, size_t old_bytes, size_t new_bytes)
{
    if (!old) {
        return arena_alloc(a, new_bytes);
    }
    if (new_bytes <= old_bytes) {
        return old;
    }
    size_t had = rounded(old_bytes), need = rounded(new_bytes);
    struct chunk *c = a->head;
    bool is_last = c && (char *)old + had == c->data + c->used;
    if (is_last && need - had <= c->bytes - c->used) {
        c->used += need - had;
        mem_show(old, new_bytes);
        return old;
    }
    void *p = arena_alloc(a, new_bytes);
    memcpy(p, old, old_bytes);
    return p;
}

char *arena_strndup(struct arena *a, const char *s, size_t n)
{
    char *p = arena_alloc(a, n + 1);
    if (n) {
        memcpy(p, s, n);
    }
    return p;
}

__attribute__((format(printf, 2, 0), nonnull)) static char *arena_vprintf(struct arena *a, const char *fmt,
                                                                          va_list args, size_t *n)
{
    va_list again;
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, fmt, args);
    *n = length > 0 ? (size_t)length : 0;
    char *p = arena_alloc(a, *n + 1);
    if (length > 0) {
        vsnprintf(p, *n + 1, fmt, again);
    }
    va_end(again);
    return p;
}

char *arena_printf(struct arena *a, const char *fmt, ...)
{
    va_list args;
    size_t n;
    va_start(args, fmt);
    char *p = arena_vprintf(a, fmt, args, &n);
    va_end(args);
    return p;
}

/* -- growable arrays and text */

void *vec_grow(struct arena *a, void *at, uint32_t *cap, size_t size)
{
    if (*cap > UINT32_MAX / 2) {
        exhausted(SIZE_MAX);
    }
    uint32_t next = *cap ? *cap * 2 : 8;
    void *p = arena_resize(a, at, mem_size(*cap, size), mem_size(next, size));
    *cap = next;
    return p;
}

void text_append(struct text *t, const char *s, size_t n)
{
    if (n > SIZE_MAX / 4 - t->n) {
        exhausted(SIZE_MAX);
    }
    size_t need = t->n + n + 1;
    if (need > t->cap) {
        size_t cap = t->cap ? t->cap : 64;
        while (cap < need) {
            cap *= 2;
        }
        t->at = arena_resize(t->arena, t->at, t->cap, cap);
        t->cap = cap;
    }
    if (n) {
        memcpy(t->at + t->n, s, n);
    }
    t->n += n;
    t->at[t->n] = 0;
}

void text_printf(struct text *t, const char *fmt, ...)
{
    char small[256];
    va_list args;
    va_start(args, fmt);
    int length = vsnprintf(small, sizeof small, fmt, args);
    va_end(args);
    if (length < (int)sizeof small) {
        text_append(t, small, length > 0 ? (size_t)length : 0);
        return;
    }
    size_t n;
    va_start(args, fmt);
    char *s = arena_vprintf(t->arena, fmt, args, &n);
    va_end(args);
    text_append(t, s, n);
}

const char *sizes_text(struct arena *a, const char *type, int rank, const int64_t *size)
{
    struct text t = {.arena = a};
    text_printf(&t, "%s[", type);
    for (int i = 0; i < rank; i++) {
        text_printf(&t, "%s%lld", i ? ", " : "", (long long)size[i]);
    }
    text_append(&t, "]", 1);
    return t.at;
}
