/* Elementwise kernels, generated from the ELEM rows of ops.def: one run per row and dtype, called by a shared
 * walk over strided operands. A run has a fast path when operands advance by one element or stand still, and
 * a general one. Strict aliasing is respected although an output may be the bytes of an input of another
 * type: element i is read before it is written, and by nobody after. */
#include "kernels/cpu/cpu.h"

#define AT(type, i, j) (*(type *)(p[i] + (j)*s[i]))
#define STEP(type, i)  (s[i] == (int64_t)sizeof(type))

#define ROW_1(fn, TX, TY, TO, TW, fwd)                                                                       \
    CLONES static void fn(char *const *p, const int64_t *s, int64_t n)                                       \
    {                                                                                                        \
        typedef TW T UNUSED;                                                                                 \
        TO *o = (TO *)p[0];                                                                                  \
        const TX *px = (const TX *)p[1];                                                                     \
        if (STEP(TO, 0) && STEP(TX, 1)) {                                                                    \
            INDEPENDENT for (int64_t i = 0; i < n; i++)                                                      \
            {                                                                                                \
                const TX x = px[i];                                                                          \
                o[i] = (TO)(fwd);                                                                            \
            }                                                                                                \
            return;                                                                                          \
        }                                                                                                    \
        for (int64_t i = 0; i < n; i++) {                                                                    \
            const TX x = AT(const TX, 1, i);                                                                 \
            AT(TO, 0, i) = (TO)(fwd);                                                                        \
        }                                                                                                    \
    }
#define LOOP_2(TX, TY, TO, ix, iy, fwd)                                                                      \
    INDEPENDENT for (int64_t i = 0; i < n; i++)                                                              \
    {                                                                                                        \
        const TX x = px[ix];                                                                                 \
        const TY y = py[iy];                                                                                 \
        o[i] = (TO)(fwd);                                                                                    \
    }                                                                                                        \
    return;
#define ROW_2(fn, TX, TY, TO, TW, fwd)                                                                       \
    CLONES static void fn(char *const *p, const int64_t *s, int64_t n)                                       \
    {                                                                                                        \
        typedef TW T UNUSED;                                                                                 \
        TO *o = (TO *)p[0];                                                                                  \
        const TX *px = (const TX *)p[1];                                                                     \
        const TY *py = (const TY *)p[2];                                                                     \
        if (STEP(TO, 0) && STEP(TX, 1) && STEP(TY, 2)) {                                                     \
            LOOP_2(TX, TY, TO, i, i, fwd)                                                                    \
        }                                                                                                    \
        if (STEP(TO, 0) && STEP(TX, 1) && s[2] == 0) {                                                       \
            const TY still = py[0];                                                                          \
            py = &still;                                                                                     \
            LOOP_2(TX, TY, TO, i, 0, fwd)                                                                    \
        }                                                                                                    \
        if (STEP(TO, 0) && s[1] == 0 && STEP(TY, 2)) {                                                       \
            const TX still = px[0];                                                                          \
            px = &still;                                                                                     \
            LOOP_2(TX, TY, TO, 0, i, fwd)                                                                    \
        }                                                                                                    \
        for (int64_t i = 0; i < n; i++) {                                                                    \
            const TX x = AT(const TX, 1, i);                                                                 \
            const TY y = AT(const TY, 2, i);                                                                 \
            AT(TO, 0, i) = (TO)(fwd);                                                                        \
        }                                                                                                    \
    }
#define LOOP_3(TX, TY, TO, ix, iy, iz, fwd)                                                                  \
    INDEPENDENT for (int64_t i = 0; i < n; i++)                                                              \
    {                                                                                                        \
        const TX x = px[ix];                                                                                 \
        const TY y = py[iy], z = pz[iz];                                                                     \
        o[i] = (TO)(fwd);                                                                                    \
    }                                                                                                        \
    return;
/* The fast paths are those of masks: one condition for all, or one side constant. */
#define ROW_3(fn, TX, TY, TO, TW, fwd)                                                                       \
    CLONES static void fn(char *const *p, const int64_t *s, int64_t n)                                       \
    {                                                                                                        \
        typedef TW T UNUSED;                                                                                 \
        TO *o = (TO *)p[0];                                                                                  \
        const TX *px = (const TX *)p[1];                                                                     \
        const TY *py = (const TY *)p[2], *pz = (const TY *)p[3];                                             \
        if (STEP(TO, 0) && STEP(TX, 1) && STEP(TY, 2) && STEP(TY, 3)) {                                      \
            LOOP_3(TX, TY, TO, i, i, i, fwd)                                                                 \
        }                                                                                                    \
        if (STEP(TO, 0) && s[1] == 0 && STEP(TY, 2) && STEP(TY, 3)) {                                        \
            const TX still = px[0];                                                                          \
            px = &still;                                                                                     \
            LOOP_3(TX, TY, TO, 0, i, i, fwd)                                                                 \
        }                                                                                                    \
        if (STEP(TO, 0) && STEP(TX, 1) && STEP(TY, 2) && s[3] == 0) {                                        \
            const TY still = pz[0];                                                                          \
            pz = &still;                                                                                     \
            LOOP_3(TX, TY, TO, i, i, 0, fwd)                                                                 \
        }                                                                                                    \
        if (STEP(TO, 0) && STEP(TX, 1) && s[2] == 0 && STEP(TY, 3)) {                                        \
            const TY still = py[0];                                                                          \
            py = &still;                                                                                     \
            LOOP_3(TX, TY, TO, i, 0, i, fwd)                                                                 \
        }                                                                                                    \
        for (int64_t i = 0; i < n; i++) {                                                                    \
            const TX x = AT(const TX, 1, i);                                                                 \
            const TY y = AT(const TY, 2, i), z = AT(const TY, 3, i);                                         \
            AT(TO, 0, i) = (TO)(fwd);                                                                        \
        }                                                                                                    \
    }

/* By signature: the dtypes a row has, and the types of x, of y and z, of the result, and the working type of
 * each. */
#define RUNS_FLOAT(name, n, fwd)                                                                             \
    ROW_##n(run_##name##_f32, float, float, float, float, fwd)                                               \
        ROW_##n(run_##name##_f64, double, double, double, double, fwd)
#define RUNS_NUMBER(name, n, fwd)                                                                            \
    RUNS_FLOAT(name, n, fwd)                                                                                 \
    ROW_##n(run_##name##_i32, int32_t, int32_t, int32_t, int32_t, fwd)
#define RUNS_CLASSIFY(name, n, fwd)                                                                          \
    ROW_##n(run_##name##_f32, float, float, uint8_t, float, fwd)                                             \
        ROW_##n(run_##name##_f64, double, double, uint8_t, double, fwd)
#define RUNS_COMPARE(name, n, fwd)                                                                           \
    RUNS_CLASSIFY(name, n, fwd)                                                                              \
    ROW_##n(run_##name##_i32, int32_t, int32_t, uint8_t, int32_t, fwd)
#define RUNS_LOGIC(name, n, fwd) ROW_##n(run_##name##_bool, uint8_t, uint8_t, uint8_t, uint8_t, fwd)
#define RUNS_EQUAL(name, n, fwd)                                                                             \
    RUNS_COMPARE(name, n, fwd)                                                                               \
    RUNS_LOGIC(name, n, fwd)
#define RUNS_CHOOSE(name, n, fwd)                                                                            \
    ROW_##n(run_##name##_f32, uint8_t, float, float, float, fwd)                                             \
        ROW_##n(run_##name##_f64, uint8_t, double, double, double, fwd)                                      \
            ROW_##n(run_##name##_i32, uint8_t, int32_t, int32_t, int32_t, fwd)                               \
                ROW_##n(run_##name##_bool, uint8_t, uint8_t, uint8_t, uint8_t, fwd)
#define RUNS_CAST(name, n, fwd)
#define RUNS_BITS(name, n, fwd)                                                                              \
    ROW_##n(run_##name##_f32, float, float, int32_t, float, fwd)                                             \
        ROW_##n(run_##name##_f64, double, double, int32_t, double, fwd)                                      \
            ROW_##n(run_##name##_i32, int32_t, int32_t, float, int32_t, fwd)                                 \
                ROW_##n(run_##name##_i32_f64, int32_t, int32_t, double, int32_t, fwd)

#define ELEM(name, dsl, n, sig, fwd, dx, dy, dz, domain, tol, doc) RUNS_##sig(name, n, fwd)
#define REDUCE(name, dsl, sig, identity, combine, finish, doc)
#define VIEW(name, dsl, attrs, doc)
#define OP(name, dsl, lo, hi, flags, attrs, sig, doc)
#include "kernels/ops.def"
#undef ELEM

#define LIST_FLOAT(name)    [DT_F32] = run_##name##_f32, [DT_F64] = run_##name##_f64
#define LIST_NUMBER(name)   LIST_FLOAT(name), [DT_I32] = run_##name##_i32
#define LIST_CLASSIFY(name) LIST_FLOAT(name)
#define LIST_COMPARE(name)  LIST_NUMBER(name)
#define LIST_LOGIC(name)    [DT_BOOL] = run_##name##_bool
#define LIST_EQUAL(name)    LIST_COMPARE(name), LIST_LOGIC(name)
#define LIST_CHOOSE(name)   LIST_EQUAL(name)
#define LIST_BITS(name)                                                                                      \
    LIST_NUMBER(name), [DT_NONE] = run_##name##_i32_f64 /* i32 to f64 has no other place */
#define LIST_CAST(name) 0
static const iter_fn runs[OP_COUNT][DT_COUNT] = {
#define ELEM(name, dsl, n, sig, fwd, dx, dy, dz, domain, tol, doc) [OP_##name] = {LIST_##sig(name)},
#include "kernels/ops.def"
#undef ELEM
};

iter_fn elem_run_of(enum op op, enum dtype t)
{
    return runs[op][work_type(t)];
}

int64_t cpu_units_elem(const struct kargs *k)
{
    return div_up(operand_count(&k->out[0]), UNIT_ELEMENTS);
}

/* Conversions: see vocab.h for what does not fit. */
#define CASTS(from, TX)                                                                                      \
    ROW_1(cast_##from##_f32, TX, TX, float, float, x)                                                        \
    ROW_1(cast_##from##_f64, TX, TX, double, double, x)                                                      \
    ROW_1(cast_##from##_i32, TX, TX, int32_t, int32_t, to_i32(x))                                            \
    ROW_1(cast_##from##_bool, TX, TX, uint8_t, uint8_t, to_bool(x))
CASTS(f32, float)
CASTS(f64, double)
CASTS(i32, int32_t)
CASTS(bool, uint8_t)
#define CAST_ROW(from)                                                                                       \
    {                                                                                                        \
        [DT_F32] = cast_##from##_f32, [DT_F64] = cast_##from##_f64, [DT_I32] = cast_##from##_i32,            \
        [DT_BOOL] = cast_##from##_bool                                                                       \
    }
static const iter_fn casts[DT_COUNT][DT_COUNT] = {
    [DT_F32] = CAST_ROW(f32), [DT_F64] = CAST_ROW(f64), [DT_I32] = CAST_ROW(i32), [DT_BOOL] = CAST_ROW(bool)};

iter_fn elem_run_for(enum op op, const enum dtype *in, enum dtype out)
{
    switch (op_table[op].sig) {
    case SIG_CAST:
        return casts[work_type(in[0])][work_type(out)];
    case SIG_CHOOSE:
        return elem_run_of(op, in[1]);
    case SIG_BITS:
        return out == DT_F64 && in[0] == DT_I32 ? runs[op][DT_NONE] : elem_run_of(op, in[0]);
    default:
        return elem_run_of(op, in[0]);
    }
}

static void elem_run(void *arena, const struct kargs *k, struct slice s, enum op op)
{
    const struct operand *o[ITER_OPERANDS] = {&k->out[0]};
    char *base[ITER_OPERANDS] = {cpu_at(arena, o[0])};
    enum dtype t[ITER_OPERANDS] = {DT_NONE};
    int n = k->n_in + 1;
    for (int i = 1; i < n; i++) {
        o[i] = &k->in[i - 1];
        base[i] = cpu_at(arena, o[i]);
        t[i - 1] = (enum dtype)o[i]->dtype;
    }
    struct iter it;
    iter_make(&it, o, n);
    for (int i = 0; i < n && i < ITER_OPERANDS; i++) {
        it.narrow |= (unsigned)(o[i]->dtype == DT_BF16) << i;
    }
    iter_run(&it, base, s.from * UNIT_ELEMENTS, min_i64(s.to * UNIT_ELEMENTS, it.count),
             elem_run_for(op, t, (enum dtype)o[0]->dtype));
}

#define ELEM(name, dsl, n, sig, fwd, dx, dy, dz, domain, tol, doc)                                           \
    void cpu_##name(void *arena, const struct kargs *k, struct slice s)                                      \
    {                                                                                                        \
        elem_run(arena, k, s, OP_##name);                                                                    \
    }
#include "kernels/ops.def"
#undef ELEM
