/* The formatter behind `gmlc fmt`: one way to place the tokens of a file.
 *
 * Line ends and blank lines stay as written, for they carry meaning and intent; indentation and the blanks
 * between tokens are made anew. Columns that neighbouring lines share on purpose (an `=` or a type with more
 * blanks before it than it needs) stay aligned, comments behind text get a common column. Formatting twice
 * is formatting once, and the tree is the same but for its spans.
 */
#ifndef GML_GRAMMAR_FORMAT_H
#define GML_GRAMMAR_FORMAT_H
#include "grammar/ast.h"

/* The text of source `file` of sink->sources in the style, n bytes in the arena. ST_MODEL, and errors, where
 * it does not parse, E0109 where it would become too long; I0001 where the result would not be the same
 * program (a fault of the formatter): then there is no text. */
MUST_CHECK enum status gml_format(struct arena *a, struct interner *names, struct diag_sink *sink,
                                  uint16_t file, const char **text, size_t *n);

#endif
