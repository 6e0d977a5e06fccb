/* The null backend: accepts every plan, holds no arena but the control block, and only ticks. For planning
 * models that do not fit this machine, and for testing what surrounds a backend. Metrics read 0, ok and
 * asserts hold; downloads give zeros outside of the control block. */
#include "runtime/exec/host.h"
#include <stddef.h>
#include <stdio.h>

/* What the tick may touch, in place of the arena. */
struct null_arena {
    struct control control;
    double zero;
    char yes;
};
struct null_exec {
    const struct backend *backend;
    struct arena *mem;
    uint64_t bytes, control;
    struct null_arena *arena;
    uint32_t n_variant;
    struct tick_args *tick;
    struct ring *ring;
    struct exec_counts counts;
    char error[ERROR_TEXT];
};

static struct null_exec *self(struct exec *e)
{
    return (struct null_exec *)e;
}

static enum status null_open(const struct exec_options *o, struct exec **out, char *why, size_t n)
{
    (void)o;
    (void)why;
    (void)n;
    struct arena *mem = arena_new();
    struct null_exec *e = arena_new_of(mem, struct null_exec);
    e->backend = &backend_null;
    e->mem = mem;
    e->arena = arena_new_of(mem, struct null_arena);
    e->arena->yes = 1;
    e->ring = arena_new_of(mem, struct ring);
    *out = (struct exec *)e;
    return ST_OK;
}

static enum status null_device(struct exec *x, struct exec_device *out)
{
    (void)x;
    memset(out, 0, sizeof *out);
    snprintf(out->name, sizeof out->name, "null");
    snprintf(out->driver, sizeof out->driver, "computes nothing");
    out->target.name = "null";
    return ST_OK;
}

static enum status null_arena(struct exec *x, uint64_t bytes)
{
    self(x)->bytes = bytes;
    self(x)->counts.allocations++;
    return ST_OK;
}

static enum status null_prepare(struct exec *x, const struct plan *p)
{
    struct null_exec *e = self(x);
    e->tick = host_tick_args(p, e->mem, e->error, ERROR_TEXT);
    if (!e->tick) {
        return ST_MODEL;
    }
    e->control = p->control;
    e->n_variant = p->n_variant;
    for (uint32_t v = 0; v < p->n_variant; v++) {
        struct tick_args *t = &e->tick[v];
        t->control = offsetof(struct null_arena, control);
        t->ok = offsetof(struct null_arena, yes);
        for (int i = 0; i < RING_METRICS; i++) {
            t->value[i] = offsetof(struct null_arena, zero);
        }
        for (int i = 0; i < TICK_ASSERTS; i++) {
            t->assert_value[i] = offsetof(struct null_arena, yes);
        }
    }
    return ST_OK;
}

/* The common part of the bytes [offset, offset + bytes) and the control block: *at in the block, *from in the
 * bytes. */
static uint64_t control_part(const struct null_exec *e, uint64_t offset, uint64_t bytes, uint64_t *at,
                             uint64_t *from)
{
    uint64_t lo = offset > e->control ? offset : e->control, end = e->control + sizeof(struct control);
    uint64_t hi = offset + bytes < end ? offset + bytes : end;
    *at = lo - e->control;
    *from = lo - offset;
    return e->tick && hi > lo ? hi - lo : 0;
}

static enum status null_upload(struct exec *x, uint64_t offset, const void *bytes, uint64_t n)
{
    struct null_exec *e = self(x);
    uint64_t at, from, part = control_part(e, offset, n, &at, &from);
    if (part) {
        memcpy((char *)&e->arena->control + at, (const char *)bytes + from, part);
    }
    e->counts.bytes_h2d += n;
    return ST_OK;
}

static enum status null_download(struct exec *x, uint64_t offset, void *bytes, uint64_t n)
{
    struct null_exec *e = self(x);
    uint64_t at, from, part = control_part(e, offset, n, &at, &from);
    if (n) {
        memset(bytes, 0, n);
    }
    if (part) {
        memcpy((char *)bytes + from, (const char *)&e->arena->control + at, part);
    }
    e->counts.bytes_d2h += n;
    return ST_OK;
}

static enum status null_launch(struct exec *x, uint32_t variant, bool first)
{
    struct null_exec *e = self(x);
    if (variant >= e->n_variant) {
        snprintf(e->error, ERROR_TEXT, "the plan has no variant %u", variant);
        return ST_INTERNAL;
    }
    e->tick[variant].first = first;
    tick((char *)e->arena, &e->tick[variant], e->ring, 0, 1);
    e->counts.launches++;
    e->counts.kernels_per_launch = 1;
    return ST_OK;
}

static const struct ring_slot *null_slot(struct exec *x, uint64_t n, bool wait)
{
    (void)wait;
    const struct ring_slot *s = &self(x)->ring->slot[(n - 1) % LIMIT_RING_SLOTS];
    return n > 0 && s->seq == n ? s : NULL;
}

static enum status null_sync(struct exec *x)
{
    self(x)->counts.syncs++;
    return ST_OK;
}

static enum status null_parts(struct exec *x, double seconds[PART_COUNT])
{
    (void)seconds;
    snprintf(self(x)->error, ERROR_TEXT, "the null backend computes nothing that could be timed");
    return ST_USAGE;
}

static void null_counts(struct exec *x, struct exec_counts *out, bool reset)
{
    *out = self(x)->counts;
    if (reset) {
        self(x)->counts = (struct exec_counts){.source = "null"};
    }
}

static const char *null_error(struct exec *x)
{
    return self(x)->error;
}

static void null_close(struct exec *x)
{
    arena_free(self(x)->mem);
}

const struct backend backend_null = {
    .abi = BACKEND_ABI,
    .name = "null",
    .open = null_open,
    .device = null_device,
    .arena = null_arena,
    .upload = null_upload,
    .download = null_download,
    .prepare = null_prepare,
    .launch = null_launch,
    .slot = null_slot,
    .sync = null_sync,
    .parts = null_parts,
    .counts = null_counts,
    .error = null_error,
    .close = null_close,
};
