/* Nodes of the syntax tree: making them, attaching doc comments, printing. */
#include "grammar/parse.h"

struct span parse_span(const struct parse *p, struct range at)
{
    return (struct span){at.start, at.end, p->file};
}

static uint16_t deepest(const struct ast_list *list, uint16_t depth)
{
    for (uint32_t i = 0; i < list->n; i++) {
        depth = list->at[i]->depth > depth ? list->at[i]->depth : depth;
    }
    return depth;
}

struct ast *ast_make(struct parse *p, const struct ast *like)
{
    struct ast *n = arena_new_of(p->arena, struct ast);
    const struct ast *children[] = {like->a, like->b, like->c, like->type};
    uint16_t depth = deepest(&like->list2, deepest(&like->list, 0));
    for (size_t i = 0; i < sizeof children / sizeof *children; i++) {
        if (children[i] && children[i]->depth > depth) {
            depth = children[i]->depth;
        }
    }
    *n = *like;
    n->depth = depth + 1;
    if (n->depth > LIMIT_TREE_DEPTH && !p->stopped) {
        p->stopped = true;
        diag_emit(p->sink, DIAG_E0108, n->span, "this expression has more than %d levels", LIMIT_TREE_DEPTH);
        diag_help(p->sink, "name parts of it with `let`");
    }
    if (n->depth > LIMIT_TREE_DEPTH) {
        n->depth = LIMIT_TREE_DEPTH; /* the parse has failed; keeps the field from wrapping */
    }
    return n;
}

void ast_push(struct parse *p, struct ast_list *list, struct ast *n)
{
    vec_push(p->arena, list, n);
}

struct ast_list ast_list_of(struct parse *p, struct ast *n)
{
    struct ast_list list = {0};
    ast_push(p, &list, n);
    return list;
}

/* Is there nothing but blanks and exactly one line end between two offsets? */
static bool next_line(const struct parse *p, uint32_t from, uint32_t to)
{
    uint32_t lines = 0;
    for (uint32_t i = from; i < to; i++) {
        if (p->text[i] == '\n') {
            lines++;
        } else if (!strchr(" \t\r", p->text[i])) {
            return false;
        }
    }
    return lines == 1;
}

/* Contents of the doc comments [from, to], without the `##`. */
static const char *doc_text(struct parse *p, uint32_t from, uint32_t to)
{
    struct text t = {.arena = p->arena};
    for (uint32_t i = from; i <= to; i++) {
        struct span s = p->out->comments.at[i].span;
        uint32_t start = s.start + 2, end = s.end;
        start += start < end && p->text[start] == ' ';
        while (end > start && strchr(" \t\r", p->text[end - 1])) {
            end--;
        }
        if (i > from) {
            text_append(&t, "\n", 1);
        }
        text_append(&t, p->text + start, end - start);
    }
    return t.at;
}

/* Number of comments that end before an offset. */
static uint32_t comments_before(const struct parse *p, uint32_t offset)
{
    uint32_t low = 0, high = p->out->comments.n;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (p->out->comments.at[middle].span.end <= offset) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

void ast_push_declared(struct parse *p, struct ast_list *list, struct ast *n)
{
    const struct comment *c = p->out->comments.at;
    uint32_t last = comments_before(p, n->span.start);
    uint32_t first = last, at = n->span.start;
    while (first > 0 && c[first - 1].is_doc && next_line(p, c[first - 1].span.end, at)) {
        first--;
        at = c[first].span.start;
    }
    if (first < last) {
        n->doc = doc_text(p, first, last - 1);
    }
    ast_push(p, list, n);
}

void ast_file_doc(struct parse *p)
{
    const struct comment *c = p->out->comments.at;
    const struct ast_list *items = &p->root->list;
    bool edition = items->n > 0 && items->at[0]->kind == AST_EDITION;
    uint32_t first = edition ? comments_before(p, items->at[0]->span.end) : 0, last = first;
    while (last < p->out->comments.n && c[last].is_doc &&
           (last == first || next_line(p, c[last - 1].span.end, c[last].span.start))) {
        last++;
    }
    bool alone = items->n == edition; /* nothing follows that it could belong to */
    uint32_t next = alone ? p->n : items->at[edition]->span.start;
    if (last > first && c[first].span.start < next && (alone || !next_line(p, c[last - 1].span.end, next))) {
        p->root->doc = doc_text(p, first, last - 1);
    }
}

const char *ast_kind_name(enum ast_kind k)
{
#define A(name, text, fields) [AST_##name] = text,
    static const char *const names[AST_COUNT] = {
        [AST_NONE] = "none",
#include "grammar/ast.def"
    };
#undef A
    return k < AST_COUNT ? names[k] : "?";
}

/* -- Printing: (kind name flags :field child ...). What fits into a line stays on it. */
enum { PRINT_WIDTH = 100 };

static const char *flag_of(const struct ast *n)
{
    switch (n->kind) {
    case AST_IMPORT:
        return n->is_int ? "path" : NULL;
    case AST_LAYER:
        return n->is_int ? "entry" : NULL;
    case AST_PARAM:
    case AST_STATE:
        return n->is_int ? "drawn" : NULL;
    case AST_BOOL:
        return n->is_int ? "true" : "false";
    default:
        return NULL;
    }
}

static size_t quote(const char *s, FILE *out)
{
    size_t n = 2;
    if (out) {
        fputc('"', out);
    }
    for (; *s; s++) {
        const char *special = strchr("\"\\\n\t", *s);
        n += special ? 2 : 1;
        if (out && special) {
            fprintf(out, "\\%c", "\"\\nt"[special - "\"\\\n\t"]);
        } else if (out) {
            fputc(*s, out);
        }
    }
    if (out) {
        fputc('"', out);
    }
    return n;
}

/* Head of a node: kind, operator, name, string, flag. Returns its length; writes when out is set. */
static size_t print_head(const struct ast *n, FILE *out)
{
    const char *words[] = {ast_kind_name(n->kind), n->op, n->name, flag_of(n)};
    size_t length = 1;
    if (out) {
        fputc('(', out);
    }
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (words[i]) {
            length += strlen(words[i]) + (i > 0);
            if (out) {
                fprintf(out, "%s%s", i > 0 ? " " : "", words[i]);
            }
        }
    }
    bool number = n->kind == AST_NUM || n->kind == AST_EDITION;
    if (n->str) {
        length += 1;
        if (out) {
            fputc(' ', out);
        }
        if (number) {
            length += strlen(n->str);
            if (out) {
                fputs(n->str, out);
            }
        } else {
            length += quote(n->str, out);
        }
    }
    return length + 1;
}

struct field {
    const char *label;
    const struct ast *one;
    const struct ast_list *list;
};
enum { FIELDS = 6 };

static void fields_of(const struct ast *n, struct field f[FIELDS])
{
    f[0] = (struct field){"list", NULL, &n->list};
    f[1] = (struct field){"list2", NULL, &n->list2};
    f[2] = (struct field){"type", n->type, NULL};
    f[3] = (struct field){"a", n->a, NULL};
    f[4] = (struct field){"b", n->b, NULL};
    f[5] = (struct field){"c", n->c, NULL};
}

/* Length on one line, or anything above `most` when it is longer. */
static size_t width(const struct ast *n, size_t most)
{
    struct field f[FIELDS];
    size_t w = print_head(n, NULL) + (n->doc ? quote(n->doc, NULL) + 6 : 0);
    fields_of(n, f);
    for (int i = 0; i < FIELDS && w <= most; i++) {
        if (f[i].one) {
            w += strlen(f[i].label) + 3 + width(f[i].one, most - w);
        }
        for (uint32_t k = 0; f[i].list && k < f[i].list->n && w <= most; k++) {
            w += (k == 0 ? strlen(f[i].label) + 4 : 1) + width(f[i].list->at[k], most - w);
        }
    }
    return w;
}

static void gap(bool flat, int indent, FILE *out)
{
    if (flat) {
        fputc(' ', out);
    } else {
        fprintf(out, "\n%*s", indent, "");
    }
}

static void print_node(const struct ast *n, int indent, bool flat, FILE *out);

static void print_list(const struct ast_list *list, int indent, bool flat, FILE *out)
{
    size_t w = 0, room = indent < PRINT_WIDTH - 8 ? (size_t)(PRINT_WIDTH - 8 - indent) : 0;
    for (uint32_t k = 0; !flat && k < list->n && w <= room; k++) {
        w += width(list->at[k], room) + 1;
    }
    flat = flat || w <= room;
    for (uint32_t k = 0; k < list->n; k++) {
        if (k > 0 || !flat) {
            gap(flat, indent, out);
        }
        print_node(list->at[k], indent, flat, out);
    }
}

static void print_node(const struct ast *n, int indent, bool flat, FILE *out)
{
    struct field f[FIELDS];
    flat = flat || (indent < PRINT_WIDTH && width(n, PRINT_WIDTH - indent) <= (size_t)(PRINT_WIDTH - indent));
    print_head(n, out);
    if (n->doc) {
        gap(flat, indent + 2, out);
        fputs(":doc ", out);
        quote(n->doc, out);
    }
    fields_of(n, f);
    for (int i = 0; i < FIELDS; i++) {
        if (f[i].one) {
            gap(flat, indent + 2, out);
            fprintf(out, ":%s ", f[i].label);
            print_node(f[i].one, indent + 2, flat, out);
        } else if (f[i].list && f[i].list->n > 0) {
            gap(flat, indent + 2, out);
            fprintf(out, ":%s [", f[i].label);
            print_list(f[i].list, indent + 4, flat, out);
            fputc(']', out);
        }
    }
    fputc(')', out);
}

void ast_print(const struct ast *n, FILE *out)
{
    if (n) {
        print_node(n, 0, false, out);
        fputc('\n', out);
    }
}
