/* The pass list and the loop over it. */
#include "compiler/passes.h"

#define P(name, function, meaning, doc) {#name, doc, function, meaning},
const struct pass_info pass_table[] = {
#include "compiler/passes.def"
};
#undef P
const uint32_t n_passes = sizeof pass_table / sizeof *pass_table;

static bool known_pass(const char *name, struct diag_sink *sink)
{
    const char *names[sizeof pass_table / sizeof *pass_table];
    for (uint32_t i = 0; i < n_passes; i++) {
        names[i] = pass_table[i].name;
        if (!name || !strcmp(names[i], name)) {
            return true;
        }
    }
    diag_emit(sink, DIAG_U0010, NO_SPAN, "there is no pass `%s`", name);
    const char *near = closest_name(name, names, n_passes);
    if (near) {
        diag_help(sink, "did you mean `%s`?", near);
    }
    return false;
}
enum status run_passes(struct graph *in, const struct compile_options *o, struct diag_sink *sink,
                       struct graph **out)
{
    struct graph *g = in;
    if (!known_pass(o->dump_after, sink)) {
        return ST_USAGE;
    }
    for (uint32_t i = 0; i < n_passes; i++) {
        const struct pass_info *p = &pass_table[i];
        if ((o->no_passes && !p->meaning) || (p->run == pass_narrow && !o->bf16)) {
            continue;
        }
        if (!p->run(g, sink, &g)) {
            return diag_worst(sink);
        }
        if (o->verify_each) {
            TRY(graph_verify(g, sink));
        }
        if (o->dump_after && !strcmp(o->dump_after, p->name)) {
            graph_print(g, stdout);
        }
    }
    *out = g;
    return ST_OK;
}
