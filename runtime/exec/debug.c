/* --debug-plan on the CPU: makes mistakes of the planner or of a kernel visible.
 *
 * Before a launch everything planned is filled with NaN bytes, so a value that is read before it is written
 * shows; after each op the values that died with it are filled again, so a value read too late shows; bytes
 * between values (with no_reuse the planner leaves at least PLAN_RED_ZONE) hold a pattern that must survive.
 * Under AddressSanitizer those bytes are poisoned while ops run, so the access itself is reported with its
 * stack.
 */
#include "runtime/exec/host.h"
#include <stdlib.h>

#if defined(__SANITIZE_ADDRESS__)
#define DEBUG_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define DEBUG_ASAN 1
#endif
#endif
#ifdef DEBUG_ASAN
#include <sanitizer/asan_interface.h>
#define zone_hide(p, n) ASAN_POISON_MEMORY_REGION((p), (n))
#define zone_show(p, n) ASAN_UNPOISON_MEMORY_REGION((p), (n))
enum { CHECK_EACH_OP = 0 };
#else
#define zone_hide(p, n) ((void)(p), (void)(n))
#define zone_show(p, n) ((void)(p), (void)(n))
enum { CHECK_EACH_OP = 1 };
#endif

enum { POISON = 0xff, ZONE = 0xa5 }; /* NaN in f32 and f64, -1 in i32 */

static int by_offset(const void *a, const void *b)
{
    uint64_t x = (*(const struct plan_buffer *const *)a)->offset,
             y = (*(const struct plan_buffer *const *)b)->offset;
    return (x > y) - (x < y);
}

static void gaps_of(const struct plan *p, const struct plan_variant *v, struct arena *a,
                    struct debug_variant *d)
{
    const struct plan_buffer **list = arena_array(a, const struct plan_buffer *, v->n_buffer + 1u);
    for (uint32_t i = 0; i < v->n_buffer; i++) {
        list[i] = &p->buffer[v->buffer0 + i];
    }
    qsort(list, v->n_buffer, sizeof(struct plan_buffer *), by_offset);
    d->gap = arena_alloc(a, (v->n_buffer + 1u) * sizeof *d->gap);
    uint64_t at = p->planned_offset, end = p->planned_offset + v->planned;
    for (uint32_t i = 0; i <= v->n_buffer; i++) {
        uint64_t next = i < v->n_buffer ? list[i]->offset : end;
        if (next > end || next < p->planned_offset) {
            continue; /* outside of the planned region: gradient blocks, workspace */
        }
        if (next > at) {
            d->gap[d->n_gap][0] = at;
            d->gap[d->n_gap++][1] = next;
        }
        uint64_t behind = i < v->n_buffer ? next + list[i]->bytes : end;
        at = behind > at ? behind : at;
    }
}

struct debug_variant *debug_make(const struct plan *p, struct arena *a)
{
    struct debug_variant *d = arena_array(a, struct debug_variant, p->n_variant);
    for (uint32_t i = 0; i < p->n_variant; i++) {
        gaps_of(p, &p->variant[i], a, &d[i]);
    }
    return d;
}

void debug_begin(const struct plan *p, const struct debug_variant *d, uint32_t variant, char *arena)
{
    const struct plan_variant *v = &p->variant[variant];
    d += variant;
    for (uint32_t i = 0; i < v->n_buffer; i++) {
        const struct plan_buffer *b = &p->buffer[v->buffer0 + i];
        bool planned =
            b->offset >= p->planned_offset && b->offset + b->bytes <= p->planned_offset + v->planned;
        if (planned && p->graph->phases.at[v->phase].kind != PHASE_DATA) {
            memset(arena + b->offset, POISON, b->bytes);
        }
    }
    for (uint32_t i = 0; i < d->n_gap; i++) {
        memset(arena + d->gap[i][0], ZONE, d->gap[i][1] - d->gap[i][0]);
        zone_hide(arena + d->gap[i][0], d->gap[i][1] - d->gap[i][0]);
    }
}

/* Offset of the first byte of a red zone that changed, 0 if none. */
static uint64_t zone_damage(const struct debug_variant *d, const char *arena)
{
    for (uint32_t i = 0; i < d->n_gap; i++) {
        for (uint64_t at = d->gap[i][0]; at < d->gap[i][1]; at++) {
            if ((unsigned char)arena[at] != ZONE) {
                return at;
            }
        }
    }
    return 0;
}

/* The value that ends last before the damage. */
static const struct plan_buffer *owner_of(const struct plan *p, const struct plan_variant *v, uint64_t at)
{
    const struct plan_buffer *best = NULL;
    for (uint32_t i = 0; i < v->n_buffer; i++) {
        const struct plan_buffer *b = &p->buffer[v->buffer0 + i];
        if (b->offset + b->bytes <= at && (!best || b->offset > best->offset)) {
            best = b;
        }
    }
    return best;
}

static enum status report(const struct plan *p, const struct plan_variant *v, uint32_t op, uint64_t at,
                          char *why, size_t n)
{
    char place[160], value[160] = "the start of the planned region";
    const struct plan_op *o = op < v->n_op ? &v->op[op] : NULL;
    const struct plan_buffer *b = owner_of(p, v, at);
    host_place(p->graph, o ? o->node : 0, place, sizeof place);
    if (b) {
        char from[128];
        host_place(p->graph, b->node, from, sizeof from);
        snprintf(value, sizeof value, "the value of %s (node %u)", from, b->node);
    }
    snprintf(why, n,
             "--debug-plan: %s of phase `%s` (launch %u, %s) wrote outside of its values: byte %llu of the "
             "arena, behind %s",
             o ? op_table[o->op].name : "an op", p->graph->phases.at[v->phase].name, op, place,
             (unsigned long long)at, value);
    return ST_INTERNAL;
}

enum status debug_after(const struct plan *p, const struct debug_variant *d, uint32_t variant, uint32_t i,
                        uint32_t next, char *arena, char *why, size_t n)
{
    const struct plan_variant *v = &p->variant[variant];
    for (uint32_t j = v->die0 ? v->die0[i] : 0; v->die0 && j < v->die0[next]; j++) {
        const struct plan_buffer *b = &p->buffer[v->dying[j]];
        memset(arena + b->offset, POISON, b->bytes);
    }
    uint64_t at = CHECK_EACH_OP ? zone_damage(&d[variant], arena) : 0;
    return at ? report(p, v, i, at, why, n) : ST_OK;
}

enum status debug_end(const struct plan *p, const struct debug_variant *d, uint32_t variant, char *arena,
                      char *why, size_t n)
{
    d += variant;
    for (uint32_t i = 0; i < d->n_gap; i++) {
        zone_show(arena + d->gap[i][0], d->gap[i][1] - d->gap[i][0]);
    }
    uint64_t at = zone_damage(d, arena);
    return at ? report(p, &p->variant[variant], UINT32_MAX, at, why, n) : ST_OK;
}
