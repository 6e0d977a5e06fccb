/* gml inside another program: open a model, train it, evaluate it, read its parameters.
 *
 * A struct gml holds one model on one device, with its data resident; between calls only scalars leave the
 * device. Every call returns 0 or a code of enum gml_code (the exit codes of gmlrun); what went wrong is told
 * through options.message, with the source line where there is one. Nothing here prints or exits, except that
 * a process that runs out of memory ends with abort().
 *
 * Ownership: what a call hands out belongs to the struct gml and lives until gml_close, or until the next
 * call that fills the same kind of result. Options and the texts in them are only read during gml_open. One
 * thread and one open struct gml at a time a process.
 */
#ifndef GML_H
#define GML_H
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define GML_API __attribute__((visibility("default")))

enum gml_code {
    GML_OK = 0,
    GML_MODEL = 1,    /* the model was rejected */
    GML_USAGE = 2,    /* wrong use of the API, an unknown option value */
    GML_DATA = 3,     /* data or weights were rejected */
    GML_RESOURCE = 4, /* memory, disk or permission */
    GML_NUMERIC = 5,  /* non-finite values or a failed assert */
    GML_DEVICE = 6,   /* the device reported a fault */
    GML_INTERNAL = 7, /* a bug in gml */
    GML_STOPPED = 75  /* *options.stop became non-zero; the weights are saved */
};

struct gml; /* one model on one device */

struct gml_message {
    const char *code;      /* "E2010" */
    const char *level;     /* "error" or "warning" */
    const char *text;      /* one line */
    const char *help;      /* what to do, or NULL */
    const char *file;      /* NULL when the message has no place */
    unsigned line, column; /* from 1 */
};

/* Zero (or NULL) is the default of every field but `size`. */
struct gml_options {
    size_t size;                /* sizeof(struct gml_options): fields beyond it are not read */
    const char *device;         /* "cpu", "cuda", "cuda:1"; NULL: cuda where it works, else cpu */
    const char *precision;      /* "f32", "tf32", "bf16" or "f64" */
    const char *const *set;     /* "name=value" for configs, ended by NULL */
    const char *const *data;    /* "set=file" for data sets, ended by NULL */
    const char *const *include; /* folders of imported files, ended by NULL */
    const char *weights;        /* file to start from */
    const char *phase;          /* what gml_eval runs; NULL: the obvious one */
    const char *out;            /* run folder of gml_train; NULL: runs/<model>-<n> */
    const char *std;            /* standard library; NULL: beside the library, or $GML_STD */
    uint64_t seed;
    int64_t steps; /* training launches at most; 0: as the model says */
    int threads;   /* of the CPU backend; 0: all cores */
    void (*message)(void *user, const struct gml_message *m);
    void *user;
    const volatile int *stop; /* not 0: end after the current launch */
};

struct gml_metric {
    const char *name; /* "eval.acc" */
    double value;
};
struct gml_summary {
    const struct gml_metric *metric; /* last values */
    size_t n_metric;
    int64_t steps;   /* training launches */
    int64_t skipped; /* of them, those whose update was dropped as not finite */
    double seconds;
    const char *device;
};
/* A parameter or state in host memory, row-major. */
struct gml_tensor {
    const char *key;   /* "net.fc1.w" */
    const char *dtype; /* "f32" */
    int rank;
    const int64_t *dim;
    const void *data;
    size_t bytes;
};

/* "0.1.0" */
GML_API const char *gml_version(void);
/* Compiles a .gml file, or reads a .gmlb file, plans it, loads its data and fills the device. *out is NULL on
 * failure. */
GML_API int gml_open(const char *path, const struct gml_options *o, struct gml **out);
/* Runs the model's run block; metrics and weights go to the run folder. At most once. */
GML_API int gml_train(struct gml *g, struct gml_summary *out);
/* One pass over the rows of options.phase, with the parameters as they are now. */
GML_API int gml_eval(struct gml *g, struct gml_summary *out);
/* Number of parameters and states, and the i-th of them as it is now, copied from the device. */
GML_API size_t gml_tensors(const struct gml *g);
GML_API int gml_tensor(struct gml *g, size_t i, struct gml_tensor *out);
/* NULL is fine. */
GML_API void gml_close(struct gml *g);

#ifdef __cplusplus
}
#endif
#endif
