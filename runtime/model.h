/* From a path to a graph: a .gml file is compiled, a .gmlb file is read. The one place where the compiler and
 * the runtime meet; gmlrun and the embedding API (gml.h) both stand on it. */
#ifndef GML_MODEL_H
#define GML_MODEL_H
#include "compiler/compiler.h"

/* $GML_STD, share/gml/std of the installation that the program or libgml.so belongs to, else the folder of
 * the source tree it was built from. */
const char *model_std_folder(struct arena *a);

struct model_options {
    struct compile_options compile;
    bool tf32;  /* products of operands rounded to TF32 */
    bool f64;   /* in f64 from before the passes on, so that constants are folded in f64 too */
    bool exact; /* for finite differences: bf16 of the text too, and values under stop_grad are kept
                   (gml_hold_stops); only with f64, only for .gml */
};
/* The graph lives in the arena; `sources` of the sink becomes the graph's. Errors: those of the compiler and
 * of gmlb_read; U0005 for an include folder, or compile.bf16, with a .gmlb file. `set` of a .gmlb file is the
 * caller's (run_open). */
MUST_CHECK enum status model_load(struct arena *a, const char *path, const struct model_options *o,
                                  struct diag_sink *sink, struct graph **out);
/* U1003 with the closest model beside it when there is no such file. */
MUST_CHECK enum status model_check(struct arena *a, const char *path, struct diag_sink *sink);
bool model_is_compiled(const char *path); /* ends in .gmlb */

#endif
