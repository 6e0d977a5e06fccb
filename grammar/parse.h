/* What the parts of the front end share: the state of one parse.
 *
 * flex (gml.l) makes tokens ▶ the filter (filter.c) inserts line ends, turns keywords into names, keeps the
 * bracket stack and skips broken statements ▶ bison (gml.y) builds nodes with ast_make (ast.c); errors.c
 * words what bison rejects. format.c asks for the tokens too. Everything lives in one struct parse, nothing
 * is global. Internal to grammar/.
 */
#ifndef GML_GRAMMAR_PARSE_H
#define GML_GRAMMAR_PARSE_H
#include <locale.h>
#include "grammar/ast.h"
#include "runtime/base/limits.h"

/* Byte offsets of a token or node: bison's location. */
struct range {
    uint32_t start, end;
};

/* Bit flags: enum keyword_class of keywords.def. */
enum keyword_class { ITEM = 1, STATEMENT = 2, EITHER = 4, INSIDE = 8 };
struct keyword {
    const char *text;
    int token;
    enum keyword_class class;
};
/* By text of n bytes; NULL when it is no keyword. */
const struct keyword *keyword_find(const char *text, size_t n);
const struct keyword *keyword_of(int token);
/* Texts of the keywords of the given classes (bits); returns how many. `out` holds KEYWORDS. */
enum { KEYWORDS = 40 };
uint32_t keyword_texts(unsigned classes, const char **out);

struct token {
    int kind;
    struct range at;
    bool newline;     /* first on its line */
    const char *name; /* word, or contents of a string */
    struct ast *node; /* of a number */
};

/* An open bracket. Only braces that open statements are blocks; the parser marks them as soon as it knows. */
struct bracket {
    char kind;
    bool is_block;
    uint32_t start, indent; /* columns before the first word of its line */
};

/* What the formatter needs besides the tree. */
struct token_notes {
    VEC(struct token) tokens; /* in the order of the text, without separators and the end */
    VEC(uint32_t) blocks;     /* offsets of the braces that open blocks, ascending */
};

struct parse {
    struct arena *arena;
    struct interner *names;
    struct diag_sink *sink;
    struct parsed *out;
    const char *text;
    uint32_t n;
    uint16_t file;
    struct ast *root;
    struct token_notes *notes; /* or NULL: not wanted */
    void *scanner;
    locale_t c_locale;

    /* scanner */
    uint32_t offset;
    bool newline, line_used;

    /* filter */
    int start;               /* start token to deliver first, then 0 */
    VEC(struct token) queue; /* a stack: delivered before what the scanner has */
    struct token ahead;      /* the scanner's next one */
    bool primed;
    int fetched; /* kind of the token fetched last */
    VEC(struct bracket) open;
    struct token last, before; /* delivered last, and the one before it */
    struct token first;        /* first of the statement */
    struct token second;       /* and the one after it */
    struct bracket popped;     /* what `last` closed; kind 0: nothing */
    struct bracket suspect;    /* opener whose `}` is indented otherwise; kind 0: none */
    bool skipping;             /* in a broken statement */
    uint32_t skip_depth;       /* braces opened since */
    uint32_t skip_indent;      /* lines indented so far belong to it; 0 = none do */
    uint32_t given_up;         /* braces of the broken statement that were open: `}` may still close them */
    uint32_t put_back_at;      /* offset of the token put back last */
    bool quiet;                /* the error is reported; followers up to quiet_end are not */
    uint32_t quiet_end;
    bool stopped; /* a limit was passed: only END from now on */
};

/* Parses p->file from the start token; p has arena, names, sink, file, out, and notes where wanted. */
MUST_CHECK enum status parse_source(struct parse *p, int start);
struct span parse_span(const struct parse *p, struct range at);

/* ast.c: copies the node into the arena, sets its depth; over the limit the parse stops with E0108. */
struct ast *ast_make(struct parse *p, const struct ast *like);
void ast_push(struct parse *p, struct ast_list *list, struct ast *n);
struct ast_list ast_list_of(struct parse *p, struct ast *n);
/* The same, and attaches the `##` comment that stands right above. */
void ast_push_declared(struct parse *p, struct ast_list *list, struct ast *n);
/* Documentation of the file: the `##` block before or right after `gml 1`, with a blank line below it. */
void ast_file_doc(struct parse *p);
struct ast *ast_number(struct parse *p, const char *text, uint32_t n, struct range at);

/* lint.c: what reads in two ways is warned of; each returns the node. */
struct ast *lint_product(struct parse *p, struct ast *n);
struct ast *lint_pipe(struct parse *p, struct ast *n);

/* gml.l: the next raw token; kind 0 at the end. */
int gml_scan(struct token *t, struct parse *p, void *scanner);
const char *scan_string(struct parse *p, const char *text, uint32_t n, uint32_t at);
const char *scan_name(struct parse *p, const char *text, uint32_t n, struct range at);

/* filter.c */
/* Can a statement end with a token of this kind; can one, or what closes a list of them, start with it? Where
 * both hold, a line end between the two separates. */
bool token_ends(int kind);
bool token_starts(int kind);
int filter_next(struct parse *p, struct token *out);
void filter_block(struct parse *p, struct range brace); /* this brace opens a block */
void filter_recover(struct parse *p); /* after a syntax error: skip the rest of the statement */

/* errors.c: `expected` are bison's names of the tokens that could follow. */
void report_syntax(struct parse *p, const char **expected, int n);
void report_unclosed(struct parse *p, const struct bracket *b, const struct token *found);
void report_mismatch(struct parse *p, const struct bracket *b, const struct token *closer);

/* advice.c: one line of help for what looks like a habit from another language, or NULL. */
bool computes(int kind); /* advice.c: a statement of phases, which a schedule has none of */
const char *habit_help(const struct parse *p, bool wants_comma, bool wants_over);
/* Whether the line that begins the statement ends with `:`, so that its block is indented. */
bool opens_indented(const struct parse *p);

/* Memory of bison and flex, through mem_seam. */
void *parse_alloc(size_t n);
void *parse_realloc(void *old, size_t n);
void parse_free(void *old);

#endif
