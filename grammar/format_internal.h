/* Shared by the files of the formatter: format.c makes pieces and their distances, format_layout.c lines and
 * columns. */
#ifndef GML_GRAMMAR_FORMAT_INTERNAL_H
#define GML_GRAMMAR_FORMAT_INTERNAL_H
#include "grammar/format.h"
#include "grammar/parse.h"

/* A token or a comment. */
struct piece {
    struct range at;
    int kind;             /* of the token; END for comments */
    uint32_t column;      /* in the source, in characters */
    uint32_t width;       /* characters of what is written */
    uint32_t space;       /* blanks before it when it is not the first of its line */
    uint32_t out;         /* column it gets */
    uint32_t group, move; /* 0, or its group of aligned pieces; blanks added for it */
    bool newline, blank;  /* first on its line; after an empty line */
    bool comment;
    bool block;   /* `{` or `}` of a block */
    bool unary;   /* starts an expression with an operator */
    bool apart;   /* starts an expression behind a word that is no keyword: `save best (..)` */
    bool slice;   /* `:` of a slice */
    bool follows; /* comment on a line of its own, below and as far right as the one before */
};

struct format {
    struct arena *arena;
    const char *text;
    uint32_t n;
    VEC(struct piece) at;
};

/* Sets `newline`, `blank`, `out` and `move` of all pieces. */
void format_layout(struct format *f);

#endif
