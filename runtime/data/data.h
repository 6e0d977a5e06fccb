/* Data sets: files into the raw rows that the data phases transform.
 *
 * Two stages, because the planner needs row counts before there is an arena: data_open reads and checks the
 * files and makes the splits; data_fill converts the fields of one set into its raw variables in a host image
 * of the arena. Rows are stably reordered so that each split by field or condition is one contiguous range;
 * fractions and row ranges keep the order of the file. Where rows are windows over the stored rows, a table
 * says where each begins, part after part. Ownership: everything is in an arena of its own, released by
 * data_close once the arena image is filled.
 */
#ifndef GML_DATA_DATA_H
#define GML_DATA_DATA_H
#include "runtime/format/format.h"
#include "runtime/plan/plan.h"

/* `--data name=file`; a relative file is relative to the working directory. */
struct data_override {
    const char *name, *file;
};
struct data_part {
    const char *name;
    int64_t row0, rows;      /* as phases see them */
    int64_t stored0, stored; /* in the resident order; without windows the same */
};
/* Where the elements of a row come from: the row of one array, or one element of each column. */
struct data_source {
    const struct array **at;
    uint32_t n;
    bool is_resident; /* made here: its rows are those of the raw variable, in that order */
};
struct data_set {
    const struct data *data;
    const char *path;          /* opened */
    uint64_t hash;             /* FNV-1a 64 of the file */
    int64_t rows;              /* that phases see, */
    int64_t stored;            /* and of the file; without windows the same */
    struct data_source *field; /* by data.field */
    const int64_t *order;      /* row i of the resident set is row order[i] of the file; NULL = as stored */
    const int32_t *start;      /* by row: the resident row where its windows begin; NULL = no windows */
    int64_t all0;              /* rows from here on are those of a phase without split */
    struct data_part *part;
    uint32_t n_part;
};
struct data_sets {
    struct arena *arena;
    const struct graph *graph;
    struct data_set *at; /* by graph.datas */
    uint32_t n;
};
/* `folder`: of the model file, "" = working directory. On failure *out is NULL. */
MUST_CHECK enum status data_open(const struct graph *g, const char *folder, const struct data_override *over,
                                 uint32_t n_over, struct diag_sink *sink, struct data_sets **out);
/* First row and rows of every phase, {0, 0} for data-free ones, in the caller's arena:
 * plan_options.split_rows. */
MUST_CHECK enum status data_split_rows(const struct data_sets *s, struct arena *a, struct diag_sink *sink,
                                       int64_t (**out)[2]);
/* Fills the raw variables of set `index` in the host image; call right before its data phase runs. */
MUST_CHECK enum status data_fill(const struct data_sets *s, uint32_t index, const struct plan *p, void *image,
                                 struct diag_sink *sink);
/* F3105 where standardize(..) has no rows to be fitted on: the file has no row of the part "train". */
MUST_CHECK enum status data_can_fit(const struct data_sets *s, uint32_t index, struct diag_sink *sink);
/* Element `from` on of x, n of them, as type t; returns the first that does not fit, counted from `from`, or
 * n. */
int64_t data_convert(const struct array *x, int64_t from, int64_t n, enum dtype t, void *to);
void data_close(struct data_sets *s); /* NULL is fine */

#endif
