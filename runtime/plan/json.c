/* The plan as one JSON document for tools: sizes, places in the arena, launches with what they read and
 * write. The format is described in docs/dump.md; `format` grows when a reader would have to change. */
#include <jansson.h>
#include "runtime/plan/group.h"
#include "runtime/plan/print.h"

enum { FORMAT = 1 };

static json_t *text_or_null(const char *s)
{
    json_t *out = s ? json_string(s) : NULL;
    return out ? out : json_null(); /* NULL also when it is no UTF-8 */
}

static json_t *sizes(const int64_t *at, int n)
{
    json_t *out = json_array();
    for (int i = 0; i < n; i++) {
        json_array_append_new(out, json_integer(at[i]));
    }
    return out;
}

/* NULL for the control block, which some launches have as last input. */
static json_t *operand_json(const struct operand *o)
{
    if (o->dtype == DT_NONE) {
        return json_pack("{s:s, s:I}", "dtype", "control", "offset", (json_int_t)o->offset);
    }
    return json_pack("{s:s, s:I, s:o, s:o}", "dtype", dtype_name((enum dtype)o->dtype), "offset",
                     (json_int_t)o->offset, "shape", sizes(o->dim, o->rank), "stride",
                     sizes(o->stride, o->rank));
}

static json_t *operands_json(const struct operand *o, uint32_t n)
{
    json_t *out = json_array();
    for (uint32_t i = 0; i < n; i++) {
        json_array_append_new(out, operand_json(&o[i]));
    }
    return out;
}

/* "model.gml:14", or null. */
static json_t *place_json(const struct graph *g, struct span s)
{
    uint32_t line, column;
    char at[512];
    if (!s.file || s.file >= g->sources.list.n) {
        return json_null();
    }
    source_line_column(&g->sources.list.at[s.file], s.start, &line, &column);
    snprintf(at, sizeof at, "%s:%u", g->sources.list.at[s.file].path, line);
    return text_or_null(at);
}

/* The nodes whose values a launch computes, ascending. */
static json_t *nodes_json(const struct graph *g, const struct plan_op *op)
{
    json_t *out = json_array();
    const struct group *x = op->k.group;
    if (!x) {
        json_array_append_new(out, json_integer((json_int_t)op->node));
        return out;
    }
    bool *in = mem_alloc(g->nodes.n * sizeof *in);
    for (uint16_t i = 0; i < x->n_instr; i++) {
        bool made = (x->instr[i].kind != GROUP_LOAD || x->instr[i].n_in) && x->instr[i].kind != GROUP_CONST;
        in[x->instr[i].node] |= made;
    }
    for (uint16_t i = 0; i < x->n_store; i++) {
        in[x->store[i].node] = true;
    }
    for (uint32_t i = 0; i < g->nodes.n; i++) {
        if (in[i]) {
            json_array_append_new(out, json_integer((json_int_t)i));
        }
    }
    mem_free(in, g->nodes.n * sizeof *in);
    return out;
}

static json_t *group_json(const struct group *g)
{
    struct arena *a = arena_new();
    json_t *program = json_array();
    for (uint16_t i = 0; i < g->n_instr; i++) {
        json_array_append_new(program, json_string(group_line(g, i, a)));
    }
    for (uint16_t i = 0; i < g->n_store; i++) {
        json_array_append_new(program, json_string(group_store_line(g, i, a)));
    }
    arena_free(a);
    return json_pack("{s:o, s:i, s:o}", "domain", sizes(g->dim, g->rank), "outer", g->outer, "program",
                     program);
}

static json_t *launch_json(const struct plan *p, const struct plan_op *op)
{
    const struct graph *g = p->graph;
    const struct node *n = graph_node(g, op->node);
    json_t *out = json_pack("{s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:I, s:I}", "op", op_table[op->op].name,
                            "part", part_name[op->part], "nodes", nodes_json(g, op), "scope",
                            text_or_null(g->scopes.at[n->scope]), "place", place_json(g, n->span), "in",
                            operands_json(op->k.in, op->k.n_in), "out", operands_json(op->k.out, op->k.n_out),
                            "work", (json_int_t)op->k.work, "work_bytes", (json_int_t)op->k.work_bytes);
    if (op->stop) {
        json_object_set_new(out, "stop", json_string(group_stop_name(op->stop)));
        json_object_set_new(out, "why", json_string(group_stop_text(op->stop)));
    }
    if (op->k.group) {
        json_object_set_new(out, "group", group_json(op->k.group));
    }
    return out;
}

static json_t *buffer_json(const struct plan_buffer *b)
{
    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:b, s:b}", "node", (json_int_t)b->node, "offset",
                     (json_int_t)b->offset, "bytes", (json_int_t)b->bytes, "first", (json_int_t)b->first,
                     "last", (json_int_t)b->last, "in_place", b->in_place, "to_end", b->to_end);
}

static json_t *named_json(const char *name, const struct operand *o)
{
    json_t *out = operand_json(o);
    json_object_set_new(out, "name", text_or_null(name));
    return out;
}

static json_t *variant_json(const struct plan *p, const struct plan_variant *v)
{
    const struct phase *f = &p->graph->phases.at[v->phase];
    json_t *launches = json_array(), *buffers = json_array(), *metrics = json_array(),
           *outputs = json_array();
    for (uint32_t i = 0; i < v->n_op; i++) {
        json_array_append_new(launches, launch_json(p, &v->op[i]));
    }
    for (uint32_t i = 0; i < v->n_buffer; i++) {
        json_array_append_new(buffers, buffer_json(&p->buffer[v->buffer0 + i]));
    }
    for (uint32_t i = 0; i < v->n_metric; i++) {
        json_array_append_new(metrics, named_json(v->metric[i].name, &v->metric[i].value));
    }
    for (uint32_t i = 0; i < v->n_output; i++) {
        json_array_append_new(outputs, named_json(f->outputs.at[i].name, &v->output[i]));
    }
    return json_pack("{s:o, s:I, s:b, s:I, s:I, s:o, s:I, s:o, s:o, s:o, s:o}", "phase",
                     text_or_null(f->name), "rows", (json_int_t)v->rows, "tail", v->is_tail, "planned_bytes",
                     (json_int_t)v->planned, "bound_bytes", (json_int_t)v->bound, "order",
                     text_or_null(v->order), "peak", (json_int_t)v->peak, "launches", launches, "buffers",
                     buffers, "metrics", metrics, "outputs", outputs);
}

static json_t *variables_json(const struct plan *p)
{
    static const char *const kind[] = {"param", "state", "data"};
    json_t *out = json_array();
    for (uint32_t i = 1; i < p->graph->vars.n; i++) {
        const struct var *v = &p->graph->vars.at[i];
        json_t *x = named_json(v->key, &p->var[i].view);
        json_object_set_new(x, "kind", json_string(kind[v->kind]));
        json_object_set_new(x, "bytes", json_integer((json_int_t)p->var[i].bytes));
        json_array_append_new(out, x);
    }
    return out;
}

static json_t *trees_json(const struct plan *p)
{
    json_t *out = json_array();
    for (uint32_t t = 0; t < p->graph->trees.n; t++) {
        json_array_append_new(
            out, json_pack("{s:o, s:I, s:I, s:I}", "name", text_or_null(p->graph->trees.at[t].name), "offset",
                           (json_int_t)p->tree_offset[t], "bytes", (json_int_t)p->tree_bytes[t], "elements",
                           (json_int_t)p->tree_elements[t]));
    }
    return out;
}

static json_t *gradients_json(const struct plan *p)
{
    json_t *out = json_array();
    for (uint32_t i = 0; i < p->n_gradient; i++) {
        json_array_append_new(out, json_pack("{s:I, s:I, s:I}", "tree", (json_int_t)p->gradient[i].tree,
                                             "offset", (json_int_t)p->gradient[i].offset, "bytes",
                                             (json_int_t)p->gradient[i].bytes));
    }
    return out;
}

static json_t *copies_json(const struct plan *p)
{
    json_t *out = json_array();
    for (uint32_t i = 0; i < p->n_copy; i++) {
        const struct plan_copy *c = &p->copy[i];
        json_array_append_new(out, json_pack("{s:I, s:I, s:I, s:I, s:o}", "variant", (json_int_t)c->variant,
                                             "launch", (json_int_t)c->op, "commit", (json_int_t)c->commit,
                                             "bytes", (json_int_t)c->bytes, "why", text_or_null(c->why)));
    }
    return out;
}

static json_t *dims_json(const struct plan *p)
{
    json_t *out = json_object();
    for (uint32_t i = 1; i < p->binding.n; i++) {
        const struct atom *a = &p->graph->dims.atoms.at[i];
        if (a->kind == ATOM_SYMBOL && p->binding.atom[i] >= 0) {
            json_object_set_new(out, a->name, json_integer(p->binding.atom[i]));
        }
    }
    return out;
}

void plan_json(const struct plan *p, FILE *out)
{
    json_t *variants = json_array();
    for (uint32_t i = 0; i < p->n_variant; i++) {
        json_array_append_new(variants, variant_json(p, &p->variant[i]));
    }
    json_t *arena =
        json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "bytes", (json_int_t)p->bytes, "device_bytes",
                  (json_int_t)p->device_bytes, "persistent_bytes", (json_int_t)p->persistent, "control",
                  (json_int_t)p->control, "planned_offset", (json_int_t)p->planned_offset, "workspace_offset",
                  (json_int_t)p->workspace_offset, "workspace_bytes", (json_int_t)p->workspace_bytes);
    json_t *root =
        json_pack("{s:i, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "format", FORMAT, "model",
                  text_or_null(p->graph->model), "target", text_or_null(p->target.name), "arena", arena,
                  "dims", dims_json(p), "variables", variables_json(p), "trees", trees_json(p), "gradients",
                  gradients_json(p), "variants", variants, "copies", copies_json(p));
    json_dumpf(root, out, JSON_INDENT(1));
    fputc('\n', out);
    json_decref(root);
}
