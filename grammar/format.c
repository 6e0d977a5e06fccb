/* Formatting: the tokens and comments of a file as pieces, and the distances between them. */
#include <stdlib.h>
#include "grammar/format_internal.h"
#include "grammar/gml.tab.h"

/* -- What only the tree knows: by offset, for the pieces that start there */
enum { UNARY = 1, APART = 2 };

static void mark_tree(const struct ast *n, unsigned char *marks)
{
    const struct ast *children[] = {n->a, n->b, n->c, n->type};
    const struct ast_list *lists[] = {&n->list, &n->list2};
    if (n->kind == AST_UN) {
        marks[n->span.start] |= UNARY;
    }
    if (n->kind == AST_SAVE && n->a) {
        marks[n->a->span.start] |= APART;
    }
    for (size_t i = 0; i < sizeof children / sizeof *children; i++) {
        if (children[i]) {
            mark_tree(children[i], marks);
        }
    }
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        for (uint32_t k = 0; k < lists[i]->n; k++) {
            mark_tree(lists[i]->at[k], marks);
        }
    }
}

/* -- Pieces */
static uint32_t characters(const char *s, uint32_t n)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < n; i++) {
        count += ((unsigned char)s[i] & 0xC0) != 0x80;
    }
    return count;
}

/* Does a blank belong between the `#` and the text of a comment? */
static bool comment_needs_blank(const struct format *f, const struct piece *c)
{
    return c->at.end - c->at.start > 1 && strchr(" \t#!", f->text[c->at.start + 1]) == NULL;
}

static struct piece comment_piece(const struct format *f, struct range at)
{
    while (at.end > at.start && strchr(" \t\r", f->text[at.end - 1])) {
        at.end--;
    }
    struct piece c = {.at = at, .kind = END, .comment = true, .space = 2};
    c.width = characters(f->text + at.start, at.end - at.start) + comment_needs_blank(f, &c);
    return c;
}

static struct piece token_piece(const struct format *f, const struct token *t, const unsigned char *marks)
{
    uint32_t n = t->at.end - t->at.start;
    return (struct piece){.at = t->at,
                          .kind = t->kind,
                          .width = characters(f->text + t->at.start, n),
                          .unary = marks[t->at.start] & UNARY,
                          .apart = marks[t->at.start] & APART};
}

/* Tokens and comments in the order of the text, with what the source says of their lines. */
static void gather(struct format *f, const struct token_notes *notes, const struct parsed *parsed,
                   const unsigned char *marks)
{
    uint32_t c = 0, column = 0, at = 0;
    for (uint32_t i = 0; i < notes->tokens.n || c < parsed->comments.n;) {
        const struct token *t = i < notes->tokens.n ? &notes->tokens.at[i] : NULL;
        const struct span *s = c < parsed->comments.n ? &parsed->comments.at[c].span : NULL;
        bool comment = s && (!t || s->start < t->at.start);
        struct piece p =
            comment ? comment_piece(f, (struct range){s->start, s->end}) : token_piece(f, t, marks);
        uint32_t lines = 0;
        for (; at < p.at.start; at++) {
            bool ends = f->text[at] == '\n';
            lines += ends;
            column = ends ? 0 : column + characters(f->text + at, 1);
        }
        p.column = column;
        p.newline = f->at.n == 0 || lines > 0;
        p.blank = f->at.n > 0 && lines > 1;
        vec_push(f->arena, &f->at, p);
        c += comment;
        i += !comment;
    }
}

/* Marks the braces of blocks, and which `:` belong to slices: those in `[ ]` that label no stage of a pipe.
 */
static void mark_brackets(struct format *f, const struct token_notes *notes)
{
    VEC(uint32_t) open = {0};
    uint32_t next = 0;
    struct piece *p = f->at.at;
    for (uint32_t i = 0; i < f->at.n; i++) {
        int k = p[i].kind;
        if (k == '{' && next < notes->blocks.n && notes->blocks.at[next] == p[i].at.start) {
            p[i].block = true;
            next++;
        }
        if (k == '(' || k == '[' || k == '{') {
            vec_push(f->arena, &open, i);
        } else if ((k == ')' || k == ']' || k == '}') && open.n > 0) {
            p[i].block = p[open.at[--open.n]].block;
        } else if (k == ':' && open.n > 0 && p[open.at[open.n - 1]].kind == '[') {
            p[i].slice = !(i > 1 && p[i - 1].kind == ID && p[i - 2].kind == PIPE);
        }
    }
}

/* -- Distances */
/* Can `(`, `[` or `{` go on with what ends with this token? */
static bool is_operand(const struct piece *p)
{
    return p->kind == ID || p->kind == NUM || p->kind == STR || p->kind == TRUE || p->kind == FALSE ||
           p->kind == ')' || p->kind == ']' || p->kind == '}';
}

static bool is_opener(int k)
{
    return k == '(' || k == '[' || k == '{';
}

static bool joins(int k) /* stands without blanks */
{
    return k == '.' || k == DOTS || k == '^';
}

/* Blanks between two tokens of a line. */
static uint32_t distance(const struct piece *a, const struct piece *b)
{
    bool empty_block = a->block && a->kind == '{' && b->kind == '}';
    if (b->kind == TAG) {
        return 2;
    }
    if (b->kind == ',' || b->kind == ';' || b->kind == ')' || b->kind == ']') {
        return 0;
    }
    if (a->block || b->block) {
        return !empty_block && !(a->kind == '}' && b->kind == '.');
    }
    if (is_opener(a->kind) || b->kind == '}') {
        return 0;
    }
    if (a->kind == ',' || a->kind == ';') {
        return 1;
    }
    if (joins(a->kind) || joins(b->kind) || a->slice || b->slice || b->kind == ':') {
        return 0;
    }
    if (a->unary && a->kind == '-') {
        return 0;
    }
    if (is_opener(b->kind) && is_operand(a) && !b->apart) {
        return 0;
    }
    return 1;
}

static void set_distances(struct format *f)
{
    for (uint32_t i = 1; i < f->at.n; i++) {
        struct piece *a = &f->at.at[i - 1], *b = &f->at.at[i];
        if (!a->comment && !b->comment) {
            b->space = distance(a, b);
        }
    }
}

/* -- Writing */
static void write_blanks(struct text *out, uint32_t n)
{
    static const char blanks[] = "                                ";
    for (; n > sizeof blanks - 1; n -= sizeof blanks - 1) {
        text_append(out, blanks, sizeof blanks - 1);
    }
    text_append(out, blanks, n);
}

/* Deep nesting makes a text longer: stops where no source can be that long. */
static void write_pieces(const struct format *f, struct text *out)
{
    uint32_t column = 0;
    for (uint32_t i = 0; i < f->at.n && out->n <= LIMIT_SOURCE_BYTES; i++) {
        const struct piece *p = &f->at.at[i];
        if (p->newline && i > 0) {
            text_append(out, "\n\n", p->blank ? 2 : 1);
            column = 0;
        }
        write_blanks(out, p->out - column);
        uint32_t start = p->at.start;
        if (p->comment && comment_needs_blank(f, p)) {
            text_append(out, "# ", 2);
            start++;
        }
        text_append(out, f->text + start, p->at.end - start);
        column = p->out + p->width;
    }
    text_append(out, "\n", f->at.n > 0);
}

/* -- Is it the same program? */
static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static bool same_tree(const struct ast *a, const struct ast *b);

static bool same_list(const struct ast_list *a, const struct ast_list *b)
{
    bool same = a->n == b->n;
    for (uint32_t i = 0; same && i < a->n; i++) {
        same = same_tree(a->at[i], b->at[i]);
    }
    return same;
}

/* But for spans. */
static bool same_tree(const struct ast *a, const struct ast *b)
{
    if (!a || !b) {
        return a == b;
    }
    return a->kind == b->kind && a->is_int == b->is_int && same_text(a->name, b->name) &&
           same_text(a->str, b->str) && same_text(a->op, b->op) && same_text(a->doc, b->doc) &&
           memcmp(&a->num, &b->num, sizeof a->num) == 0 && same_tree(a->a, b->a) && same_tree(a->b, b->b) &&
           same_tree(a->c, b->c) && same_tree(a->type, b->type) && same_list(&a->list, &b->list) &&
           same_list(&a->list2, &b->list2);
}

/* Parses the result: a fault here must not cost anyone a file. */
static enum status check_result(struct arena *a, struct interner *names, struct diag_sink *sink,
                                const struct source *source, const struct parsed *parsed,
                                const struct text *out)
{
    struct sources again;
    struct diag_sink quiet;
    struct parsed got;
    sources_init(&again, a);
    diag_init(&quiet, a, &again);
    uint16_t file = sources_add(&again, source->path, out->at ? out->at : "", (uint32_t)out->n);
    bool same = gml_parse(a, names, &quiet, file, &got) == ST_OK && got.comments.n == parsed->comments.n &&
                same_tree(parsed->file, got.file);
    if (same) {
        return ST_OK;
    }
    return diag_emit(sink, DIAG_I0001, NO_SPAN, "formatting `%s` would change the program", source->path);
}

enum status gml_format(struct arena *a, struct interner *names, struct diag_sink *sink, uint16_t file,
                       const char **text, size_t *n)
{
    const struct source *source = &sink->sources->list.at[file];
    struct token_notes notes = {0};
    struct parsed parsed = {0};
    struct parse p = {
        .arena = a, .names = names, .sink = sink, .file = file, .out = &parsed, .notes = &notes};
    struct format f = {.arena = a, .text = source->text, .n = source->n};
    struct text out = {.arena = a};
    TRY(parse_source(&p, START_FILE));
    parsed.file = p.root;
    unsigned char *marks = arena_alloc(a, (size_t)f.n + 1);
    memset(marks, 0, (size_t)f.n + 1);
    mark_tree(parsed.file, marks);
    gather(&f, &notes, &parsed, marks);
    mark_brackets(&f, &notes);
    set_distances(&f);
    format_layout(&f);
    write_pieces(&f, &out);
    if (out.n > LIMIT_SOURCE_BYTES) {
        return diag_emit(sink, DIAG_E0109, NO_SPAN, "formatted, `%s` would have more than %d bytes",
                         source->path, LIMIT_SOURCE_BYTES);
    }
    TRY(check_result(a, names, sink, source, &parsed, &out));
    *text = out.at ? out.at : "";
    *n = out.n;
    return ST_OK;
}
