/* Elementwise rows on single numbers, generated from the forward column of ops.def. Floats are computed in
 * double and rounded when they are stored, as all compile-time numbers are, so a graph that is run in f64
 * loses nothing; yes or no answers and whole numbers are found for the values that the type can hold.
 * Integers are computed as integers.
 */
#include "compiler/passes.h"
#include "runtime/base/bf16.h"
#include "kernels/vocab.h"

/* Rows that exist for integers, by signature. */
#define INT_FLOAT(forward)    0
#define INT_CLASSIFY(forward) 0
#define INT_CAST(forward)     0
#define INT_BITS(forward)     0
#define INT_NUMBER(forward)   forward
#define INT_COMPARE(forward)  forward
#define INT_EQUAL(forward)    forward
#define INT_LOGIC(forward)    forward
#define INT_CHOOSE(forward)   forward

#define EVALUATOR(name, type, forward)                                                                       \
    static type name(type x, type y, type z)                                                                 \
    {                                                                                                        \
        typedef type T __attribute__((unused));                                                              \
        (void)x, (void)y, (void)z;                                                                           \
        return (type)(forward);                                                                              \
    }
#define ELEM(name, dsl, n, sig, fwd, dx, dy, dz, domain, tol, doc)                                           \
    EVALUATOR(f64_##name, double, fwd) EVALUATOR(i32_##name, int32_t, INT_##sig(fwd))
#define REDUCE(name, dsl, sig, identity, combine, finish, doc)
#define VIEW(name, dsl, attrs, doc)
#define OP(name, dsl, lo, hi, flags, attrs, sig, doc)
#include "kernels/ops.def"
#undef ELEM

#define ELEM(name, dsl, n, sig, fwd, dx, dy, dz, domain, tol, doc) [OP_##name] = {f64_##name, i32_##name},
static const struct {
    double (*f64)(double, double, double);
    int32_t (*i32)(int32_t, int32_t, int32_t);
} evaluators[OP_COUNT] = {
#include "kernels/ops.def"
};

static double rounded(enum dtype t, double x)
{
    return t == DT_F32 ? (double)(float)x : t == DT_BF16 ? (double)bf16_widen(bf16_round((float)x)) : x;
}
static bool eval_cast(enum dtype in, enum dtype out, double x, double *r)
{
    if (out == DT_I32) {
        *r = in == DT_F64 ? gml_i32_f64(x) : gml_i32_f32((float)rounded(in, x));
    } else if (out == DT_BOOL) {
        *r = rounded(in, x) != 0;
    } else {
        *r = out == DT_BF16 || in == DT_BF16 || out == DT_F64 ? rounded(out, rounded(in, x)) : x;
    }
    return true;
}
bool elem_eval(enum op op, enum dtype in, enum dtype out, const double *x, double *r)
{
    /* A NaN would lose bits on its way through double. */
    if (op_table[op].kind != OPK_ELEM || op_table[op].sig == SIG_BITS) {
        return false;
    }
    if (op_table[op].sig == SIG_CAST) {
        return eval_cast(in, out, x[0], r);
    }
    if (!dtype_is_float(in)) {
        *r = (double)evaluators[op].i32((int32_t)x[0], (int32_t)x[1], (int32_t)x[2]);
        return true;
    }
    enum dtype as =
        out == DT_BOOL || in == DT_BF16 ? in : DT_F64; /* few digits: as if they had been stored */
    *r = evaluators[op].f64(rounded(as, x[0]), rounded(as, x[1]), rounded(as, x[2]));
    return true;
}
