/* What outlives a tick: constants, parameter trees, states, gradient blocks, control block, data sets. Each
 * is a storage; their offsets are known only when all variants are drafted, since constants and gradient
 * blocks come up on the way.
 */
#include "runtime/plan/internal.h"

bool var_is_raw(const struct var *v)
{
    size_t n = strlen(v->key);
    return v->kind == VAR_DATA && n > 4 && !strcmp(v->key + n - 4, "#raw");
}

static uint32_t push_storage(struct builder *b, enum storage_kind kind, uint32_t index, uint64_t bytes)
{
    vec_push(b->scratch, &b->storages, ((struct storage){kind, index, bytes, 0}));
    return b->storages.n - 1;
}

static enum status place_variable(struct builder *b, uint32_t i)
{
    const struct var *v = &b->g->vars.at[i];
    struct operand *o = &b->var_view[i];
    b->var_storage[i] = NONE;
    TRY(bind_shape(b, &b->p->binding, v->type.dtype, v->type.rank, v->type.dim, v->span, v->key, o));
    if (var_is_raw(v)) {
        return ST_OK;
    }
    if (v->kind == VAR_PARAM && v->tree) {
        b->var_storage[i] = b->tree_storage[v->tree - 1];
        b->var_offset[i] = b->p->leaf_start[v->tree - 1][v->leaf] * dtype_size(v->type.dtype);
        return ST_OK;
    }
    b->var_storage[i] = push_storage(b, v->kind == VAR_DATA ? STORE_DATA : STORE_STATE, i, operand_bytes(o));
    return ST_OK;
}

enum status persistent_build(struct builder *b)
{
    const struct graph *g = b->g;
    push_storage(b, STORE_CONSTANTS, 0, 0);
    push_storage(b, STORE_CONTROL, 0, sizeof(struct control));
    b->tree_storage = arena_array(b->scratch, uint32_t, g->trees.n);
    b->var_storage = arena_array(b->scratch, uint32_t, g->vars.n);
    b->var_offset = arena_array(b->scratch, uint64_t, g->vars.n);
    b->var_view = arena_array(b->scratch, struct operand, g->vars.n);
    for (uint32_t t = 0; t < g->trees.n; t++) {
        const struct tree *tree = &g->trees.at[t];
        enum dtype type = tree->n_leaf ? g->vars.at[tree->leaf[0]].type.dtype : DT_F32;
        b->tree_storage[t] = push_storage(b, STORE_TREE, t,
                                          (uint64_t)b->p->tree_elements[t] * dtype_size(type) *
                                              (g->replicas ? g->replicas : 1));
    }
    for (uint32_t i = 1; i < g->vars.n; i++) {
        TRY(place_variable(b, i));
    }
    return ST_OK;
}

static uint64_t constant_hash(uint64_t bits, uint32_t t)
{
    uint64_t h = (bits ^ t) * 0x9e3779b97f4a7c15u;
    return h ^ (h >> 29);
}

static void constant_insert(struct builder *b, uint32_t at)
{
    const struct plan_constant *c = &b->constants.at[at];
    uint64_t bits = (uint64_t)f64_bits(c->value), h = constant_hash(bits, c->dtype);
    while (b->constant_index[h & (b->n_constant_index - 1)].at) {
        h++;
    }
    b->constant_index[h & (b->n_constant_index - 1)] = (struct constant_key){bits, c->dtype, at + 1};
}

/* Doubles the index while it is half full; rows of ranges tables are indexed too, which does no harm. */
static void constant_grow(struct builder *b)
{
    if (b->n_constant_index > 2 * b->constants.n) {
        return;
    }
    b->n_constant_index = b->n_constant_index ? 2 * b->n_constant_index : 64;
    while (b->n_constant_index <= 2 * b->constants.n) {
        b->n_constant_index *= 2;
    }
    b->constant_index = arena_array(b->scratch, struct constant_key, b->n_constant_index);
    for (uint32_t i = 0; i < b->constants.n; i++) {
        constant_insert(b, i);
    }
}

static struct place constant_at(uint32_t at, enum dtype t)
{
    return (struct place){.home = HOME_STORAGE,
                          .index = CONSTANTS_STORAGE,
                          .o = {.offset = 8 * (uint64_t)at, .dtype = (uint8_t)t}};
}

static void push_constant(struct builder *b, enum dtype t, double value)
{
    struct plan_constant c = {8 * (uint64_t)b->constants.n, value, (uint8_t)t};
    vec_push(b->arena, &b->constants, c);
}

struct place constant_place(struct builder *b, enum dtype t, double value)
{
    constant_grow(b);
    uint64_t bits = (uint64_t)f64_bits(value);
    for (uint64_t h = constant_hash(bits, t);; h++) {
        const struct constant_key *k = &b->constant_index[h & (b->n_constant_index - 1)];
        if (!k->at) {
            break;
        }
        if (k->bits == bits && k->dtype == t) {
            return constant_at(k->at - 1, t);
        }
    }
    push_constant(b, t, value);
    constant_insert(b, b->constants.n - 1);
    return constant_at(b->constants.n - 1, t);
}

struct place ranges_table(struct builder *b, const struct node *n)
{
    const int64_t *attr = node_attrs(b->g, n);
    uint32_t tree = (uint32_t)attr[0], rows = 0;
    struct place p = constant_at(b->constants.n, DT_F64);
    const uint64_t *start = b->p->leaf_start[tree];
    for (uint32_t i = 2; i + 1 < n->n_attr; i += 2, rows++) {
        uint32_t leaf = (uint32_t)attr[i];
        double row[3] = {(double)start[leaf],
                         (double)operand_count(&b->var_view[b->g->trees.at[tree].leaf[leaf]]),
                         bits_f64(attr[i + 1])};
        for (int k = 0; k < 3; k++) {
            push_constant(b, DT_F64, row[k]);
        }
    }
    p.o.rank = 2;
    p.o.dim[0] = rows;
    p.o.dim[1] = 3;
    make_contiguous(&p.o);
    return p;
}

struct place variable_place(struct builder *b, uint32_t var)
{
    struct place p = {.home = HOME_STORAGE, .index = b->var_storage[var], .o = b->var_view[var]};
    p.o.offset = b->var_offset[var];
    return p;
}

struct place tree_place(struct builder *b, uint32_t tree, const struct operand *shape)
{
    return (struct place){.home = HOME_STORAGE, .index = b->tree_storage[tree], .o = *shape};
}

uint32_t gradient_block(struct builder *b, uint32_t tree, uint32_t ordinal, uint64_t bytes)
{
    for (uint32_t i = 0; i < b->storages.n; i++) {
        const struct storage *s = &b->storages.at[i];
        if (s->kind == STORE_GRADIENT && b->gradients.at[s->index].tree == tree &&
            b->gradients.at[s->index].ordinal == ordinal) {
            return i;
        }
    }
    vec_push(b->arena, &b->gradients, ((struct plan_gradient){0, bytes, tree, ordinal}));
    return push_storage(b, STORE_GRADIENT, b->gradients.n - 1, bytes);
}

void persistent_layout(struct builder *b)
{
    struct plan *p = b->p;
    const struct graph *g = b->g;
    uint64_t at = 0, gap = b->o->no_reuse ? PLAN_RED_ZONE : 0;
    b->storages.at[CONSTANTS_STORAGE].bytes = 8 * (uint64_t)b->constants.n;
    for (enum storage_kind k = 0; k < STORE_KINDS; k++) {
        for (uint32_t i = 0; i < b->storages.n; i++) {
            struct storage *s = &b->storages.at[i];
            if (s->kind == k) {
                s->offset = at;
                at = round_up(at + s->bytes, PLAN_ALIGN) + gap;
            }
        }
    }
    p->persistent = at;
    p->control = b->storages.at[CONTROL_STORAGE].offset;
    for (uint32_t i = 0; i < b->constants.n; i++) {
        b->constants.at[i].offset += b->storages.at[CONSTANTS_STORAGE].offset;
    }
    for (uint32_t i = 0; i < b->storages.n; i++) {
        if (b->storages.at[i].kind == STORE_GRADIENT) {
            b->gradients.at[b->storages.at[i].index].offset = b->storages.at[i].offset;
        }
    }
    p->tree_offset = arena_array(b->arena, uint64_t, g->trees.n);
    p->tree_bytes = arena_array(b->arena, uint64_t, g->trees.n);
    for (uint32_t t = 0; t < g->trees.n; t++) {
        p->tree_offset[t] = b->storages.at[b->tree_storage[t]].offset;
        p->tree_bytes[t] = b->storages.at[b->tree_storage[t]].bytes;
    }
    p->var = arena_array(b->arena, struct plan_var, g->vars.n);
    for (uint32_t i = 1; i < g->vars.n; i++) {
        if (b->var_storage[i] == NONE) {
            continue; /* raw rows: emit.c knows their buffer */
        }
        struct operand o = b->var_view[i];
        o.offset = b->storages.at[b->var_storage[i]].offset + b->var_offset[i];
        p->var[i] = (struct plan_var){o.offset, operand_bytes(&o), o};
    }
}
