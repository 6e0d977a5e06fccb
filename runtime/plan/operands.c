/* Views: affine maps on operands. A view costs nothing unless a reshape does not fit the strides it meets,
 * which is reported to the caller as a copy to make.
 */
#include "runtime/plan/internal.h"

void make_contiguous(struct operand *o)
{
    int64_t stride = 1;
    for (int i = o->rank - 1; i >= 0; i--) {
        o->stride[i] = stride;
        stride *= o->dim[i] ? o->dim[i] : 1;
    }
}

/* The stride of an axis of size 1 says nothing; give it the one a contiguous tensor has, so that equal views
 * look equal. */
void normalize_strides(struct operand *o)
{
    for (int i = o->rank - 1; i >= 0; i--) {
        if (o->dim[i] <= 1) {
            o->stride[i] = i + 1 < o->rank ? o->stride[i + 1] * o->dim[i + 1] : 1;
        }
    }
    if (operand_is_contiguous(o)) {
        make_contiguous(o);
    }
}

bool place_is_whole(const struct variant_build *v, const struct place *p)
{
    return p->home == HOME_BUFFER && p->o.offset == 0 && operand_is_contiguous(&p->o) &&
           operand_bytes(&p->o) == v->buffers.at[p->index].bytes;
}

/* The operand without its axes of size 1. */
static struct operand squeeze(const struct operand *o)
{
    struct operand f;
    memset(&f, 0, sizeof f);
    for (int k = 0; k < o->rank; k++) {
        if (o->dim[k] != 1) {
            f.dim[f.rank] = o->dim[k];
            f.stride[f.rank++] = o->stride[k];
        }
    }
    return f;
}

static bool mergeable(const struct operand *f, int from, int end)
{
    for (int k = from; k + 1 < end; k++) {
        if (f->stride[k] != f->stride[k + 1] * f->dim[k + 1]) {
            return false;
        }
    }
    return true;
}

/* Strides of `to` over the elements of `from`, by matching runs of axes with equal products. False when a run
 * of `from` is not mergeable. Axes of size 1 of `to` get any stride. */
static bool reshape_strides(const struct operand *from, struct operand *to)
{
    if (operand_count(from) == 0 || operand_is_contiguous(from)) {
        make_contiguous(to);
        return true;
    }
    struct operand f = squeeze(from);
    int i = 0, j = 0;
    while (i < f.rank || j < to->rank) {
        int i0 = i, j0 = j;
        int64_t a = i < f.rank ? f.dim[i++] : 1, b = j < to->rank ? to->dim[j++] : 1;
        while (a != b && (a < b ? i < f.rank : j < to->rank)) {
            if (a < b) {
                a *= f.dim[i++];
            } else {
                b *= to->dim[j++];
            }
        }
        if (a != b || !mergeable(&f, i0, i)) {
            return false;
        }
        int64_t stride = i > i0 ? f.stride[i - 1] : 1;
        for (int k = j - 1; k >= j0; k--) {
            to->stride[k] = stride;
            stride *= to->dim[k];
        }
    }
    return true;
}

static enum status misfit(struct variant_build *v, uint32_t node, const struct operand *from,
                          const struct operand *to, const char *what)
{
    const char *a = sizes_text(v->b->scratch, "", from->rank, from->dim),
               *b = sizes_text(v->b->scratch, "", to->rank, to->dim);
    enum status st = diag_emit(v->b->sink, DIAG_E3106, graph_node(v->b->g, node)->span,
                               "%s: %s does not fit %s with the sizes of this run", what, a, b);
    diag_help(v->b->sink, "change one of the sizes these come from");
    return st;
}
enum status check_box(struct variant_build *v, uint32_t node, int axis, int64_t start, int64_t step,
                      int64_t size, int64_t whole)
{
    int64_t last;
    if (!__builtin_mul_overflow(size - 1, step, &last) && !__builtin_add_overflow(last, start, &last) &&
        start < whole && last >= 0 && last < whole) {
        return ST_OK;
    }
    enum status st = diag_emit(
        v->b->sink, DIAG_E3106, graph_node(v->b->g, node)->span,
        "axis %d: %lld element%s from place %lld on by steps of %lld, but there are %lld with "
        "the sizes of this run",
        axis, (long long)size, size == 1 ? "" : "s", (long long)start, (long long)step, (long long)whole);
    diag_help(v->b->sink, "change one of the sizes these come from");
    return st;
}

static enum status resolve_slice(struct variant_build *v, uint32_t node, const struct place *in,
                                 struct place *out)
{
    const struct graph *g = v->b->g;
    const struct node *n = graph_node(g, node);
    bool empty = operand_count(&out->o) == 0;
    int64_t offset = 0;
    for (int i = 0; i < n->rank; i++) {
        int64_t step = node_attrs(g, n)[i], start;
        TRY(bind_dim(v->b, &v->binding, node_dims(g, n)[i], n->span, "start of a slice", &start));
        if (!empty) {
            TRY(check_box(v, node, i, start, step, out->o.dim[i], in->o.dim[i]));
        }
        out->o.stride[i] = in->o.stride[i] * step;
        offset += empty ? 0 : start * in->o.stride[i];
    }
    out->o.offset = (uint64_t)((int64_t)in->o.offset + offset * (int64_t)dtype_size(in->o.dtype));
    return ST_OK;
}

static enum status resolve_leaf(struct variant_build *v, uint32_t node, const struct place *in,
                                struct place *out, bool *needs_copy)
{
    const struct graph *g = v->b->g;
    uint32_t tree, leaf = (uint32_t)node_attrs(g, graph_node(g, node))[0];
    const struct node *source = graph_node(g, node_inputs(g, graph_node(g, node))[0]);
    int all = source->rank - 1; /* axes in front: of replicas, or none */
    if (!dim_is_tree(&g->dims, node_shape(g, source)[all], &tree)) {
        return diag_emit(v->b->sink, DIAG_I0001, graph_node(g, node)->span,
                         "a leaf of what is no flat block (node %u)", node);
    }
    struct operand box = in->o;
    box.dim[all] = 1;
    for (int i = all; i < out->o.rank; i++) {
        box.dim[all] *= out->o.dim[i];
    }
    out->o.offset = in->o.offset + (uint64_t)((int64_t)v->b->p->leaf_start[tree][leaf] * in->o.stride[all] *
                                              (int64_t)dtype_size(in->o.dtype));
    *needs_copy = !reshape_strides(&box, &out->o);
    return ST_OK;
}

enum status resolve_view(struct variant_build *v, uint32_t node, const struct operand *shape,
                         const struct place *in, struct place *out, bool *needs_copy)
{
    const struct graph *g = v->b->g;
    const struct node *n = graph_node(g, node);
    *needs_copy = false;
    *out = (struct place){.home = in->home, .index = in->index, .o = *shape};
    out->o.offset = in->o.offset;
    switch (n->op) {
    case OP_reshape:
        if (operand_count(&in->o) != operand_count(&out->o)) {
            return misfit(v, node, &in->o, &out->o, "reshape");
        }
        *needs_copy = !reshape_strides(&in->o, &out->o);
        break;
    case OP_permute:
        for (int i = 0; i < n->rank; i++) {
            out->o.stride[i] = in->o.stride[node_attrs(g, n)[i]];
        }
        break;
    case OP_expand:
        for (int i = 0; i < n->rank; i++) {
            if (in->o.dim[i] != out->o.dim[i] && in->o.dim[i] != 1) {
                return misfit(v, node, &in->o, &out->o, "expand");
            }
            out->o.stride[i] = in->o.dim[i] == out->o.dim[i] ? in->o.stride[i] : 0;
        }
        break;
    case OP_slice:
        TRY(resolve_slice(v, node, in, out));
        break;
    case OP_leaf:
        TRY(resolve_leaf(v, node, in, out, needs_copy));
        break;
    default: /* stop_grad */
        out->o = in->o;
        break;
    }
    normalize_strides(&out->o);
    return ST_OK;
}

/* The factor is a pile of matrices with one stride between them; each has rows or columns next to each other.
 */
static bool matrix_fits(const struct operand *o)
{
    if (o->rank < 2 || operand_count(o) == 0) {
        return operand_is_contiguous(o);
    }
    int r = o->rank - 2, c = o->rank - 1;
    bool plain = o->stride[c] == 1 && o->stride[r] >= o->dim[c];
    bool transposed = o->stride[r] == 1 && o->stride[c] >= o->dim[r];
    for (int i = 0; i + 1 < r; i++) {
        if (o->dim[i] != 1 && o->stride[i] != o->stride[i + 1] * o->dim[i + 1]) {
            return false;
        }
    }
    for (int i = 0; i < r; i++) {
        if (o->stride[i] < 0) {
            return false;
        }
    }
    return plain || transposed;
}

/* Which operands take any strides; the kernels rely on it (plan.h). */
bool strides_fit(enum op op, uint32_t input, const struct operand *o)
{
    enum op_kind kind = op_table[op].kind;
    unsigned flags = op_table[op].flags;
    if (kind == OPK_ELEM || kind == OPK_REDUCE || op == OP_copy || op == OP_loop_in ||
        (flags & OPF_ANY_INDEX && input == 1)) {
        return true;
    }
    return flags & OPF_LIBRARY ? matrix_fits(o) : operand_is_contiguous(o);
}
