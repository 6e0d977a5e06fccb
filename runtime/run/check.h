/* Checking a model rather than training it: gradients against finite differences, one device against another.
 *
 * Results live in the caller's arena. Errors of the model, its data and its device go to the sink as in
 * run.h; a gradient or a value that is wrong is a result, not an error.
 */
#ifndef GML_RUN_CHECK_H
#define GML_RUN_CHECK_H
#include "runtime/run/run.h"

/* -- gradients */

/* An element whose gradient is wrong, or the worst one of those that are right. */
struct gradcheck_element {
    int64_t at;              /* row-major index in the parameter */
    double gradient;         /* as compiled */
    double difference;       /* central difference */
    double error, tolerance; /* |gradient - difference|, and what is allowed */
};
struct gradcheck_row {
    const char *phase, *loss, *parameter;
    int rank;
    int64_t dim[LIMIT_RANK];
    int64_t checked; /* elements */
    int64_t kinks;   /* of them: the loss has no derivative here, the gradient lies between both slopes */
    int64_t wrong;
    double max_gradient; /* over all elements of the parameter */
    double max_relative; /* largest error / |gradient| of the elements that are no kinks */
    struct gradcheck_element worst;
};
struct gradcheck_loss {
    const char *phase, *loss;
    double value;
};
struct gradcheck {
    VEC(struct gradcheck_loss) loss;
    VEC(struct gradcheck_row) row; /* a parameter of a loss */
    int64_t checked, kinks, wrong;
};
/* For each `minimize` (of `o->phase`, or of all phases): its first tick in the run block, on the host, whose
 * draws, rows and states stay the same while single elements of the parameters move. What comes before it is
 * run with `whole`, the same graph once more; NULL: there is nothing. `samples` elements of each parameter
 * are taken, the one with the largest gradient and others chosen by the parameter's name. The graph has been
 * compiled in f64, from text after gml_hold_stops(); it is changed: its phases lose their commits. The
 * tolerance is 1e-6 + 1e-4 |gradient|. */
MUST_CHECK enum status run_gradcheck(struct graph *g, struct graph *whole, const struct run_options *o,
                                     int64_t samples, struct arena *a, struct diag_sink *sink,
                                     struct gradcheck *out);

/* -- two devices */

/* How far two arrays are apart. */
struct distance {
    int64_t n, differ; /* elements; of them not bit for bit the same number */
    double
        max_error;   /* largest |a - b|; infinite where only one is finite or both are and are not the same */
    double relative; /* root mean square of a - b over that of b; of whole numbers differ / n */
};
struct compare_loss {
    const char *name;      /* "train.loss" */
    int64_t step;          /* of its phase, from 1 */
    double a, b, relative; /* |a - b| / max(|a|, |b|) */
    bool missing;          /* one side did not take this step, or took another */
    bool same;             /* within the tolerance */
};
struct compare_parameter {
    const char *key;
    struct distance d;
};
/* A value of the first launch of a phase. */
struct compare_value {
    uint32_t phase, node;
    const char *op, *scope, *place; /* place: "model.gml:14" */
    struct distance d;
};
struct compare {
    const char *a, *b; /* "cuda (NVIDIA H200) f32" */
    VEC(struct compare_loss) loss;
    VEC(struct compare_parameter) parameter; /* after the last step */
    int64_t values;                          /* compared one by one in the first launch of each phase */
    struct compare_value first, worst;       /* node 0 = none: the first beyond the tolerance, the largest */
    double max_relative;                     /* of the losses */
    bool same;                               /* every loss of every step is within the tolerance */
};
struct compare_side {
    struct graph *graph; /* both sides: the same graph, except for its precision */
    struct run_options options;
};
/* Runs `options.steps` training steps of the run block (or of `options.phase`) on side a, then on side b from
 * the weights and states of a, with memory kept so that the values of the first launches can be compared. A
 * loss agrees when |a - b| <= tolerance * max(|a|, |b|); whether the sides agree is decided by losses alone:
 * single values and parameters may be rounding noise (a gradient that is exactly zero in f64), and say where
 * to look when losses differ. */
MUST_CHECK enum status run_compare(struct compare_side *a, struct compare_side *b, double tolerance,
                                   struct arena *arena, struct diag_sink *sink, struct compare *out);

#endif
