/* What the files of data sets share: a member while its text is computed. Private to compiler/elab_*.c. */
#ifndef GML_COMPILER_ELAB_DATA_H
#define GML_COMPILER_ELAB_DATA_H
#include "compiler/elab.h"

/* window(x, n, stride, offset): n rows from stored row `offset` of the window on. */
struct window {
    dim n, offset, stride; /* stride 0: none was taken */
    bool drops;            /* n is 1 and the declared type has no axis for it */
};
/* `field` is what each array that the text reads has in common, its type that of a stored row; `reads` one of
 * them each; `fits` the states that standardize(..) fits. */
struct member {
    uint32_t data;
    struct ast *ast;
    struct ttype *type;
    struct data_field field;
    struct window window;
    bool first; /* first_of_sequence() is in it: over the rows of phases, not those of the file */
    uint32_t var;
    VEC(struct data_field) reads;
    VEC(struct commit) fits;
};
/* elab_member.c: fills reads, window and var; var stays 0 after an error. */
void compute_member(struct elab *e, struct module *mod, struct member *m);
bool has_window(struct ast *text);
uint32_t add_data_var(struct elab *e, uint32_t data, const char *key, const struct type *t, struct span at);
struct type with_rows(dim rows, const struct type *row);
val read_var(struct elab *e, uint32_t var, struct span at);
/* elab_split.c: the directive `split`. */
void read_split(struct elab *e, struct ast *a, struct env *env, struct data *d);

#endif
