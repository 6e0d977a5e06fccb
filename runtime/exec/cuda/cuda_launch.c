/* A step is one graph launch; the host learns about it from the ring alone. At most two launches are in
 * flight: the host spins a moment on the ring slot, then sleeps, asks the stream for errors now and then, and
 * gives up when nothing moves for a minute. */
#include "runtime/base/seam.h"
#include "runtime/exec/cuda/cuda_exec.h"

enum { SPINS = 8000 }; /* about 0.1 ms: a small step ends while the host spins */

static void relax(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

static uint64_t slot_seq(const struct exec *e, uint64_t n)
{
    return __atomic_load_n(&e->ring->slot[(n - 1) % LIMIT_RING_SLOTS].seq, __ATOMIC_ACQUIRE);
}

/* Anything wrong on the device? Success while the word has not come means that what writes it did not run. */
static enum status check_stream(struct exec *e, const uint64_t *word, uint64_t n, const char *what)
{
    int code = e->api.stream_query(e->api.ctx, e->stream);
    if (code == CUDA_NOT_READY) {
        return ST_OK;
    }
    if (code) {
        return cuda_failed(e, CUDA_CALL_stream_query, code);
    }
    return __atomic_load_n(word, __ATOMIC_ACQUIRE) >= n
               ? ST_OK
               : cuda_error(e, ST_INTERNAL, "%s %llu ended without a word in the ring", what,
                            (unsigned long long)n);
}

enum status cuda_wait_word(struct exec *e, const uint64_t *word, uint64_t n, const char *what)
{
    for (int i = 0; i < SPINS; i++) {
        if (__atomic_load_n(word, __ATOMIC_ACQUIRE) >= n) {
            return ST_OK;
        }
        relax();
    }
    double start = clock_seam.seconds(), asked = start, pause = 20e-6;
    while (__atomic_load_n(word, __ATOMIC_ACQUIRE) < n) {
        double now = clock_seam.seconds();
        if (now - asked > 0.1) {
            TRY(check_stream(e, word, n, what));
            asked = now;
        }
        if (now - start > CUDA_WATCHDOG) {
            return cuda_error(e, ST_DEVICE, "no progress on %s for %d s: %s %llu does not end",
                              e->device.name, CUDA_WATCHDOG, what, (unsigned long long)n);
        }
        clock_seam.sleep(pause);
        pause = pause < 1e-3 ? pause * 1.5 : 1e-3;
    }
    return ST_OK;
}

static enum status wait_for(struct exec *e, uint64_t n)
{
    return cuda_wait_word(e, &e->ring->slot[(n - 1) % LIMIT_RING_SLOTS].seq, n, "launch");
}

static enum status launch_graphs(struct exec *e, const struct cuda_variant *v, bool first)
{
    for (uint32_t i = 0; i < v->n_segment; i++) {
        bool last = i + 1 == v->n_segment;
        CUDA_TRY(e, exec_launch, v->exec[last && first][i], e->stream);
        TRY(cuda_part_end(e, v->part[i]));
    }
    return ST_OK;
}

static enum status launch_eager(struct exec *e, uint32_t variant, bool first)
{
    struct cuda_variant *v = &e->variant[variant];
    bool debug = e->options.debug_plan;
    if (debug) {
        TRY(cuda_debug_before(e, variant));
    }
    for (uint32_t i = 0, next; i < v->n_step; i = next) {
        next = cuda_next(v, i);
        if (debug) {
            TRY(cuda_debug_op(e, variant, i));
        }
        TRY(cuda_step_issue(e, &v->step[i]));
        if (debug) {
            TRY(cuda_debug_after(e, variant, i, next));
        }
        TRY(cuda_part_end(e, v->step[i].part));
    }
    CUDA_TRY(e, kernel_launch, &v->tick[first], e->arena, e->stream);
    TRY(cuda_part_end(e, v->n_step ? v->step[v->n_step - 1].part : PART_FORWARD));
    return debug ? cuda_debug_end(e, variant) : ST_OK;
}

/* Two launches may be in flight: the one before the last has ended. */
static enum status wait_for_last_but_one(struct exec *e)
{
    return e->before > e->base ? wait_for(e, e->before) : ST_OK;
}

enum status cuda_launch(struct exec *e, uint32_t variant, bool first)
{
    if (variant >= e->n_variant || !e->variant[variant].ready) {
        return cuda_error(e, ST_INTERNAL, "variant %u does not run on the device", variant);
    }
    if (e->in_segment) { /* all of its ticks were read */
        e->issued = e->before = e->read;
        e->in_segment = false;
    }
    TRY(wait_for_last_but_one(e));
    bool eager = e->options.eager || e->options.debug_plan;
    TRY(cuda_parts_begin(e));
    TRY(eager ? launch_eager(e, variant, first) : launch_graphs(e, &e->variant[variant], first));
    e->before = e->issued++;
    e->kernels = e->variant[variant].kernels;
    return ST_OK;
}

const struct ring_slot *cuda_slot(struct exec *e, uint64_t n, bool wait)
{
    if (n <= e->base || (n > e->issued && !e->in_segment)) {
        cuda_error(e, ST_INTERNAL, "launch %llu was not issued", (unsigned long long)n);
        return NULL;
    }
    if (wait && wait_for(e, n) != ST_OK) {
        return NULL;
    }
    uint64_t seq = slot_seq(e, n);
    if (seq > n) {
        cuda_error(e, ST_INTERNAL, "the slot of launch %llu was read too late", (unsigned long long)n);
    }
    e->read = seq == n && n > e->read ? n : e->read;
    return seq == n ? &e->ring->slot[(n - 1) % LIMIT_RING_SLOTS] : NULL;
}

enum status cuda_sync(struct exec *e)
{
    CUDA_TRY(e, stream_sync, e->stream);
    return ST_OK;
}

const struct backend cuda_backend_functions = {
    .abi = BACKEND_ABI,
    .name = "cuda",
    .device = cuda_device,
    .arena = cuda_arena,
    .upload = cuda_upload,
    .download = cuda_download,
    .prepare = cuda_prepare,
    .launch = cuda_launch,
    .launch_segment = cuda_launch_segment,
    .slot = cuda_slot,
    .sync = cuda_sync,
    .parts = cuda_parts,
    .profile = cuda_profile,
    .counts = cuda_counts,
    .error = cuda_error_text,
    .warning = cuda_warning_text,
    .close = cuda_close,
};
