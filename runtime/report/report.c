/* Progress for people and the metrics file. */
#include "runtime/report/report.h"
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include "runtime/base/seam.h"
#include <unistd.h>
#include "runtime/report/internal.h"

/* Columns of the bar; of a terminal that does not tell its width; lines of a run without epochs on a plain
 * stream. */
enum { BAR = 24, COLUMNS = 80, STEP_LINES = 20 };

struct report {
    struct report_options o;
    struct diag_sink *sink;
    int fd;            /* metrics.jsonl, -1 = none */
    off_t whole;       /* bytes of its complete lines */
    bool bar_shown;    /* the cursor stands in the bar's line */
    double last_draw;  /* clock of the last redraw */
    int64_t last_line; /* step of the last line for people */
};

enum status report_open(struct arena *a, const struct report_options *o, struct diag_sink *sink,
                        struct report **out)
{
    struct report *r = arena_new_of(a, struct report);
    *r = (struct report){.o = *o, .sink = sink, .fd = -1, .last_draw = -1e9};
    if (o->quiet) {
        r->o.out = NULL;
    }
    if (o->metrics_path) {
        r->fd = io_seam.open(o->metrics_path, O_WRONLY | O_CREAT | O_APPEND, 0666);
        if (r->fd < 0) {
            return diag_emit(sink, DIAG_R1003, NO_SPAN, "cannot create `%s`: %s", o->metrics_path,
                             strerror(errno));
        }
    }
    *out = r;
    return ST_OK;
}

static enum status write_line(struct report *r, const char *json, size_t n)
{
    for (size_t at = 0; r->fd >= 0 && at < n;) {
        ssize_t put = io_seam.write(r->fd, json + at, n - at);
        if (put < 0 && errno == EINTR) {
            continue;
        }
        if (put <= 0) {
            int why = put == 0 ? ENOSPC : errno;
            bool cut = ftruncate(r->fd, r->whole) == 0; /* half a line would spoil the file */
            io_seam.close(r->fd);
            r->fd = -1; /* and nothing may follow it where it could not be cut off */
            return diag_emit(r->sink, DIAG_R1003, NO_SPAN, "cannot write `%s`: %s%s", r->o.metrics_path,
                             strerror(why), cut ? "" : "; its last line is not whole");
        }
        at += (size_t)put;
    }
    r->whole += (off_t)n;
    return ST_OK;
}

/* -- progress */

static void put_duration(FILE *out, double seconds)
{
    long s = seconds > 0 && seconds < 1e9 ? (long)(seconds + 0.5) : 0;
    if (s >= 3600) {
        fprintf(out, "%ld:%02ld:%02ld", s / 3600, s / 60 % 60, s % 60);
    } else {
        fprintf(out, "%ld:%02ld", s / 60, s % 60);
    }
}

/* Of replicas the smallest and the largest value, and how many are neither: "0.11 .. 0.32". */
static void put_value(FILE *out, const struct metric_value *m)
{
    double lo = INFINITY, hi = -INFINITY;
    uint32_t bad = 0;
    for (uint32_t r = 0; r < m->n_replica; r++) {
        double x = m->replica[r];
        bad += isnan(x);
        lo = x < lo ? x : lo;
        hi = x > hi ? x : hi;
    }
    if (!m->replica || bad == m->n_replica) {
        fprintf(out, "%.4g", m->value);
        return;
    }
    fprintf(out, "%.4g .. %.4g", lo, hi);
    if (bad) {
        fprintf(out, " (%u nan)", bad);
    }
}

/* "loss 0.1234  acc 0.97": names without the phase. */
static void put_metrics(FILE *out, const struct event *e)
{
    size_t skip = strlen(e->phase) + 1;
    for (uint32_t i = 0; i < e->n_metric; i++) {
        const char *name = e->metric[i].name;
        bool own = strncmp(name, e->phase, skip - 1) == 0 && name[skip - 1] == '.';
        fprintf(out, "  %s ", own ? name + skip : name);
        put_value(out, &e->metric[i]);
    }
}

static void clear_bar(struct report *r)
{
    if (r->bar_shown) {
        fputs("\r\033[K", r->o.out);
        r->bar_shown = false;
    }
}

static int columns_of(FILE *out)
{
    struct winsize w;
    int fd = fileno(out);
    return fd >= 0 && ioctl(fd, TIOCGWINSZ, &w) == 0 && w.ws_col ? w.ws_col : COLUMNS;
}

/* Time left stands before the metrics: the metrics that do not fit are left out, since a bar that wraps
 * cannot be redrawn. */
static void draw_bar(struct report *r, const struct event *e)
{
    char *line = NULL;
    size_t n = 0;
    FILE *out = r->o.out, *text = open_memstream(&line, &n);
    if (!text) {
        return;
    }
    double part = r->o.steps > 0 ? (double)e->step / (double)r->o.steps : 0;
    double rate = e->seconds > 0 ? (double)e->step / e->seconds : 0;
    int full = (int)((part < 1 ? part : 1) * BAR), width = columns_of(out) - 1;
    for (int i = 0; i < BAR; i++) {
        fputs(i < full ? "=" : "-", text);
    }
    fprintf(text, " %lld/%lld  %.0f steps/s  left ", (long long)e->step, (long long)r->o.steps, rate);
    put_duration(text, rate > 0 ? (double)(r->o.steps - e->step) / rate : 0);
    put_metrics(text, e);
    fclose(text);
    int bar = width < BAR ? width : BAR;
    if (n > (size_t)width) { /* whole metrics only: half a number reads as another one */
        for (; width > bar && strncmp(line + width, "  ", 2) != 0; width--) {
        }
    }
    fprintf(out, "\r\033[K%s%.*s%s%.*s", r->o.color ? "\033[32m" : "", bar, line, r->o.color ? "\033[0m" : "",
            width - bar, line + bar);
    free(line);
    fflush(out);
    r->bar_shown = true;
    r->last_draw = clock_seam.seconds();
}

void report_tick(struct report *r, const struct event *e)
{
    if (r->o.out && r->o.is_terminal && r->o.steps > 0 && clock_seam.seconds() - r->last_draw >= 0.1) {
        draw_bar(r, e);
    }
}

static void put_line(struct report *r, const struct event *e)
{
    FILE *out = r->o.out;
    clear_bar(r);
    fprintf(out, "%s%-8s%s step %lld", r->o.color ? "\033[1m" : "", e->phase, r->o.color ? "\033[0m" : "",
            (long long)e->step);
    if (e->kind == EVENT_EPOCH) {
        fprintf(out, "  epoch %lld", (long long)e->epoch);
    }
    put_metrics(out, e);
    fprintf(out, "  ");
    put_duration(out, e->seconds);
    fputc('\n', out);
    fflush(out);
    r->last_line = e->step;
}

enum status report_event(struct report *r, const struct event *e)
{
    if (r->fd >= 0) {
        struct arena *a = arena_new();
        const char *line = arena_printf(a, "%s\n", event_json(a, e));
        enum status st = write_line(r, line, strlen(line));
        arena_free(a);
        TRY(st);
    }
    if (!r->o.out) {
        return ST_OK;
    }
    if (e->kind == EVENT_STEP && r->o.is_terminal && r->o.steps > 0) {
        draw_bar(r, e);
    } else if (e->kind != EVENT_STEP || (!e->more && e->step - r->last_line >= r->o.steps / STEP_LINES)) {
        put_line(r, e);
    }
    return ST_OK;
}

void report_say(struct report *r, const char *fmt, ...)
{
    if (r->o.out) {
        clear_bar(r);
        va_list args;
        va_start(args, fmt);
        vfprintf(r->o.out, fmt, args);
        va_end(args);
        fputc('\n', r->o.out);
        fflush(r->o.out);
    }
}

enum status report_summary(struct report *r, const struct summary *s)
{
    struct arena *a = arena_new();
    const char *line = arena_printf(a, "%s\n", summary_json(a, s));
    enum status st = write_line(r, line, strlen(line));
    arena_free(a);
    return st;
}

void report_close(struct report *r)
{
    if (r && r->o.out) {
        clear_bar(r);
    }
    if (r && r->fd >= 0) {
        io_seam.close(r->fd);
        r->fd = -1;
    }
}

static void audit_print(const struct audit_summary *a, FILE *out)
{
    bool cpu = strcmp(a->source, "cpu") == 0;
    fprintf(out,
            "audit by %s: %.4g launches a step; bytes to the host %llu, to the device %llu, streamed %llu; "
            "%llu blocking waits, %llu allocations, %llu graph updates%s\n",
            a->source, a->launches_per_step, (unsigned long long)a->bytes_d2h,
            (unsigned long long)a->bytes_h2d, (unsigned long long)a->bytes_stream,
            (unsigned long long)a->syncs, (unsigned long long)a->allocations,
            (unsigned long long)a->graph_updates,
            cpu ? "; the CPU has no driver to be asked, so only calls of the backend are counted"
            : strcmp(a->source, "cuda_api") == 0
                ? "; without CUPTI: calls of this program, not those of libraries"
                : "");
    if (!cpu) {
        fprintf(out, "graphs walked: %llu with %llu kernels, %llu copies, %llu host and %llu memory nodes\n",
                (unsigned long long)a->graphs, (unsigned long long)a->kernels, (unsigned long long)a->copies,
                (unsigned long long)a->host_nodes, (unsigned long long)a->memory_nodes);
    }
}

void summary_print(const struct summary *s, FILE *out)
{
    size_t width = 0;
    for (uint32_t i = 0; i < s->n_metric; i++) {
        size_t n = strlen(s->metric[i].name);
        width = n > width ? n : width;
    }
    for (uint32_t i = 0; i < s->n_metric; i++) {
        const struct metric_value *m = &s->metric[i];
        fprintf(out, "%-*s", (int)width, m->name);
        for (uint32_t r = 0; r < m->n_replica; r++) {
            fprintf(out, "  %.6g", m->replica[r]);
        }
        if (!m->replica) {
            fprintf(out, "  %.6g", m->value);
        }
        fputc('\n', out);
    }
    if (s->steps) {
        fprintf(out, "%lld steps in ", (long long)s->steps);
    }
    fprintf(out, "%.2f s on %s", s->seconds, s->device);
    if (s->skipped) {
        fprintf(out, ", %lld of them without finite gradients", (long long)s->skipped);
    }
    fputc('\n', out);
    for (uint32_t i = 0; i < s->n_part; i++) {
        fprintf(out, "%-10s %.4f ms a step\n", s->part_ms[i].name, s->part_ms[i].value);
    }
    if (s->audit) {
        audit_print(s->audit, out);
    }
}
