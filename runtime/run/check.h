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
/* For each `minimize` (of `o->phase`, or of all phases): the first tick on the host, whose draws, rows and
 * states stay the same while single elements of the parameters move. `samples` elements of each parameter
 * are taken, the one with the largest gradient and others chosen by the parameter's name. The graph has been
 * compiled in f64, from text after gml_hold_stops(); it is changed: its phases lose their commits. The
 * tolerance is 1e-6 + 1e-4 |gradient|. */
MUST_CHECK enum status run_gradcheck(struct graph *g, const struct run_options *o, int64_t samples,
                                     struct arena *a, struct diag_sink *sink, struct gradcheck *out);

#endif
