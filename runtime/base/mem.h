/* Memory: the allocation seam, arenas, growable arrays, interned strings.
 *
 * Ownership: everything a compile, a plan or a run needs lives in an arena and goes with it; nothing in an
 * arena is freed singly. All memory comes through `mem_seam`, so that tests can count and fail it.
 * When memory runs out the seam's `exhausted` hook is called and must not return; only mains install one that
 * ends the process (exit 4, nothing half-written: files are renamed into place). Without a hook: abort.
 */
#ifndef GML_BASE_MEM_H
#define GML_BASE_MEM_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct mem_seam {
    void *(*resize)(void *ctx, void *old, size_t old_bytes, size_t new_bytes); /* new_bytes 0 frees */
    void (*exhausted)(void *ctx, size_t bytes);                                /* must not return */
    void *ctx;
};
extern struct mem_seam mem_seam;

/* Heap memory that outlives no arena (arenas themselves, device mirrors). Zeroed. Never NULL. */
void *mem_alloc(size_t bytes);
void *mem_resize(void *old, size_t old_bytes, size_t new_bytes);
void mem_free(void *p, size_t bytes);

struct arena;
struct arena *arena_new(void);
void arena_free(struct arena *a); /* NULL is fine */
/* Zeroed, 16-byte aligned, never NULL. */
void *arena_alloc(struct arena *a, size_t bytes);
/* Grows an arena block in place when it is the last one, else copies. */
void *arena_resize(struct arena *a, void *old, size_t old_bytes, size_t new_bytes);
char *arena_strndup(struct arena *a, const char *s, size_t n);
char *arena_printf(struct arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
#define arena_new_of(a, T)   ((T *)arena_alloc((a), sizeof(T)))
#define arena_array(a, T, n) ((T *)arena_alloc((a), mem_size((n), sizeof(T))))

/* n * size, or the exhausted hook on overflow. */
size_t mem_size(size_t n, size_t size);

/* Growable array in an arena: `VEC(int) v = {0}; vec_push(arena, &v, 3);  v.at[0]; v.n` */
#define VEC(T)                                                                                               \
    struct {                                                                                                 \
        T *at;                                                                                               \
        uint32_t n, cap;                                                                                     \
    }
#define vec_push(a, v, x)                                                                                    \
    do {                                                                                                     \
        __auto_type vec_push_x = (x); /* first: x may use v */                                               \
        if ((v)->n == (v)->cap) {                                                                            \
            (v)->at = vec_grow((a), (v)->at, &(v)->cap, sizeof *(v)->at);                                    \
        }                                                                                                    \
        (v)->at[(v)->n++] = vec_push_x;                                                                      \
    } while (0)
void *vec_grow(struct arena *a, void *at, uint32_t *cap, size_t size);

/* Interned strings: equal text, equal pointer. The table lives in its arena. */
struct interner;
struct interner *interner_new(struct arena *a);
const char *intern_n(struct interner *t, const char *s, size_t n);
const char *intern(struct interner *t, const char *s);

/* Growable text in an arena; always NUL-terminated. */
struct text {
    struct arena *arena;
    char *at;
    size_t n, cap;
};
void text_append(struct text *t, const char *s, size_t n);
void text_printf(struct text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* "f32[2, 3]" of a type's name, which may be empty. */
const char *sizes_text(struct arena *a, const char *type, int rank, const int64_t *size);

#endif
