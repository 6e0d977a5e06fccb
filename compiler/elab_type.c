/* Written types: as values, and matched against values. A bare name in an argument type that nothing in the
 * layer or fn declares is bound by the value it meets (language-rules 3.3).
 */
#include "compiler/elab.h"

/* -- types as values */

static struct ttype *new_type(struct elab *e, enum tkind k)
{
    struct ttype *t = arena_new_of(e->arena, struct ttype);
    t->kind = k;
    return t;
}
static struct ttype *tensor_ttype(struct elab *e, enum dtype d)
{
    struct ttype *t = new_type(e, T_TENSOR);
    t->t.dtype = d;
    return t;
}
struct ttype *type_of(struct elab *e, struct value v)
{
    struct ttype *t;
    switch ((enum vkind)v.kind) {
    case V_NUM:
        return tensor_ttype(e, v.is_int ? DT_I32 : DT_F32);
    case V_DIM:
        return tensor_ttype(e, DT_I32);
    case V_BOOL:
        return tensor_ttype(e, DT_BOOL);
    case V_TYPE:
        return v.type;
    case V_INST:
        return type_of(e, instance_params(e, v.inst, NO_SPAN));
    case V_TENSOR:
        t = new_type(e, T_TENSOR);
        t->t = tensor_type(e, v);
        t->unit = v.unit;
        return t;
    case V_TREE:
        t = new_type(e, T_TREE);
        t->tree = v.tree;
        return t;
    case V_VAR: {
        const struct var *var = &e->g->vars.at[v.index];
        bool tree = var->kind == VAR_STATE && var->tree;
        t = new_type(e, tree ? T_TREE : T_TENSOR);
        t->tree = tree ? var->tree - 1 : 0;
        t->t = var->type;
        t->unit = v.unit;
        return t;
    }
    case V_BUILTIN:
        return dtype_parse(v.builtin->name) ? tensor_ttype(e, dtype_parse(v.builtin->name)) : NULL;
    case V_RECORD:
        t = new_type(e, T_RECORD);
        t->n = v.record->n;
        t->name = v.record->name;
        t->at = arena_array(e->arena, struct ttype *, t->n ? t->n : 1);
        for (uint32_t i = 0; i < t->n; i++) {
            t->at[i] = type_of(e, v.record->at[i]);
            if (!t->at[i]) {
                return NULL;
            }
        }
        return t;
    default:
        return NULL;
    }
}
struct ttype *type_lead(struct elab *e, struct ttype *t, int n, const dim *d, uint32_t unit)
{
    struct ttype *r = new_type(e, t->kind);
    *r = *t;
    if (t->kind == T_RECORD) {
        r->at = arena_array(e->arena, struct ttype *, t->n ? t->n : 1);
        for (uint32_t i = 0; i < t->n; i++) {
            r->at[i] = type_lead(e, t->at[i], n, d, unit);
            if (!r->at[i]) {
                return NULL;
            }
        }
        return r;
    }
    if (t->kind != T_TENSOR || t->t.rank + n > LIMIT_RANK) {
        return NULL;
    }
    r->t.rank = t->t.rank + n;
    r->unit = unit | t->unit << n;
    for (int i = 0; i < r->t.rank; i++) {
        r->t.dim[i] = i < n ? d[i] : t->t.dim[i - n];
    }
    return r;
}
const char *ttype_text(struct elab *e, const struct ttype *t)
{
    static const char *const simple[] = {
        [T_INT] = "int", [T_FLOAT] = "float", [T_DIM] = "dim", [T_STR] = "str", [T_ANY] = "anything"};
    if (t->kind == T_TENSOR) {
        return type_text(e->g, &t->t);
    }
    if (t->kind == T_TREE) {
        return arena_printf(e->arena, "the tree %s", e->trees.at[t->tree].name);
    }
    if (t->kind != T_RECORD) {
        return simple[t->kind];
    }
    struct text x = {.arena = e->arena};
    text_printf(&x, "(");
    for (uint32_t i = 0; i < t->n; i++) {
        text_printf(&x, "%s%s: %s", i ? ", " : "", t->name[i], ttype_text(e, t->at[i]));
    }
    text_printf(&x, ")");
    return x.at;
}

/* -- evaluating */

/* The value behind a name in the place of a type. Of a state only the type counts: it is not read, so that it
 * may stand where it has no value yet. */
static struct value type_name_value(struct elab *e, struct env *env, const char *name, struct span at)
{
    bool closed;
    struct slot *s = env_find(env, name, &closed);
    return s && s->kind == SLOT_VAR && !closed ? s->v : name_value(e, env, name, at);
}
static struct ttype *named_type(struct elab *e, struct ast *t, struct env *env)
{
    static const struct {
        const char *name;
        enum tkind kind;
    } words[] = {{"int", T_INT}, {"float", T_FLOAT}, {"dim", T_DIM}, {"str", T_STR}};
    if (dtype_parse(t->name)) {
        return tensor_ttype(e, dtype_parse(t->name));
    }
    const char *rest = t->name, *dot = strchr(rest, '.');
    const char *first = intern_n(e->names, rest, dot ? (size_t)(dot - rest) : strlen(rest));
    bool closed;
    if (!env_find(env, first, &closed)) {
        for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
            if (!strcmp(t->name, words[i].name)) {
                return new_type(e, words[i].kind);
            }
        }
    }
    struct value v = type_name_value(e, env, first, t->span);
    while (dot && v.kind != V_POISON) {
        rest = dot + 1;
        dot = strchr(rest, '.');
        v = member(e, v, intern_n(e->names, rest, dot ? (size_t)(dot - rest) : strlen(rest)), t->span,
                   t->span);
    }
    v = v.kind == V_INST ? instance_params(e, v.inst, t->span) : v;
    struct ttype *r = v.kind == V_POISON ? NULL : type_of(e, v);
    if (!r && v.kind != V_POISON) {
        fail(e, DIAG_E2023, t->span, "`%s` in the place of a type: %s has no type", t->name,
             value_text(e, v));
        diag_help(e->sink, "a type is f32[..], a record of types, or the name of a tensor or record");
    }
    return r;
}
static struct ttype *record_type(struct elab *e, struct ast *t, struct env *env)
{
    struct ttype *r = new_type(e, T_RECORD);
    r->n = t->list.n;
    r->name = arena_array(e->arena, const char *, r->n ? r->n : 1);
    r->at = arena_array(e->arena, struct ttype *, r->n ? r->n : 1);
    for (uint32_t i = 0; i < r->n; i++) {
        r->name[i] = t->list.at[i]->name;
        r->at[i] = eval_type(e, t->list.at[i]->type, env);
        if (!r->at[i]) {
            return NULL;
        }
    }
    return r;
}
/* Axes written in brackets; `..S` adds those bound to it. */
static bool unbound_rest(struct elab *e, struct ast *a, const char *key)
{
    fail(e, DIAG_E2023, a->span, "`%s` is bound by no argument", key);
    diag_help(e->sink, "an argument binds it: x: f32[%s]", key);
    return false;
}
static bool eval_dims(struct elab *e, struct ast *const *at, uint32_t n, struct env *env, int *rank, dim *d,
                      uint32_t *unit)
{
    *rank = 0;
    *unit = 0;
    for (uint32_t i = 0; i < n; i++) {
        dim one[LIMIT_RANK];
        int k = 1;
        if (at[i]->kind == AST_REST) {
            bool closed;
            const char *key = at[i]->name ? arena_printf(e->arena, "..%s", at[i]->name) : "..";
            struct slot *s = env_find(env, key, &closed);
            if (!s) {
                return unbound_rest(e, at[i], key);
            }
            if (!want_shape(e, s->v, at[i]->span, key, &k, one)) {
                return false;
            }
        } else if (!want_size(e, eval(e, at[i], env), at[i]->span, "an axis of a type", &one[0])) {
            return false;
        }
        if (*rank + k > LIMIT_RANK) {
            fail(e, DIAG_E2003, at[i]->span, "a type has at most %d axes", LIMIT_RANK);
            diag_help(e->sink, "merge some of them: f32[A * B, C]");
            return false;
        }
        for (int j = 0; j < k; j++) {
            *unit |= at[i]->kind == AST_NUM && at[i]->num == 1 ? 1u << *rank : 0; /* only a written 1 */
            d[(*rank)++] = one[j];
        }
    }
    return true;
}
struct ttype *eval_type(struct elab *e, struct ast *t, struct env *env)
{
    if (t->kind == AST_TYPE_NAME) {
        return named_type(e, t, env);
    }
    if (t->kind == AST_RECORD_TYPE) {
        return record_type(e, t, env);
    }
    if (t->kind != AST_TYPE_ARRAY) {
        return NULL;
    }
    dim d[LIMIT_RANK];
    int n;
    uint32_t unit;
    struct ttype *base = eval_type(e, t->a, env);
    if (!base || !eval_dims(e, t->list.at, t->list.n, env, &n, d, &unit)) {
        return NULL;
    }
    struct ttype *r = type_lead(e, base, n, d, unit);
    if (!r) {
        fail(e, DIAG_E2003, t->span, "`%s` cannot have %d more axes", ttype_text(e, base), n);
        diag_help(e->sink, "a tensor has at most 8");
    }
    return r;
}

/* -- matching */

struct axes {
    struct ast *at[2 * LIMIT_RANK];
    uint32_t n;
};
struct match {
    struct ast *type; /* as written, for messages */
    struct env *env;
    struct span at;
    const char *what;
    bool binds; /* names of dimensions that are not known yet: arguments do, results do not */
};

static bool mismatch(struct elab *e, const struct match *m, struct value v)
{
    fail(e, DIAG_E2030, m->at, "%s must be %s, found %s", m->what, source_slice(e, m->type->span),
         value_text(e, v));
    if (m->type->kind == AST_TYPE_ARRAY && is_scalar_static(v)) {
        diag_help(e->sink, "full([..], x) repeats a number or bool");
    } else {
        diag_help(e->sink, "change the value or the declared type");
    }
    return false;
}
static struct slot *bound_name(struct env *env, const char *name)
{
    for (; env && env->kind != ENV_MODULE; env = env->parent) {
        struct slot *s = env_own(env, name);
        if (s) {
            return s;
        }
    }
    return NULL;
}
static void dim_mismatch(struct elab *e, const struct match *m, struct value v, int axis, const char *want,
                         dim d, dim found, struct slot *s)
{
    fail(e, DIAG_E2033, m->at, "%s is %s: axis %d must be %s, found %s", m->what, value_text(e, v), axis,
         want, dim_text(e, found));
    if (s && s->what == NAME_DIM) {
        diag_label(e->sink, s->span, "`%s` was fixed here", s->name);
    }
    diag_label(e->sink, m->type->span, "declared %s", source_slice(e, m->type->span));
    label_axis(e, v, axis);
    if (s && s->from) {
        label_axis(e, tensor_value(s->from, 0), s->axis);
    }
    if (s && s->what == NAME_DIM) {
        diag_help(e->sink, "where the two may differ, give them different names in the type");
    } else {
        diag_help(e->sink, "change the value or the declared type");
    }
    help_tail(e, d, found);
}
static bool match_dim(struct elab *e, const struct match *m, struct ast *a, dim found, int axis,
                      struct value v)
{
    struct slot *s = a->kind == AST_ID ? bound_name(m->env, a->name) : NULL;
    if (a->kind == AST_ID && !s && m->binds && m->env->kind == ENV_BODY) {
        s = env_add(e, m->env, a->name, m->at, NAME_DIM, dim_value(e, found));
        s->from = v.kind == V_TENSOR ? v.node : 0;
        s->axis = axis;
        return true;
    }
    struct value want = eval(e, a, m->env);
    dim d;
    if (!want_dim(e, want, a->span, "an axis of a type", &d)) {
        return false;
    }
    if (d == found) {
        return true;
    }
    const char *written = source_slice(e, a->span), *size = dim_text(e, d);
    const char *text = strcmp(written, size) ? arena_printf(e->arena, "%s = %s", written, size) : size;
    dim_mismatch(e, m, v, axis, text, d, found, s);
    label_size(e, a, m->env, d);
    return false;
}
static const char *rest_text(struct elab *e, struct value axes)
{
    struct text t = {.arena = e->arena};
    text_printf(&t, "[");
    for (uint32_t i = 0; i < axes.list->n; i++) {
        struct value d = axes.list->at[i];
        text_printf(&t, "%s%s", i ? ", " : "",
                    d.kind == V_DIM ? dim_text(e, d.d) : arena_printf(e->arena, "%.0f", d.num));
    }
    text_printf(&t, "]");
    return t.at;
}
static bool match_rest(struct elab *e, const struct match *m, struct ast *a, const dim *found, int n,
                       struct value v)
{
    if (!a->name && !m->binds) {
        fail(e, DIAG_E2023, a->span, "`..` without a name stands in arguments only");
        diag_help(e->sink, "name the axes where they come in: x: f32[..S]");
        return false;
    }
    if (!a->name) {
        return true;
    }
    const char *key = arena_printf(e->arena, "..%s", a->name);
    struct slot *s = bound_name(m->env, key);
    if (!s && !m->binds) {
        return unbound_rest(e, a, key);
    }
    if (!s) {
        struct value l = list_value(e, (uint32_t)n);
        for (int i = 0; i < n; i++) {
            l.list->at[i] = dim_value(e, found[i]);
        }
        env_add(e, m->env, key, m->at, NAME_DIM, l);
        return true;
    }
    bool same = s->v.list->n == (uint32_t)n;
    for (int i = 0; same && i < n; i++) {
        same = value_same(e, s->v.list->at[i], dim_value(e, found[i]));
    }
    if (!same) {
        fail(e, DIAG_E2032, m->at, "%s is %s, but `%s` was bound to other axes", m->what, value_text(e, v),
             key);
        diag_label(e->sink, s->span, "`%s` was bound here", key);
        diag_help(e->sink, "it is %s; another name (`..T`) binds other axes", rest_text(e, s->v));
    }
    return same;
}
static bool match_axes(struct elab *e, const struct match *m, const struct axes *x, struct value *v)
{
    struct type t = tensor_type(e, *v);
    int rest = -1, n = (int)x->n;
    for (int i = 0; i < n; i++) {
        rest = x->at[i]->kind == AST_REST ? i : rest;
    }
    if (rest < 0 ? t.rank != n : t.rank < n - 1) {
        fail(e, DIAG_E2003, m->at, "%s is %s with %d ax%ss, expected %s%d: %s", m->what, value_text(e, *v),
             t.rank, t.rank == 1 ? "i" : "e", rest < 0 ? "" : "at least ", rest < 0 ? n : n - 1,
             source_slice(e, m->type->span));
        diag_label(e->sink, m->type->span, "declared here");
        diag_help(e->sink,
                  "x[_] adds an axis, x[0] drops one; `..S` in a type stands for any number of them");
        return false;
    }
    bool ok = true;
    for (int i = 0, axis = 0; i < n; i++) {
        int64_t c;
        if (i == rest) {
            int k = t.rank - (n - 1);
            ok &= match_rest(e, m, x->at[i], t.dim + axis, k, *v);
            axis += k;
            continue;
        }
        ok = ok && match_dim(e, m, x->at[i], t.dim[axis], axis, *v);
        if (ok && x->at[i]->kind == AST_NUM && dim_is_const(&e->g->dims, t.dim[axis], &c) && c == 1) {
            v->unit |= 1u << axis;
        }
        axis++;
    }
    return ok;
}
static bool match_dtype(struct elab *e, const struct match *m, enum dtype d, const struct axes *x,
                        struct value *v)
{
    if (!x->n && is_scalar_static(*v)) {
        bool fits = d == DT_BOOL ? v->kind == V_BOOL
                                 : v->kind != V_BOOL && (dtype_is_float(d) || v->kind == V_DIM || v->is_int);
        return fits || mismatch(e, m, *v);
    }
    if (v->kind == V_TYPE || v->kind != V_TENSOR) {
        return mismatch(e, m, *v);
    }
    if (tensor_type(e, *v).dtype != d) {
        mismatch(e, m, *v);
        diag_help(e->sink, "%s(x) casts", dtype_name(d));
        return false;
    }
    return match_axes(e, m, x, v);
}
static bool match_word(struct elab *e, const struct match *m, enum tkind k, const struct axes *x,
                       struct value *v)
{
    if (x->n) {
        return mismatch(e, m, *v);
    }
    int64_t i;
    dim d;
    switch (k) {
    case T_INT:
        if (!is_number(*v) || (v->kind == V_NUM && !v->is_int)) {
            return mismatch(e, m, *v);
        }
        if (!want_int(e, *v, m->at, m->what, &i)) {
            return false;
        }
        *v = num_value((double)i, true);
        return true;
    case T_DIM:
        if (!is_number(*v) || (v->kind == V_NUM && !v->is_int)) {
            return mismatch(e, m, *v);
        }
        if (!want_size(e, *v, m->at, m->what, &d)) {
            return false;
        }
        *v = dim_value(e, d);
        return true;
    case T_FLOAT:
        return is_number(*v) || mismatch(e, m, *v);
    case T_STR:
        return v->kind == V_STR || mismatch(e, m, *v);
    default:
        return true;
    }
}
static bool type_same(struct elab *e, const struct ttype *a, const struct ttype *b)
{
    if (a->kind != b->kind) {
        return false;
    }
    if (a->kind == T_TENSOR) {
        return type_equal(&a->t, &b->t);
    }
    if (a->kind == T_TREE) {
        return a->tree == b->tree;
    }
    bool same = a->n == b->n;
    for (uint32_t i = 0; same && i < a->n; i++) {
        same = !strcmp(a->name[i], b->name[i]) && type_same(e, a->at[i], b->at[i]);
    }
    return same;
}
static bool match_any(struct elab *e, const struct match *m, struct ast *t, struct axes x, struct value *v);
static struct value copy_record(struct elab *e, struct value v)
{
    struct value r = record_value(e, v.record->n);
    r.record->parts = v.record->parts;
    memcpy(r.record->at, v.record->at, v.record->n * sizeof *r.record->at);
    memcpy(r.record->name, v.record->name, v.record->n * sizeof *r.record->name);
    return r;
}
/* Arguments may have more fields, results may not. */
static bool same_fields(const struct ast *t, struct value v)
{
    bool same = t->list.n == v.record->n;
    for (uint32_t i = 0; same && i < t->list.n; i++) {
        same = !strcmp(t->list.at[i]->name, v.record->name[i]);
    }
    return same;
}
static bool match_record(struct elab *e, const struct match *m, struct ast *t, struct axes x, struct value *v)
{
    if (v->kind == V_INST) {
        *v = instance_params(e, v->inst, m->at);
    }
    if (v->kind != V_RECORD || (!m->binds && !same_fields(t, *v))) {
        bool found = mismatch(e, m, *v);
        if (v->kind == V_RECORD) {
            diag_help(e->sink, "the fields of a result are those of its type, in that order");
        }
        return found;
    }
    bool ok = true;
    *v = copy_record(e, *v); /* unit axes are a matter of this argument alone */
    for (uint32_t i = 0; i < t->list.n; i++) {
        struct ast *p = t->list.at[i];
        struct value *f = value_field(*v, p->name);
        if (!f) {
            fail(e, DIAG_E1002, m->at, "%s has no field `%s`: %s", m->what, p->name, value_text(e, *v));
            help_names(e, p->name, v->record->name, v->record->n);
            return false;
        }
        struct match part = {p->type, m->env, m->at,
                             arena_printf(e->arena, "%s, field `%s`,", m->what, p->name), m->binds};
        ok &= match_any(e, &part, p->type, x, f);
    }
    return ok;
}
static bool match_any(struct elab *e, const struct match *m, struct ast *t, struct axes x, struct value *v)
{
    if (is_poison(*v)) {
        return false;
    }
    if (t->kind == AST_TYPE_ARRAY) {
        if (!t->list.n) { /* int[]: a list */
            struct axes none = {.n = 0};
            bool ok = v->kind == V_LIST || mismatch(e, m, *v);
            for (uint32_t i = 0; ok && i < v->list->n; i++) {
                ok = match_any(e, m, t->a, none, &v->list->at[i]);
            }
            return ok;
        }
        for (uint32_t i = 0; i < t->list.n && x.n < 2 * LIMIT_RANK; i++) {
            x.at[x.n++] = t->list.at[i];
        }
        return match_any(e, m, t->a, x, v);
    }
    if (t->kind == AST_RECORD_TYPE) {
        return match_record(e, m, t, x, v);
    }
    if (t->kind != AST_TYPE_NAME) {
        return true;
    }
    if (dtype_parse(t->name)) {
        return match_dtype(e, m, dtype_parse(t->name), &x, v);
    }
    struct ttype *want = named_type(e, t, m->env);
    if (!want) {
        return false;
    }
    if (want->kind >= T_INT) {
        return match_word(e, m, want->kind, &x, v);
    }
    dim d[LIMIT_RANK];
    int n;
    uint32_t unit;
    if (!eval_dims(e, x.at, x.n, m->env, &n, d, &unit)) {
        return false;
    }
    want = n ? type_lead(e, want, n, d, unit) : want;
    struct ttype *found = type_of(e, *v);
    return (want && found && type_same(e, want, found)) || mismatch(e, m, *v);
}
bool match_type(struct elab *e, struct ast *t, struct value *v, struct env *env, struct span at,
                const char *what)
{
    struct match m = {t, env, at, what, true};
    struct axes none = {.n = 0};
    return match_any(e, &m, t, none, v);
}
bool match_result(struct elab *e, struct ast *t, struct value *v, struct env *env)
{
    struct match m = {t, env, t->span, "the result", false};
    struct axes none = {.n = 0};
    return match_any(e, &m, t, none, v);
}

/* -- a value of a type */

/* Says how a value would fit. */
static struct value unfit(struct elab *e, const struct ttype *t, struct value v, struct span at,
                          const char *what)
{
    fail(e, DIAG_E2030, at, "%s must be %s, found %s", what, ttype_text(e, t), value_text(e, v));
    if (t->kind == T_RECORD) {
        diag_help(e->sink, "a record with these fields in this order, or a scalar for all of them");
    } else if (t->kind == T_TREE) {
        diag_help(e->sink, "a number for every leaf, or a value of that tree");
    } else if (v.kind == V_TENSOR && tensor_type(e, v).dtype != t->t.dtype) {
        diag_help(e->sink, "%s(x) casts", dtype_name(t->t.dtype));
    } else if (v.kind == V_NUM && t->t.dtype == DT_I32) {
        diag_help(e->sink, "an i32 takes whole numbers: declare it f32, or round");
    } else if (t->t.dtype == DT_BOOL) {
        diag_help(e->sink, "a bool takes true and false; 0 and 1 stand for them");
    } else {
        diag_help(e->sink, "a scalar fills every element; a tensor has exactly the type");
    }
    if (v.kind == V_TENSOR && t->kind == T_TENSOR) {
        struct type found = tensor_type(e, v);
        help_tail_types(e, &t->t, &found);
    }
    return poison();
}
static struct value fill_record(struct elab *e, struct ttype *t, struct value v, struct span at,
                                const char *what)
{
    struct value r = record_value(e, t->n);
    bool equal = v.kind != V_RECORD || v.record->n == t->n;
    for (uint32_t i = 0; equal && i < t->n; i++) {
        equal = v.kind != V_RECORD || !strcmp(v.record->name[i], t->name[i]);
    }
    if (!equal) {
        return unfit(e, t, v, at, what);
    }
    for (uint32_t i = 0; i < t->n; i++) {
        r.record->name[i] = t->name[i];
        r.record->at[i] = fill_type(e, t->at[i], v.kind == V_RECORD ? v.record->at[i] : v, at, what);
    }
    return r;
}
struct value fill_type(struct elab *e, struct ttype *t, struct value v, struct span at, const char *what)
{
    v = v.kind == V_INST ? instance_params(e, v.inst, at) : v;
    if (v.kind == V_TREE && t->kind == T_RECORD) {
        v = tree_record(e, v, at);
    }
    if (is_poison(v)) {
        return poison();
    }
    if (t->kind == T_RECORD) {
        return fill_record(e, t, v, at, what);
    }
    build_at(e, at);
    if (t->kind == T_TREE) {
        struct type flat = tree_type(e, t->tree);
        if (v.kind == V_NUM) {
            struct value r = {.kind = V_TREE,
                              .tree = t->tree,
                              .pad = v.known && !v.live && v.num == 0 ? PAD_ZERO : PAD_UNKNOWN};
            r.node = build_expand(&e->b, emit_number(e, v, flat.dtype), flat.rank, flat.dim);
            return tree_masked(e, r, 0);
        }
        v = tree_as(e, v, t->tree);
        return v.kind == V_POISON || (v.kind == V_TREE && v.tree == t->tree) ? v : unfit(e, t, v, at, what);
    }
    if (t->kind != T_TENSOR) {
        return fail(e, DIAG_E2030, at, "%s cannot be %s", what, ttype_text(e, t));
    }
    if (is_scalar_static(v)) {
        enum dtype d = t->t.dtype;
        if (d == DT_BOOL && v.kind == V_NUM && v.known && !v.live && (v.num == 0 || v.num == 1)) {
            v = bool_value(v.num != 0); /* `= 0` fills records whose leaves differ in type */
        }
        if (d == DT_BOOL ? v.kind != V_BOOL
                         : v.kind == V_BOOL || (d == DT_I32 && v.kind == V_NUM && !v.is_int)) {
            return unfit(e, t, v, at, what);
        }
        return tensor_value(build_expand(&e->b, emit_number(e, v, d), t->t.rank, t->t.dim), t->unit);
    }
    struct type found = v.kind == V_TENSOR ? tensor_type(e, v) : (struct type){0};
    if (v.kind == V_TENSOR && found.dtype == t->t.dtype && !found.rank) {
        return tensor_value(build_expand(&e->b, v.node, t->t.rank, t->t.dim), t->unit);
    }
    if (v.kind != V_TENSOR || !type_equal(&found, &t->t)) {
        return unfit(e, t, v, at, what);
    }
    return tensor_value(v.node, t->unit);
}
