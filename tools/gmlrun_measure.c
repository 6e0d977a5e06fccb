/* `gmlrun bench` and `gmlrun profile`: how fast a step is, and where its time goes. */
#include <stdlib.h>
#include "runtime/base/seam.h"
#include "runtime/plan/print.h"
#include "runtime/run/bench.h"
#include "tools/gmlrun.h"

static const double MIB = 1 << 20;

/* -- bench */

struct opening {
    double context, cold, warm; /* seconds */
};

/* From the text to the first step, twice: the second time libraries are loaded and kernels are in the cache.
 * The run stays open. */
static enum status open_twice(struct call *c, struct run **r, struct opening *o)
{
    const struct run_options options = c->run; /* the compiler takes `set` out */
    for (int again = 0; again < 2; again++) {
        struct bench b;
        double start = clock_seam.seconds();
        c->run = options;
        TRY(open_run(c, r));
        enum status st = run_first_step(*r, &b);
        double took = clock_seam.seconds() - start - b.context_seconds;
        if (st != ST_OK || !again) {
            run_close(*r);
        }
        TRY(st);
        o->context = again ? o->context : b.context_seconds;
        o->cold = again ? o->cold : took;
        o->warm = took;
    }
    return ST_OK;
}

static void parts_json(const struct bench *b)
{
    for (int i = 0; i < PART_COUNT && b->has_parts; i++) {
        printf("%s\"%s\": %.6g%s", i ? ", " : ", \"part_ms\": {", part_name[i], b->part_ms[i],
               i + 1 == PART_COUNT ? "}" : "");
    }
}

static void bench_json(struct call *c, const struct run *r, const struct bench *b, const struct opening *o)
{
    printf("{\"model\": %s, \"phase\": %s, \"device\": %s, \"precision\": \"%s\", \"rows\": %lld, "
           "\"steps\": %lld, \"steps_per_second\": %.6g, \"median_ms\": %.6g, \"best_ms\": %.6g, "
           "\"p5_ms\": %.6g, \"p95_ms\": %.6g, ",
           json_text(c->arena, run_model(r)), json_text(c->arena, b->phase), json_text(c->arena, b->device),
           c->run.precision, (long long)b->rows, (long long)b->steps, b->steps_per_second, b->median_ms,
           b->best_ms, b->p5_ms, b->p95_ms);
    printf("\"nodes\": %u, \"kernels\": %llu, \"launches\": %.6g, \"bytes\": %.0f, \"flops\": %.0f, "
           "\"arena_bytes\": %llu, \"planned_bytes\": %llu, \"bound_bytes\": %llu, \"peak_bytes\": %llu, "
           "\"context_seconds\": %.4f, \"first_step_seconds\": %.4f, \"first_step_warm_seconds\": %.4f",
           b->nodes, (unsigned long long)b->kernels, b->launches, b->bytes, b->flops,
           (unsigned long long)b->arena_bytes, (unsigned long long)b->planned_bytes,
           (unsigned long long)b->bound_bytes, (unsigned long long)b->peak_bytes, o->context, o->cold,
           o->warm);
    parts_json(b);
    printf("}\n");
}

static void bench_text(const struct run *r, const struct bench *b, const struct opening *o)
{
    printf("%s of %s on %s: %.1f steps/s, %.4f ms a step (median), %.4f ms (best), %lld steps measured\n",
           b->phase, run_model(r), b->device, b->steps_per_second, b->median_ms, b->best_ms,
           (long long)b->steps);
    printf("p5 %.4f ms, p95 %.4f ms\n", b->p5_ms, b->p95_ms);
    printf("%u launches in the plan, %llu kernels a step, %.3g launches of the host a step\n", b->nodes,
           (unsigned long long)b->kernels, b->launches);
    printf("%.2f MiB moved and %.4g GFLOP a step, at least\n", b->bytes / MIB, b->flops / 1e9);
    printf("arena %.2f MiB; planned %.2f MiB, lower bound %.2f MiB; peak memory %.2f MiB%s\n",
           (double)b->arena_bytes / MIB, (double)b->planned_bytes / MIB, (double)b->bound_bytes / MIB,
           (double)b->peak_bytes / MIB, o->context > 0 ? " of the device" : " of the process");
    printf("to the first step: %.3f s, again %.3f s", o->cold, o->warm);
    printf(o->context > 0 ? ", without %.3f s for the context of the device\n" : "\n", o->context);
    for (int i = 0; i < PART_COUNT && b->has_parts; i++) {
        printf("%-10s %.4f ms (median)\n", part_name[i], b->part_ms[i]);
    }
}

enum status command_bench(struct call *c)
{
    struct run *r;
    struct bench b;
    struct opening o;
    c->run.quiet = true;
    TRY(open_twice(c, &r, &o));
    enum status st = run_bench(r, &b);
    if (st == ST_OK && c->o.at[OPT_JSON].given) {
        bench_json(c, r, &b, &o);
    } else if (st == ST_OK) {
        bench_text(r, &b, &o);
    }
    run_close(r);
    return st;
}

/* -- profile */

static double all_of(const struct profile_row *row)
{
    return row->seconds * (double)row->times;
}

/* The longest first; equal ones in the order of the step. */
static int by_time(const void *a, const void *b)
{
    const struct profile_row *x = *(const struct profile_row *const *)a,
                             *y = *(const struct profile_row *const *)b;
    return all_of(x) != all_of(y) ? (all_of(x) < all_of(y) ? 1 : -1) : x < y ? -1 : x > y;
}

static const struct profile_row **sorted(struct call *c, const struct profile *p)
{
    const struct profile_row **at = arena_array(c->arena, const struct profile_row *, p->n + 1);
    for (uint32_t i = 0; i < p->n; i++) {
        at[i] = &p->row[i];
    }
    qsort(at, p->n, sizeof(const struct profile_row *), by_time);
    return at;
}

static void profile_text(struct call *c, const struct profile *p)
{
    const struct profile_row **at = sorted(c, p);
    printf("%s on %s: %.2f us in %u launches, each timed by itself\n\n", p->phase, p->device,
           1e6 * p->seconds, p->n);
    printf("%10s %6s %6s %9s %9s %8s  %-12s %-9s %s\n", "us", "%", "times", "GB/s", "GFLOP/s", "of peak",
           "op", "part", "at");
    for (uint32_t i = 0; i < p->n && all_of(at[i]) > 0; i++) {
        const struct profile_row *r = at[i];
        char share[16] = "-";
        if (r->share > 0) {
            snprintf(share, sizeof share, "%.1f%% %c", 100 * r->share, r->by_flops ? 'F' : 'B');
        }
        printf("%10.2f %6.2f %6lld %9.1f %9.1f %8s  %-12s %-9s %s%s%s\n", 1e6 * all_of(r),
               100 * all_of(r) / p->seconds, (long long)r->times, r->cost.bytes / r->seconds / 1e9,
               r->cost.flops / r->seconds / 1e9, share, r->op, part_name[r->part], r->place,
               r->scope[0] ? " " : "", r->scope);
    }
    if (p->peaks[0]) {
        printf(
            "\nshares of %.4g GB/s (B) and of the rate of products (F), beyond 100 where caches help: %s\n",
            p->bandwidth / 1e9, p->peaks);
    } else {
        printf("\nno peaks are known of this device\n");
    }
}

static void profile_json(struct call *c, const struct profile *p)
{
    struct arena *a = c->arena;
    const struct profile_row **at = sorted(c, p);
    printf("{\"phase\": %s, \"device\": %s, \"us\": %.6g, \"bandwidth\": %.6g, \"launches\": [",
           json_text(a, p->phase), json_text(a, p->device), 1e6 * p->seconds, p->bandwidth);
    for (uint32_t i = 0; i < p->n; i++) {
        const struct profile_row *r = at[i];
        printf("%s{\"op\": %s, \"part\": \"%s\", \"us\": %.6g, \"times\": %lld, \"bytes\": %.0f, \"flops\": "
               "%.0f, "
               "\"share\": %.4g, \"place\": %s, \"scope\": %s}",
               i ? ", " : "", json_text(a, r->op), part_name[r->part], 1e6 * r->seconds, (long long)r->times,
               r->cost.bytes, r->cost.flops, r->share, json_text(a, r->place), json_text(a, r->scope));
    }
    printf("]}\n");
}

/* Trace Event Format: complete events, one row for each part. Launches were timed apart and stand end to end.
 */
static enum status write_trace(struct call *c, const struct profile *p, const char *path)
{
    struct arena *a = c->arena;
    struct text t = {.arena = a};
    double now = 0;
    text_printf(&t, "{\"displayTimeUnit\": \"ns\", \"traceEvents\": [");
    for (uint32_t i = 0; i < p->n; i++) {
        const struct profile_row *r = &p->row[i];
        text_printf(
            &t,
            "%s\n{\"name\": %s, \"cat\": \"%s\", \"ph\": \"X\", \"ts\": %.3f, \"dur\": %.3f, \"pid\": 1, "
            "\"tid\": %d, \"args\": {\"place\": %s, \"scope\": %s, \"times\": %lld, \"bytes\": %.0f, "
            "\"flops\": %.0f}}",
            i ? "," : "", json_text(a, r->op), part_name[r->part], now, 1e6 * all_of(r), (int)r->part,
            json_text(a, r->place), json_text(a, r->scope), (long long)r->times, r->cost.bytes,
            r->cost.flops);
        now += 1e6 * all_of(r);
    }
    text_printf(&t, "\n]}\n");
    return file_write(path, t.at, t.n, &c->sink);
}

enum status command_profile(struct call *c)
{
    struct run *r;
    struct profile p;
    c->run.quiet = true;
    TRY(open_run(c, &r));
    enum status st = run_profile(r, c->arena, &p);
    if (st == ST_OK && c->o.at[OPT_TRACE].given) {
        st = write_trace(c, &p, c->o.at[OPT_TRACE].text);
    }
    if (st == ST_OK && c->o.at[OPT_JSON].given) {
        profile_json(c, &p);
    } else if (st == ST_OK) {
        profile_text(c, &p);
    }
    run_close(r);
    return st;
}
