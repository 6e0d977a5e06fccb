/* Shared by the files of gmlrun. */
#ifndef GML_TOOLS_GMLRUN_H
#define GML_TOOLS_GMLRUN_H
#include "runtime/run/run.h"
#include "tools/common_options.h"

/* Options by index in the table of gmlrun_options.c. From OPT_LATER on: planned, refused when given. */
enum {
    OPT_DEVICE,
    OPT_SET,
    OPT_DATA,
    OPT_STEPS,
    OPT_SEED,
    OPT_THREADS,
    OPT_PRECISION,
    OPT_OUT,
    OPT_WEIGHTS,
    OPT_PHASE,
    OPT_JSON,
    OPT_QUIET,
    OPT_LOG_EVERY,
    OPT_INCLUDE,
    OPT_MAX_SKIPS,
    OPT_DEBUG_PLAN,
    OPT_PARTS,
    OPT_NO_FUSE,
    OPT_CUDA_PATH,
    OPT_CACHE,
    OPT_SAMPLES,
    OPT_AGAINST,
    OPT_TOLERANCE,
    OPT_MAP,
    OPT_ALLOW_NONFINITE,
    OPT_OUTPUT,
    OPT_OVERRIDE,
    OPT_STAGE,
    OPT_TARGET,
    OPT_STEPS_PER_LAUNCH,
    OPT_REPLICAS,
    OPT_AUDIT,
    OPT_TRACE,
    OPT_LATER,
};
extern const struct program_spec gmlrun_spec;

struct call {
    struct arena *arena;
    struct diag_sink sink;
    struct options o;
    const char *command; /* the whole line */
    struct run_options run;
    uint32_t replicas;          /* 0 = not asked for */
    struct replica_list *lists; /* configs with a value for each of them; run.set has their first */
    uint32_t n_lists;
};
struct replica_list {
    const char *name;
    const char **value;
    uint32_t n;
};
/* Fills call.run from the options; refuses what comes later. */
MUST_CHECK enum status call_options(struct call *c);
bool is_device(const char *name);                               /* cpu, cuda, cuda:N */
bool call_is_f64(const struct call *c);                         /* --precision f64 */
bool call_precision_is(const struct call *c, const char *name); /* --precision NAME, f32 without it */
bool call_is_compiled(const struct call *c);                    /* MODEL is a .gmlb file */
/* Reads a file whose name ends in .gmlb, compiles any other. */
MUST_CHECK enum status call_graph(struct call *c, struct graph **out);
/* The same as with --precision bf16 or else f32. May be called again: each call gives a graph of its own. */
MUST_CHECK enum status call_graph_f32(struct call *c, struct graph **out);
/* Compiles in f64 whatever --precision says, with the values under stop_grad kept: for gradcheck. */
MUST_CHECK enum status call_graph_f64(struct call *c, struct graph **out);

enum status command_train(struct call *c);
enum status command_eval(struct call *c);
enum status command_summary(struct call *c);
enum status command_bench(struct call *c);
enum status command_profile(struct call *c);
enum status command_doctor(struct call *c);
enum status command_gradcheck(struct call *c);
enum status command_compare(struct call *c);
enum status command_predict(struct call *c);
enum status command_config(struct call *c);
enum status command_dump(struct call *c);
enum status command_inspect(struct call *c);
/* Compiles or loads MODEL and opens it on the device; SIGINT and SIGTERM stop it. */
MUST_CHECK enum status open_run(struct call *c, struct run **r);
/* --weights FILE, unless the model has no parameters. */
MUST_CHECK enum status need_weights(struct call *c, const struct graph *g);
/* Not 0 after SIGINT or SIGTERM; the second one ends the process with exit 130. */
const volatile sig_atomic_t *catch_signals(void);

#endif
