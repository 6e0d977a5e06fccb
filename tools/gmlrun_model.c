/* From the command line's MODEL and options to a graph. */
#include <string.h>
#include "runtime/model.h"
#include "tools/common_program.h"
#include "tools/gmlrun.h"

bool call_precision_is(const struct call *c, const char *name)
{
    const struct option_value *p = &c->o.at[OPT_PRECISION];
    return strcmp(p->given ? p->text : "f32", name) == 0;
}

bool call_is_f64(const struct call *c)
{
    return call_precision_is(c, "f64");
}

bool call_is_compiled(const struct call *c)
{
    return model_is_compiled(c->o.args.at[0]);
}

static struct model_options options_of(struct call *c, bool f64)
{
    const struct option_value *include = &c->o.at[OPT_INCLUDE];
    struct compile_set *set = arena_array(c->arena, struct compile_set, c->run.n_set);
    for (uint32_t i = 0; i < c->run.n_set; i++) {
        set[i] = (struct compile_set){c->run.set[i].name, c->run.set[i].value};
    }
    const char **draws = arena_array(c->arena, const char *, c->run.n_override);
    for (uint32_t i = 0; i < c->run.n_override; i++) {
        draws[i] = c->run.override[i].name;
    }
    return (struct model_options){.compile = {.include = include->many.at,
                                              .n_include = include->many.n,
                                              .std_path = model_std_folder(c->arena),
                                              .set = set,
                                              .n_set = c->run.n_set,
                                              .override = draws,
                                              .n_override = c->run.n_override,
                                              .bf16 = !f64 && call_precision_is(c, "bf16")},
                                  .f64 = f64};
}

static enum status load(struct call *c, const struct model_options *o, struct graph **out)
{
    *out = NULL;
    return model_load(c->arena, c->o.args.at[0], o, &c->sink, out);
}

enum status call_graph_f32(struct call *c, struct graph **out)
{
    struct model_options o = options_of(c, false);
    return load(c, &o, out);
}

static enum status replicate(struct call *c, struct graph **g)
{
    for (uint32_t i = 0; i < c->n_lists; i++) {
        TRY(graph_configure_list(*g, c->lists[i].name, c->lists[i].value, c->lists[i].n, &c->sink));
    }
    return gml_replicate(*g, c->replicas, &c->sink, g);
}

enum status call_graph(struct call *c, struct graph **out)
{
    struct model_options o = options_of(c, call_is_f64(c));
    o.tf32 = call_precision_is(c, "tf32");
    TRY(load(c, &o, out));
    if (c->replicas) {
        TRY(replicate(c, out));
    }
    c->run.n_set = call_is_compiled(c) ? c->run.n_set : 0; /* the compiler has set them */
    return ST_OK;
}

enum status call_graph_f64(struct call *c, struct graph **out)
{
    *out = NULL;
    if (call_is_compiled(c)) {
        return diag_emit(&c->sink, DIAG_U0002, NO_SPAN,
                         "`gmlrun %s` compiles in f64 and so needs the .gml file, not %s", c->o.command->name,
                         c->o.args.at[0]);
    }
    struct model_options o = options_of(c, true);
    o.exact = true;
    TRY(load(c, &o, out));
    c->run.n_set = 0;
    return ST_OK;
}
