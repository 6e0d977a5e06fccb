/* What must be somewhere at the end of a tick: gradients in their slots, outputs and metrics in contiguous
 * memory, commits in their variables.
 *
 * Commits take effect at the end: all reads of the phase see old values. The launch that makes a new value
 * may still write straight into the variable when every launch that reads the old bytes comes before it, or
 * is itself, element by element. Otherwise the value is copied at the end (plan.copy). A value that is itself
 * an old value of another committed variable is saved first, so end copies never read what another one wrote.
 */
#include "runtime/plan/internal.h"

/* Of the launches so far: parts never go back. */
static enum part last_part(const struct variant_build *v)
{
    return v->drafts.n ? v->drafts.at[v->drafts.n - 1].part : PART_FORWARD;
}

static void move_buffer(struct variant_build *v, uint32_t buffer, const struct place *to)
{
    for (uint32_t i = 0; i < v->buffers.n; i++) {
        if (i == buffer || (v->buffers.at[i].carried && v->buffers.at[i].root == buffer)) {
            v->buffers.at[i].storage = to->index;
            v->buffers.at[i].storage_offset = to->o.offset;
        }
    }
}

/* The buffer whose only purpose can become storage: produced whole by a launch, not moved yet, not written by
 * the data loader. */
static bool can_move(const struct variant_build *v, const struct place *p)
{
    return place_is_whole(v, p) && v->buffers.at[p->index].storage == NONE &&
           !v->buffers.at[p->index].raw_var;
}

/* The leaves of all replicas into their blocks. */
static void pack_launch(struct variant_build *v, uint32_t node, const struct place *block, enum part part)
{
    const struct node *n = graph_node(v->b->g, node);
    struct draft d = {.op = OP_pack, .node = node, .part = part, .n_in = n->n_in, .out = *block};
    d.in = arena_array(v->b->scratch, struct place, n->n_in);
    for (uint32_t i = 0; i < n->n_in; i++) {
        uint32_t leaf = node_inputs(v->b->g, n)[i];
        struct place from = v->value[v->slot[leaf] - 1];
        d.in[i] = operand_is_contiguous(&from.o) ? from : contiguous_copy(v, leaf, &from, part);
    }
    vec_push(v->b->scratch, &v->drafts, d);
    v->value[v->slot[node] - 1] = *block;
}

void pack_slots(struct variant_build *v, uint32_t node, const struct operand *shape, enum part part)
{
    struct builder *b = v->b;
    const struct node *n = graph_node(b->g, node);
    uint32_t tree = (uint32_t)node_attrs(b->g, n)[0];
    if (!v->pack_seen) {
        v->pack_seen = arena_array(b->scratch, uint32_t, b->g->trees.n);
    }
    struct place block = {.home = HOME_STORAGE,
                          .index = gradient_block(b, tree, v->pack_seen[tree]++, operand_bytes(shape)),
                          .o = *shape};
    if (n->rank == 2) { /* of replicas: leaves lie in parts of the block, one launch brings them there */
        pack_launch(v, node, &block, part);
        return;
    }
    for (uint32_t i = 0; i < n->n_in; i++) {
        uint32_t leaf = node_inputs(b->g, n)[i];
        struct place from = v->value[v->slot[leaf] - 1],
                     to = {.home = HOME_STORAGE, .index = block.index, .o = from.o};
        to.o.offset = b->p->leaf_start[tree][i] * dtype_size((enum dtype)n->dtype);
        make_contiguous(&to.o);
        if (can_move(v, &from)) {
            move_buffer(v, from.index, &to);
        } else {
            copy_into(v, leaf, &from, &to, part);
        }
    }
    v->value[v->slot[node] - 1] = block;
}

/* Byte ranges of the commits of the phase. */
struct target_range {
    struct place place;
    uint64_t bytes;
};
static bool ranges_meet(uint64_t a, uint64_t an, uint64_t b, uint64_t bn)
{
    return a < b + bn && b < a + an;
}

/* Bytes from the start of the home that an operand may touch. */
static void place_extent(const struct place *p, uint64_t *from, uint64_t *bytes)
{
    int64_t lo = 0, hi = 0, size = (int64_t)dtype_size(p->o.dtype);
    *from = p->o.offset;
    *bytes = 0;
    if (operand_count(&p->o) == 0) {
        return;
    }
    for (int i = 0; i < p->o.rank; i++) {
        int64_t reach = (p->o.dim[i] - 1) * p->o.stride[i];
        *(reach < 0 ? &lo : &hi) += reach;
    }
    *from = (uint64_t)((int64_t)p->o.offset + lo * size);
    *bytes = (uint64_t)((hi - lo + 1) * size);
}

static bool place_meets(const struct place *p, const struct target_range *t)
{
    uint64_t from, bytes;
    if (p->home != HOME_STORAGE || p->index != t->place.index) {
        return false;
    }
    place_extent(p, &from, &bytes);
    return bytes && ranges_meet(from, bytes, t->place.o.offset, t->bytes);
}

static bool reads_committed(const struct place *p, const struct target_range *t, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        if (place_meets(p, &t[i])) {
            return true;
        }
    }
    return false;
}

static bool same_elements(const struct place *p, const struct target_range *t)
{
    return p->home == HOME_STORAGE && p->index == t->place.index && p->o.offset == t->place.o.offset &&
           operand_is_contiguous(&p->o) && operand_bytes(&p->o) == t->bytes && p->o.dtype == t->place.o.dtype;
}

/* NULL when the launch that makes `value` may write into t; else the reason. */
static const char *why_not_in_place(const struct variant_build *v, const struct place *value,
                                    const struct target_range *t)
{
    if (!can_move(v, value)) {
        if (value->home == HOME_BUFFER && v->buffers.at[value->index].raw_var) {
            return "its value is the raw rows themselves";
        }
        return value->home == HOME_BUFFER && place_is_whole(v, value)
                   ? "its value is kept in another place too"
                   : "its value is a view, a constant or another variable";
    }
    uint32_t maker = v->buffers.at[value->index].first;
    for (uint32_t j = maker; j < v->drafts.n; j++) {
        const struct draft *d = &v->drafts.at[j];
        for (uint32_t i = 0; i < d->n_in; i++) {
            if (place_meets(&d->in[i], t) &&
                !(j == maker && op_writes_over(d->op, i) && same_elements(&d->in[i], t))) {
                return j == maker ? "the launch that makes it reads other elements of the old value"
                                  : "the old value is read later";
            }
        }
    }
    return NULL;
}

/* Whether a launch reads the buffer other than as the first operand of launch `j`. */
static bool read_after(const struct variant_build *v, uint32_t buffer, uint32_t j)
{
    for (uint32_t k = j; k < v->drafts.n; k++) {
        const struct draft *d = &v->drafts.at[k];
        for (uint32_t i = k == j; i < d->n_in; i++) {
            if (d->in[i].home == HOME_BUFFER && d->in[i].index == buffer) {
                return true;
            }
        }
    }
    return false;
}

/* A place that holds the value contiguously at the end of the tick. */
static struct place materialize(struct variant_build *v, uint32_t node, const struct target_range *t,
                                uint32_t n)
{
    struct place p = v->value[v->slot[node] - 1];
    if (!operand_is_contiguous(&p.o) || reads_committed(&p, t, n)) {
        p = copy_out(v, node, &p, last_part(v));
    }
    if (p.home == HOME_BUFFER) {
        v->buffers.at[p.index].pinned = true;
    }
    return p;
}

static void keep_results(struct variant_build *v, const struct target_range *t, uint32_t n)
{
    struct arena *a = v->b->scratch;
    const struct phase *f = &v->b->g->phases.at[v->phase];
    v->metric = arena_array(a, struct place, f->metrics.n);
    v->output = arena_array(a, struct place, f->outputs.n);
    v->assert_value = arena_array(a, struct place, f->asserts.n);
    for (uint32_t i = 0; i < f->metrics.n; i++) {
        v->metric[i] = materialize(v, f->metrics.at[i].value, t, n);
    }
    for (uint32_t i = 0; i < f->outputs.n; i++) {
        v->output[i] = materialize(v, f->outputs.at[i].value, t, n);
    }
    for (uint32_t i = 0; i < f->asserts.n; i++) {
        v->assert_value[i] = materialize(v, f->asserts.at[i].value, t, n);
    }
    if (f->ok) {
        v->ok = materialize(v, f->ok, t, n);
    }
}

static const char *target_name(const struct graph *g, const struct commit *c)
{
    return c->tree ? g->trees.at[c->tree - 1].name : g->vars.at[c->var].key;
}

/* Where a commit goes; its value must have exactly that many elements of that type. */
static enum status commit_target(struct variant_build *v, const struct commit *c, struct target_range *t)
{
    struct builder *b = v->b;
    const struct node *n = graph_node(b->g, commit_node(b->g, c));
    struct operand o;
    TRY(bind_shape(b, &v->binding, (enum dtype)n->dtype, n->rank, node_shape(b->g, n), c->span, "next", &o));
    if (c->guard) {
        return diag_emit(b->sink, DIAG_I0001, c->span,
                         "a guarded commit that the guard pass did not resolve");
    }
    if (!c->tree && b->var_storage[c->var] == NONE) {
        return diag_emit(b->sink, DIAG_I0001, c->span, "a commit to raw rows `%s`", target_name(b->g, c));
    }
    t->bytes = operand_bytes(&o);
    t->place = c->tree ? tree_place(b, c->tree - 1, &o) : variable_place(b, c->var);
    uint64_t room = c->tree ? b->storages.at[t->place.index].bytes : operand_bytes(&b->var_view[c->var]);
    if (room != t->bytes || t->place.o.dtype != o.dtype) {
        return diag_emit(
            b->sink, DIAG_E3106, c->span,
            "`next` of `%s`: %lld elements of %s (%llu bytes) for %llu bytes with the sizes of this run",
            target_name(b->g, c), (long long)operand_count(&o), dtype_name((enum dtype)o.dtype),
            (unsigned long long)t->bytes, (unsigned long long)room);
    }
    o.offset = t->place.o.offset;
    t->place.o = o; /* in the shape of the value */
    return ST_OK;
}

struct commit_work {
    struct target_range *target; /* by commit of the phase */
    struct place *saved;         /* by commit: a copy of the value made before any variable changes */
};

static void record_copy(struct variant_build *v, uint32_t commit, uint64_t bytes, const char *why)
{
    struct plan_copy c = {v->index, v->drafts.n - 1, commit, bytes, why};
    vec_push(v->b->arena, &v->b->copies, c);
}

enum status roots_save(struct variant_build *v, struct commit_work **out)
{
    const struct phase *f = &v->b->g->phases.at[v->phase];
    uint32_t n = f->commits.n;
    struct commit_work *w = *out = arena_new_of(v->b->scratch, struct commit_work);
    struct target_range *t = w->target = arena_array(v->b->scratch, struct target_range, n);
    w->saved = arena_array(v->b->scratch, struct place, n);
    for (uint32_t i = 0; i < n; i++) {
        TRY(commit_target(v, &f->commits.at[i], &t[i]));
        for (uint32_t k = 0; k < i; k++) {
            if (place_meets(&t[k].place, &t[i])) {
                return diag_emit(v->b->sink, DIAG_I0001, f->commits.at[i].span,
                                 "two commits to the same place in one tick");
            }
        }
    }
    keep_results(v, t, n);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t node = commit_node(v->b->g, &f->commits.at[i]);
        struct place p =
            v->slot[node] > v->n_plain ? (struct place){.home = HOME_NONE} : v->value[v->slot[node] - 1];
        if (!same_elements(&p, &t[i]) && reads_committed(&p, t, n)) {
            w->saved[i] = copy_out(v, node, &p, last_part(v));
            record_copy(v, i, t[i].bytes, "its value is the old value of a variable that changes too");
        }
    }
    return ST_OK;
}

/* Launches that write some rows of what the one before them wrote: all of them write into the variable. */
static void move_chain(struct variant_build *v, uint32_t buffer, const struct target_range *t)
{
    for (;;) {
        const struct draft *d = &v->drafts.at[v->buffers.at[buffer].first];
        if (!(op_table[d->op].flags & OPF_ROWS) || d->in[0].home != HOME_BUFFER ||
            operand_bytes(&d->in[0].o) != t->bytes || why_not_in_place(v, &d->in[0], t) ||
            v->buffers.at[d->in[0].index].pinned ||
            read_after(v, d->in[0].index, v->buffers.at[buffer].first)) {
            return;
        }
        buffer = d->in[0].index;
        move_buffer(v, buffer, &t->place);
    }
}
void roots_commit(struct variant_build *v, struct commit_work *w)
{
    const struct phase *f = &v->b->g->phases.at[v->phase];
    const char **why = arena_array(v->b->scratch, const char *, f->commits.n);
    struct place *value = arena_array(v->b->scratch, struct place, f->commits.n);
    for (uint32_t i = 0; i < f->commits.n; i++) {
        value[i] =
            w->saved[i].home ? w->saved[i] : v->value[v->slot[commit_node(v->b->g, &f->commits.at[i])] - 1];
        if (!same_elements(&value[i], &w->target[i])) {
            why[i] = why_not_in_place(v, &value[i], &w->target[i]);
            if (!why[i]) {
                move_buffer(v, value[i].index, &w->target[i].place);
                move_chain(v, value[i].index, &w->target[i]);
            }
        }
    }
    for (uint32_t i = 0; i < f->commits.n; i++) {
        if (why[i]) {
            copy_into(v, commit_node(v->b->g, &f->commits.at[i]), &value[i], &w->target[i].place,
                      last_part(v));
            record_copy(v, i, w->target[i].bytes, why[i]);
        }
    }
}
