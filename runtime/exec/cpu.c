/* The CPU backend: a launch runs the ops of a variant one after another, each cut over the thread pool, then
 * the tick. Launches are synchronous, so a slot is complete when launch() returns. The arena is the only
 * large allocation; nothing is allocated after prepare. */
#include "runtime/exec/host.h"
#include <stdio.h>
#include <unistd.h>
#include "kernels/cpu/cpu.h"
#include "kernels/segment.h"
#include "runtime/base/seam.h"
#include "runtime/plan/group.h"

struct cpu_exec {
    const struct backend *backend;
    struct exec_options options;
    struct pool *pool;
    struct arena *mem;   /* everything below but the device arena */
    char *block, *arena; /* allocation, and its first aligned byte */
    uint64_t block_bytes, bytes;
    const struct plan *plan;
    struct tick_args *tick;
    struct debug_variant *debug;
    struct ring *ring;
    struct exec_counts counts;
    uint64_t launched;
    struct segment_host segment;
    double part_seconds[PART_COUNT], part_start; /* options.parts: of the last launch */
    char error[ERROR_TEXT];
};

static struct cpu_exec *self(struct exec *e)
{
    return (struct cpu_exec *)e;
}

static enum status cpu_open(const struct exec_options *o, struct exec **out, char *why, size_t n)
{
    if (o->device != 0) {
        snprintf(why, n, "the cpu backend has one device, number 0");
        return ST_USAGE;
    }
    struct arena *mem = arena_new();
    struct cpu_exec *e = arena_new_of(mem, struct cpu_exec);
    e->backend = &backend_cpu;
    e->options = *o;
    e->mem = mem;
    e->pool = pool_new(o->threads);
    e->ring = arena_new_of(mem, struct ring);
    e->counts.source = "cpu";
    *out = (struct exec *)e;
    return ST_OK;
}

static void cpu_model(char *name, size_t n)
{
    char line[256];
    FILE *f = fopen("/proc/cpuinfo", "r");
    snprintf(name, n, "CPU");
    while (f && fgets(line, sizeof line, f)) {
        char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) == 0 && colon) {
            snprintf(name, n, "%.*s", (int)strcspn(colon + 2, "\n"), colon + 2);
            break;
        }
    }
    if (f) {
        fclose(f);
    }
}

static enum status cpu_device(struct exec *x, struct exec_device *out)
{
    struct cpu_exec *e = self(x);
    memset(out, 0, sizeof *out);
    cpu_model(out->name, sizeof out->name);
    const char *blas = cpu_blas_name();
    size_t n = strcspn(blas, " ");
    n += blas[n] ? 1 + strcspn(blas + n + 1, " ") : 0; /* name and version, not how it was built */
    snprintf(out->driver, sizeof out->driver, "%d threads, %.*s", pool_threads(e->pool),
             (int)(n < 40 ? n : 40), blas);
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    out->memory = (uint64_t)sysconf(_SC_PHYS_PAGES) * page;
    out->free = (uint64_t)sysconf(_SC_AVPHYS_PAGES) * page;
    out->target = (struct target){.name = "cpu", .memory = out->memory, .groups = true};
    return ST_OK;
}

static enum status cpu_arena(struct exec *x, uint64_t bytes)
{
    struct cpu_exec *e = self(x);
    if (e->block) {
        snprintf(e->error, ERROR_TEXT, "the arena exists already");
        return ST_INTERNAL;
    }
    uint64_t total = bytes + PLAN_ALIGN;
    e->block = total < bytes ? NULL : mem_seam.resize(mem_seam.ctx, NULL, 0, total);
    if (!e->block) {
        snprintf(e->error, ERROR_TEXT, "no memory for the arena of %.1f MiB", (double)bytes / (1 << 20));
        return ST_RESOURCE;
    }
    memset(e->block, 0, total);
    e->block_bytes = total;
    e->bytes = bytes;
    e->arena = e->block + (PLAN_ALIGN - (uintptr_t)e->block % PLAN_ALIGN) % PLAN_ALIGN;
    e->counts.allocations++;
    return ST_OK;
}

static enum status check_range(struct cpu_exec *e, uint64_t offset, uint64_t bytes)
{
    if (offset > e->bytes || bytes > e->bytes - offset) {
        snprintf(e->error, ERROR_TEXT, "bytes %llu .. %llu are outside of the arena of %llu bytes",
                 (unsigned long long)offset, (unsigned long long)(offset + bytes),
                 (unsigned long long)e->bytes);
        return ST_INTERNAL;
    }
    return ST_OK;
}

static enum status cpu_upload(struct exec *x, uint64_t offset, const void *from, uint64_t bytes)
{
    struct cpu_exec *e = self(x);
    TRY(check_range(e, offset, bytes));
    if (bytes) {
        memcpy(e->arena + offset, from, bytes);
    }
    e->counts.bytes_h2d += bytes;
    return ST_OK;
}

static enum status cpu_download(struct exec *x, uint64_t offset, void *to, uint64_t bytes)
{
    struct cpu_exec *e = self(x);
    TRY(check_range(e, offset, bytes));
    if (bytes) {
        memcpy(to, e->arena + offset, bytes);
    }
    e->counts.bytes_d2h += bytes;
    return ST_OK;
}

static enum status check_ops(struct cpu_exec *e, const struct plan *p)
{
    for (uint32_t i = 0; i < p->n_variant; i++) {
        for (uint32_t j = 0; j < p->variant[i].n_op; j++) {
            const struct plan_op *op = &p->variant[i].op[j];
            const char *why = host_op_refusal(op);
            if (why) {
                char place[128];
                host_place(p->graph, op->node, place, sizeof place);
                snprintf(e->error, ERROR_TEXT, "operator %s at %s %s",
                         op->op < OP_COUNT ? op_table[op->op].name : "?", place, why);
                return ST_MODEL;
            }
        }
    }
    return ST_OK;
}

static void prepare_groups(const struct plan *p)
{
    for (uint32_t i = 0; i < p->n_variant; i++) {
        for (uint32_t k = 0; k < p->variant[i].n_op; k++) {
            struct plan_op *op = &p->variant[i].op[k];
            if (op->op == OP_group && !op->k.prepared && group_points(op->k.group)) {
                op->k.prepared = cpu_group_prepared(&op->k, p->arena);
            }
        }
    }
}

static enum status cpu_prepare(struct exec *x, const struct plan *p)
{
    struct cpu_exec *e = self(x);
    TRY(check_range(e, 0, p->device_bytes ? p->device_bytes : p->bytes));
    TRY(check_ops(e, p));
    e->tick = host_tick_args(p, e->mem, e->error, ERROR_TEXT);
    if (!e->tick) {
        return ST_MODEL;
    }
    prepare_groups(p);
    e->debug = e->options.debug_plan ? debug_make(p, e->mem) : NULL;
    e->plan = p;
    return ST_OK;
}

static void parts_begin(struct cpu_exec *e)
{
    if (e->options.parts) {
        memset(e->part_seconds, 0, sizeof e->part_seconds);
        e->part_start = clock_seam.seconds();
    }
}
/* The time since the last call belongs to `part`. */
static void part_end(struct cpu_exec *e, int part)
{
    if (e->options.parts) {
        double now = clock_seam.seconds();
        e->part_seconds[part] += now - e->part_start;
        e->part_start = now;
    }
}

static enum status run_ops(struct cpu_exec *e, uint32_t variant)
{
    const struct plan_variant *v = &e->plan->variant[variant];
    for (uint32_t i = 0, next; i < v->n_op; i = next) {
        next = host_step(e->arena, v, i, e->pool);
        part_end(e, v->op[i].part);
        if (e->debug) {
            TRY(debug_after(e->plan, e->debug, variant, i, next, e->arena, e->error, ERROR_TEXT));
        }
    }
    return ST_OK;
}

static enum status cpu_launch(struct exec *x, uint32_t variant, bool first)
{
    struct cpu_exec *e = self(x);
    if (!e->plan || variant >= e->plan->n_variant) {
        snprintf(e->error, ERROR_TEXT, e->plan ? "the plan has no variant %u" : "launch %u before prepare",
                 variant);
        return ST_INTERNAL;
    }
    const struct plan_variant *v = &e->plan->variant[variant];
    TRY(check_range(e, e->plan->planned_offset, v->planned));
    if (e->debug) {
        debug_begin(e->plan, e->debug, variant, e->arena);
    }
    parts_begin(e);
    TRY(run_ops(e, variant));
    e->tick[variant].first = first;
    tick(e->arena, &e->tick[variant], e->ring, 0, 1);
    part_end(e, v->n_op ? v->op[v->n_op - 1].part : PART_FORWARD);
    e->counts.launches++;
    e->counts.kernels_per_launch = v->n_op + 1;
    e->launched++;
    return e->debug ? debug_end(e->plan, e->debug, variant, e->arena, e->error, ERROR_TEXT) : ST_OK;
}

static bool cpu_holds(struct exec *x, uint32_t variant)
{
    struct cpu_exec *e = self(x);
    const struct plan_variant *v = &e->plan->variant[variant];
    for (uint32_t i = 0; i < v->n_op;) {
        i = host_step(e->arena, v, i, e->pool);
    }
    return segment_holds(e->arena + v->output[0].offset, v->output[0].dtype == DT_F32);
}

static enum status cpu_launch_segment(struct exec *x, uint32_t segment, const struct segment_command *c)
{
    struct cpu_exec *e = self(x);
    e->segment.control = (struct control *)(void *)(e->arena + e->plan->control);
    e->segment.tick = cpu_launch;
    e->segment.holds = cpu_holds;
    uint64_t launches = e->counts.launches;
    enum status st = host_segment(x, &e->segment, &e->plan->segment[segment], c);
    e->counts.launches = launches + 1; /* its ticks are none */
    return st;
}

static const struct ring_slot *cpu_slot(struct exec *x, uint64_t n, bool wait)
{
    (void)wait; /* launches are done when launch() returns */
    const struct cpu_exec *e = self(x);
    const struct ring_slot *s = &e->ring->slot[(n - 1) % LIMIT_RING_SLOTS];
    return n > 0 && s->seq == n ? s : NULL;
}

static enum status cpu_sync(struct exec *x)
{
    self(x)->counts.syncs++;
    return ST_OK;
}

static enum status cpu_parts(struct exec *x, double seconds[PART_COUNT])
{
    struct cpu_exec *e = self(x);
    if (!e->options.parts) {
        snprintf(e->error, ERROR_TEXT, "the backend was opened without timing of parts");
        return ST_USAGE;
    }
    memcpy(seconds, e->part_seconds, sizeof e->part_seconds);
    return ST_OK;
}

/* The shortest of some runs. Again and again on what is there: a loop stands in its first iteration. */
static double time_op(struct cpu_exec *e, const struct plan_variant *v, uint32_t op)
{
    double best = 1e300, start = clock_seam.seconds();
    for (int i = 0; i < 20 && (i < 3 || clock_seam.seconds() - start < 5e-3); i++) {
        double from = clock_seam.seconds();
        host_step(e->arena, v, op, e->pool);
        double took = clock_seam.seconds() - from;
        best = took < best ? took : best;
    }
    return best;
}

static enum status cpu_profile(struct exec *x, uint32_t variant, double *seconds)
{
    struct cpu_exec *e = self(x);
    const struct plan_variant *v = &e->plan->variant[variant];
    for (uint32_t i = 0; i < v->n_op; i++) {
        const struct plan_loop *l = v->op[i].loop;
        seconds[i] = l ? 0 : time_op(e, v, i);
        if (l && l->begin == i) {
            host_step(e->arena, v, i, e->pool);
        }
    }
    return ST_OK;
}

static void cpu_counts(struct exec *x, struct exec_counts *out, bool reset)
{
    struct cpu_exec *e = self(x);
    *out = e->counts;
    if (reset) {
        e->counts = (struct exec_counts){.kernels_per_launch = e->counts.kernels_per_launch, .source = "cpu"};
    }
}

static const char *cpu_error(struct exec *x)
{
    return self(x)->error;
}

static void cpu_close(struct exec *x)
{
    struct cpu_exec *e = self(x);
    pool_free(e->pool);
    if (e->block) {
        mem_free(e->block, e->block_bytes);
    }
    arena_free(e->mem);
}

const struct backend backend_cpu = {
    .abi = BACKEND_ABI,
    .name = "cpu",
    .open = cpu_open,
    .device = cpu_device,
    .arena = cpu_arena,
    .upload = cpu_upload,
    .download = cpu_download,
    .prepare = cpu_prepare,
    .launch = cpu_launch,
    .launch_segment = cpu_launch_segment,
    .slot = cpu_slot,
    .sync = cpu_sync,
    .parts = cpu_parts,
    .profile = cpu_profile,
    .counts = cpu_counts,
    .error = cpu_error,
    .close = cpu_close,
};
