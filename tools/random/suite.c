/* Many seeds: generate, check, shrink what fails, count rows. */
#include "tools/random/suite.h"
#include <stdlib.h>
#include "compiler/vjp.h"

const char *random_seed_text(struct arena *a, uint64_t seed, bool gradient, bool *used)
{
    struct random_options o = {
        .number = seed % 2 ? DT_F64 : DT_F32, .mixed = seed % 7 == 0, .loops = seed % 3 == 0};
    if (gradient) {
        o = (struct random_options){.number = DT_F64, .mixed = true, .smooth = true, .loops = seed % 3 == 0};
    }
    struct graph *g = random_graph(a, seed, &o, gradient ? NULL : used);
    if (gradient && used) {
        random_differentiated(g, used);
    }
    return random_text(g, a);
}
bool random_has_gradient(enum op op)
{
    bool any = false;
    for (uint32_t i = 0; i < 3; i++) {
        any |= vjp_exists(op, i);
    }
    return any && random_reachable(op) && op != OP_stop_grad;
}

/* -- failures */

/* The same check says the same, up to the first number or name. */
static bool same_failure(void *ctx, const char *text)
{
    const struct random_verdict *wanted = ctx;
    struct random_verdict v;
    size_t n = strcspn(wanted->why, "0123456789\"[");
    return !random_check(text, wanted->failed, &v) && v.failed == wanted->failed &&
           !strncmp(v.why, wanted->why, n);
}
static void report(struct random_suite *s, struct arena *a, uint64_t seed, const char *text,
                   struct random_verdict *v)
{
    struct random_verdict first = *v;
    s->failures++;
    fprintf(stderr, "seed %llu: %s check: %s\n", (unsigned long long)seed, random_check_name(v->failed),
            v->why);
    const char *small = random_shrink(a, text, same_failure, &first);
    random_check(small, first.failed, v);
    fprintf(stderr, "shrunk from %u to %u nodes: %s\n%s", random_node_count(text), random_node_count(small),
            v->why, small);
    fprintf(stderr,
            "to repeat: random_graphs 1 %llu, or write the graph above into a file and random_graphs --file "
            "FILE\n\n",
            (unsigned long long)seed);
}

static void one_seed(struct random_suite *s, uint64_t seed, bool gradient)
{
    struct arena *a = arena_new();
    struct random_verdict v;
    bool used[OP_COUNT] = {0};
    const char *text = random_seed_text(a, seed, gradient, used);
    s->nodes += gradient ? 0 : random_node_count(text);
    for (int op = 1; op < OP_COUNT; op++) {
        *(gradient ? &s->differentiated[op] : &s->covered[op]) += used[op];
    }
    if (!random_check(text, gradient ? CHECK_GRADIENT : CHECK_NONE, &v)) {
        report(s, a, seed, text, &v);
    }
    s->not_finite += !v.finite;
    s->not_bits += v.not_bits;
    s->quotients += v.quotients;
    s->moving += v.moving;
    s->kinks += v.kinks;
    arena_free(a);
}
void random_suite_run(struct random_suite *s)
{
    for (uint64_t i = 0; i < s->n && s->failures < MAX_FAILURES; i++) {
        uint64_t seed = s->from + i;
        if (s->seed) {
            *s->seed = seed;
        }
        one_seed(s, seed, false);
        s->graphs++;
        if (i % GRADIENT_EVERY == 0) {
            one_seed(s, seed, true);
            s->gradients++;
        }
    }
    for (int op = 1; op < OP_COUNT; op++) {
        s->missing += random_reachable((enum op)op) && s->covered[op] == 0;
        s->undifferentiated += random_has_gradient((enum op)op) && s->differentiated[op] == 0;
    }
}
void random_suite_print(const struct random_suite *s, FILE *out)
{
    fprintf(out, "rows, the graphs that have them, and those whose difference quotients go through them:");
    for (int op = 1; op < OP_COUNT; op++) {
        if (random_reachable((enum op)op)) {
            fprintf(out, "%s %s %u", op == 1 ? "" : ",", op_table[op].name, s->covered[op]);
        }
        if (random_has_gradient((enum op)op)) {
            fprintf(out, "/%u", s->differentiated[op]);
        }
    }
    fprintf(out, "\n%llu graphs, %.1f nodes each, %llu failures, %u rows missing, %u without a gradient\n",
            (unsigned long long)s->graphs, (double)s->nodes / (double)(s->graphs ? s->graphs : 1),
            (unsigned long long)s->failures, s->missing, s->undifferentiated);
    fprintf(out,
            "%llu with gradients: %llu quotients, %llu of them not zero, %llu at kinks; %llu graphs with "
            "values that are not "
            "finite; %llu runs of "
            "other passes within the tolerance only\n",
            (unsigned long long)s->gradients, (unsigned long long)s->quotients, (unsigned long long)s->moving,
            (unsigned long long)s->kinks, (unsigned long long)s->not_finite, (unsigned long long)s->not_bits);
}
