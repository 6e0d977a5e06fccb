/* Formatting: which pieces begin lines, and the column of each.
 *
 * Indentation: 4 for each block, 4 for a statement that goes on in another line; in brackets the column after
 * the bracket, or 4 where the bracket ends its line or stands far right. Alignment: a piece that has more
 * blanks before it than it needs wants the column of the piece above or below that shares its column in the
 * source; all of such a chain get the least column that all can have. Chains are settled from left to right.
 * Lines whose indentation hangs on a bracket take no part, so that nothing feeds back.
 */
#include <stdlib.h>
#include "grammar/format_internal.h"
#include "grammar/gml.tab.h"

enum { INDENT = 4, FARTHEST = 100 }; /* brackets beyond that column align nothing */
/* Columns of comments behind text: the first that all of the lines in a row reach, lines longer than the last
 * apart. */
static const uint32_t stops[] = {49, 72};
enum { N_STOPS = sizeof stops / sizeof *stops };

/* -- Where lines begin */

/* A block that does not stand in one line has its braces at line ends; its `{` and `else` follow what is
 * before them. */
static void break_lines(struct format *f)
{
    struct piece *p = f->at.at;
    VEC(uint32_t) open = {0};
    for (uint32_t i = 1; i < f->at.n; i++) {
        bool back = (p[i].block && p[i].kind == '{') || (p[i].kind == ELSE && p[i - 1].kind == '}');
        if (back && !p[i - 1].comment) {
            p[i].newline = p[i].blank = false;
        }
    }
    for (uint32_t i = 0, broken = 0; i < f->at.n; i++) {
        broken += p[i].newline; /* lines begun so far; kept in `out` of the opening brace */
        if (p[i].block && p[i].kind == '{') {
            p[i].out = broken;
            vec_push(f->arena, &open, i);
        } else if (p[i].block && open.n > 0) {
            uint32_t from = open.at[--open.n];
            if (broken > p[from].out) {
                p[i].newline = true;
                p[i].blank = false;
                p[from + 1].newline |= !p[from + 1].comment;
                p[from + 1].blank = false;
            }
        }
    }
}

/* -- Indentation */
struct level {
    bool block, hangs;       /* hangs: below a column that alignment may move */
    uint32_t inside, closer; /* columns of lines in it, and of the line that closes it */
};

/* The token that says how line i is indented: that of its first piece, behind comments. Goes on from `at`,
 * the place found for the line before. NULL at the end. */
static const struct piece *leader(const struct format *f, uint32_t i, uint32_t *at)
{
    *at = *at < i ? i : *at;
    while (*at < f->at.n && f->at.at[*at].comment) {
        ++*at;
    }
    return *at < f->at.n ? &f->at.at[*at] : NULL;
}

static uint32_t indent_of(const struct level *top, const struct piece *first, const struct piece *lead,
                          const struct piece *before)
{
    bool closes = lead && (lead->kind == '}' || lead->kind == ')' || lead->kind == ']');
    if (closes) {
        return first == lead ? top->closer : top->inside;
    }
    bool starts = !lead || !before || (before->block && before->kind == '{') || before->kind == ';' ||
                  (token_ends(before->kind) && token_starts(lead->kind));
    return top->block && !starts ? top->inside + INDENT : top->inside;
}

static struct level level_of(const struct format *f, uint32_t i, const struct level *top, uint32_t line)
{
    const struct piece *p = &f->at.at[i];
    uint32_t base = p->block && top->block ? top->inside : line;
    bool last = i + 1 == f->at.n || f->at.at[i + 1].newline || f->at.at[i + 1].comment;
    if (p->block || last || p->out >= FARTHEST) {
        return (struct level){p->block, top->hangs, base + INDENT, base};
    }
    return (struct level){false, true, p->out + 1, p->out};
}

/* Columns of all pieces, `move` included. Groups of lines that hang on a bracket are dissolved. */
static void place(struct format *f)
{
    VEC(struct level) open = {0};
    vec_push(f->arena, &open, ((struct level){.block = true}));
    const struct piece *before = NULL; /* the last token */
    uint32_t line = 0, column = 0, lead = 0;
    bool hangs = false;
    for (uint32_t i = 0; i < f->at.n; i++) {
        struct piece *p = &f->at.at[i];
        const struct level *top = &open.at[open.n - 1];
        if (p->newline && p->follows) {
            p->out = f->at.at[i - 1].out;
        } else if (p->newline) {
            p->out = line = indent_of(top, p, leader(f, i, &lead), before);
            hangs = top->hangs;
        } else {
            p->out = column + p->space + p->move;
        }
        column = p->out + p->width;
        p->group = hangs ? 0 : p->group;
        if (p->comment) {
            continue;
        }
        if (p->kind == '(' || p->kind == '[' || p->kind == '{') {
            struct level inner = level_of(f, i, top, line);
            vec_push(f->arena, &open, inner);
        } else if ((p->kind == ')' || p->kind == ']' || p->kind == '}') && open.n > 1) {
            open.n--;
        }
        before = p;
    }
}

/* -- Alignment */
static int class_of(const struct piece *p)
{
    bool operand = p->kind == NUM || p->kind == STR || p->kind == TRUE || p->kind == FALSE ||
                   p->kind == '(' || p->kind == '[' || p->unary;
    return operand ? ID : p->kind;
}

static bool can_align(const struct piece *p)
{
    return !p->newline && !p->comment && p->space > 0;
}

/* Does piece i ask for alignment? */
static bool is_wide(const struct format *f, uint32_t i)
{
    const struct piece *p = &f->at.at[i];
    return p->column > p[-1].column + p[-1].width + p->space;
}

static uint32_t line_end(const struct format *f, uint32_t i)
{
    for (i++; i < f->at.n && !f->at.at[i].newline; i++) {
    }
    return i;
}

/* Puts pieces of two neighbouring lines that share a column into one group. */
static uint32_t join_lines(struct format *f, uint32_t a, uint32_t b, uint32_t groups)
{
    struct piece *p = f->at.at;
    uint32_t middle = b, end = line_end(f, b);
    while (a < middle && b < end) {
        if (p[a].column != p[b].column) {
            *(p[a].column < p[b].column ? &a : &b) += 1;
            continue;
        }
        if (can_align(&p[a]) && can_align(&p[b]) && class_of(&p[a]) == class_of(&p[b]) &&
            (is_wide(f, a) || is_wide(f, b))) {
            p[a].group = p[a].group ? p[a].group : ++groups;
            p[b].group = p[a].group;
        }
        a++;
        b++;
    }
    return groups;
}

struct member {
    uint32_t piece, line, group, column; /* column: in the source */
};

static int by_column(const void *a, const void *b)
{
    const struct member *x = a, *y = b;
    return x->column != y->column ? (x->column > y->column) - (x->column < y->column)
           : x->group != y->group ? (x->group > y->group) - (x->group < y->group)
                                  : (x->piece > y->piece) - (x->piece < y->piece);
}

/* Gives the members [from, to) of one group a common column; `moved` has what each line was moved so far. */
static void align_group(struct format *f, const struct member *from, const struct member *to, uint32_t *moved)
{
    uint32_t target = 0;
    for (const struct member *m = from; m < to; m++) {
        uint32_t column = f->at.at[m->piece].out + moved[m->line];
        target = column > target ? column : target;
    }
    for (const struct member *m = from; m < to; m++) {
        struct piece *p = &f->at.at[m->piece];
        p->move = target - (p->out + moved[m->line]);
        moved[m->line] += p->move;
    }
}

static void align(struct format *f)
{
    VEC(struct member) members = {0};
    uint32_t lines = 0, groups = 0;
    for (uint32_t i = 0, next; i < f->at.n; i = next, lines++) {
        next = line_end(f, i);
        if (next < f->at.n && !f->at.at[next].blank) {
            groups = join_lines(f, i, next, groups);
        }
    }
    place(f);
    for (uint32_t i = 0, line = 0; i < f->at.n; i++) {
        const struct piece *p = &f->at.at[i];
        line += p->newline && i > 0;
        if (p->group) {
            vec_push(f->arena, &members, ((struct member){i, line, p->group, p->column}));
        }
    }
    if (members.n == 0) {
        return;
    }
    qsort(members.at, members.n, sizeof *members.at, by_column);
    uint32_t *moved = arena_array(f->arena, uint32_t, lines);
    for (uint32_t i = 0, end; i < members.n; i = end) {
        for (end = i + 1; end < members.n && members.at[end].group == members.at[i].group; end++) {
        }
        align_group(f, &members.at[i], &members.at[end], moved);
    }
    place(f);
}

/* -- Comments behind text */

/* A comment below one behind text, as far right, goes on with it. */
static void find_followers(struct format *f)
{
    for (uint32_t i = 1; i < f->at.n; i++) {
        struct piece *p = &f->at.at[i];
        p->follows = p->comment && p->newline && !p->blank && p[-1].comment &&
                     (!p[-1].newline || p[-1].follows) && p->column == p[-1].column && p->column > 0 &&
                     strncmp(f->text + p->at.start, "##", 2) != 0;
    }
}

/* The comment that ends the line [i, end), or 0. */
static uint32_t behind(const struct format *f, uint32_t i, uint32_t end)
{
    const struct piece *last = &f->at.at[end - 1];
    return last->comment && (end - 1 > i || last->follows) ? end - 1 : 0;
}

/* Columns of the comments of lines [from, to), each of which has one. */
static void place_comments(struct format *f, uint32_t from, uint32_t to)
{
    uint32_t most = 0, stop = 0;
    for (uint32_t i = from; i < to; i++) {
        struct piece *p = &f->at.at[i];
        if (p->comment && !p->newline && p[-1].out + p[-1].width + 2 <= stops[N_STOPS - 1]) {
            uint32_t width = p[-1].out + p[-1].width + 2;
            most = width > most ? width : most;
        }
    }
    while (stop < N_STOPS - 1 && stops[stop] < most) {
        stop++;
    }
    for (uint32_t i = from; i < to; i++) {
        struct piece *p = &f->at.at[i];
        if (p->comment && p->follows) {
            p->out = p[-1].out;
        } else if (p->comment && !p->newline) {
            uint32_t end = p[-1].out + p[-1].width;
            p->out = end + 2 <= stops[stop] ? stops[stop] : end + 2;
        }
    }
}

static void align_comments(struct format *f)
{
    for (uint32_t i = 0, end; i < f->at.n; i = end) {
        end = line_end(f, i);
        if (!behind(f, i, end)) {
            continue;
        }
        while (end < f->at.n && !f->at.at[end].blank && behind(f, end, line_end(f, end))) {
            end = line_end(f, end);
        }
        place_comments(f, i, end);
    }
}

void format_layout(struct format *f)
{
    break_lines(f);
    find_followers(f);
    align(f);
    align_comments(f);
}
