/* The token filter between scanner and parser.
 *
 * - A line end separates statements: SEP goes between two tokens on different lines when the first can end a
 * statement and the second can start one.
 * - A keyword after `.` or before `=` or `:` is a name.
 * - Brackets are counted, to bound nesting and to say which one was never closed. A declaration keyword at
 * the start of a line ends all open blocks: the missing braces are supplied, so that one missing brace is one
 * error.
 * - After a syntax error the rest of the statement is skipped here, braces in pairs; the parser sees one SEP.
 *
 * `queue` is a stack of tokens to deliver before those of the scanner: looked at, put back or supplied.
 */
#include <ctype.h>
#include "grammar/parse.h"
#include "grammar/gml.tab.h"

static enum keyword_class class_of(int kind)
{
#define K(text, token, class) [token] = class,
    static const unsigned char classes[] = {
#include "grammar/keywords.def"
    };
#undef K
    return kind >= 0 && kind < (int)sizeof classes ? classes[kind] : 0;
}

bool token_ends(int k)
{
    return k == ID || k == NUM || k == STR || k == ')' || k == ']' || k == '}' || k == TRUE || k == FALSE ||
           k == SAVE || k == BAD;
}

bool token_starts(int k)
{
    return k == ID || k == '}' || k == END || (class_of(k) & (ITEM | STATEMENT | EITHER));
}

static bool is_separator(int k)
{
    return k == SEP || k == ';';
}

static bool line_starts_with(const struct token *t, unsigned classes)
{
    return t->newline && (class_of(t->kind) & classes);
}

/* The next token of the scanner, keywords in the place of names made names. One token of look-ahead. */
static struct token fetch(struct parse *p)
{
    struct token t = p->ahead;
    if (!p->primed) {
        gml_scan(&t, p, p->scanner);
        p->primed = true;
    }
    if (t.kind != END) {
        p->ahead = (struct token){0};
        gml_scan(&p->ahead, p, p->scanner);
    } else {
        p->ahead = t;
    }
    if (class_of(t.kind) && (p->fetched == '.' || p->ahead.kind == '=' || p->ahead.kind == ':')) {
        t.kind = ID;
    }
    p->fetched = t.kind;
    if (p->notes && t.kind != END) {
        vec_push(p->arena, &p->notes->tokens, t);
    }
    return t;
}

static void put_back(struct parse *p, struct token t)
{
    vec_push(p->arena, &p->queue, t);
}

static struct token *peek(struct parse *p)
{
    if (p->queue.n == 0) {
        put_back(p, fetch(p));
    }
    return &p->queue.at[p->queue.n - 1];
}

static struct token separator(const struct parse *p)
{
    return (struct token){.kind = SEP, .at = {p->last.at.end, p->last.at.end}};
}

/* -- Brackets */
static struct bracket *top(struct parse *p)
{
    return p->open.n ? &p->open.at[p->open.n - 1] : NULL;
}

/* Blanks before the first word of the line of an offset. */
static uint32_t indent_of(const struct parse *p, uint32_t at)
{
    uint32_t start = at, n = 0;
    while (start > 0 && p->text[start - 1] != '\n') {
        start--;
    }
    while (p->text[start + n] == ' ' || p->text[start + n] == '\t') {
        n++;
    }
    return n;
}

static void open_bracket(struct parse *p, const struct token *t)
{
    if (p->open.n == LIMIT_NESTING) {
        p->stopped = true;
        diag_emit(p->sink, DIAG_E0108, parse_span(p, t->at), "brackets are nested deeper than %d",
                  LIMIT_NESTING);
        uint32_t first = p->open.at[0].start;
        diag_label(p->sink, parse_span(p, (struct range){first, first + 1}), "the outermost is opened here");
        return;
    }
    struct bracket b = {.kind = (char)t->kind, .start = t->at.start, .indent = indent_of(p, t->at.start)};
    vec_push(p->arena, &p->open, b);
}

static void be_quiet(struct parse *p, const struct token *until)
{
    p->quiet = true;
    p->quiet_end = until->at.start;
}

static void close_bracket(struct parse *p, const struct token *t)
{
    char opener = t->kind == ')' ? '(' : t->kind == ']' ? '[' : '{';
    uint32_t n = p->open.n;
    if (n > 0 && p->open.at[n - 1].kind != opener) {
        if (!p->quiet) {
            report_mismatch(p, top(p), t);
            be_quiet(p, t);
        }
        while (n > 0 && p->open.at[n - 1].kind != opener && !p->open.at[n - 1].is_block) {
            n--;
        }
        if (n > 0 && p->open.at[n - 1].is_block && !t->newline) {
            return; /* `f(1}`: more likely a wrong bracket than the end of the block */
        }
    }
    if (n == 0 || p->open.at[n - 1].kind != opener) {
        return; /* closes nothing: the parser says so */
    }
    p->popped = p->open.at[n - 1];
    p->open.n = n - 1;
    uint32_t indent = indent_of(p, t->at.start);
    if (t->newline && p->popped.is_block && indent < p->popped.indent && !p->suspect.kind) {
        p->suspect = p->popped;
    }
}

void filter_block(struct parse *p, struct range brace)
{
    if (p->open.n && top(p)->start == brace.start) {
        top(p)->is_block = true;
        if (p->notes) {
            vec_push(p->arena, &p->notes->blocks, brace.start);
        }
    }
}

/* Forgets the brackets of a statement that is given up; returns how many braces were among them. */
static uint32_t drop_partial(struct parse *p)
{
    uint32_t braces = 0;
    while (p->open.n && !top(p)->is_block) {
        braces += top(p)->kind == '{';
        p->open.n--;
    }
    return braces;
}

/* -- Broken statements */

/* Notes what the statement that is given up would have declared: the word after its keyword, or those of a
 * pattern. */
static void note_lost(struct parse *p)
{
    if (p->first.kind == LET && p->second.kind == '(') {
        uint32_t at = p->second.at.end;
        while (at < p->n && (isalnum((unsigned char)p->text[at]) || strchr("_, \t\n", p->text[at]))) {
            uint32_t start = at;
            while (at < p->n && (isalnum((unsigned char)p->text[at]) || p->text[at] == '_')) {
                at++;
            }
            if (at > start) {
                vec_push(p->arena, &p->out->lost, intern_n(p->names, p->text + start, at - start));
            }
            at += at == start;
        }
        return;
    }
    if (p->first.kind == ID && p->last.at.start == p->first.at.start) {
        p->second = *peek(p); /* `layr L`: refused at its first word */
    }
    if (p->second.kind == ID && (p->first.kind == ID || class_of(p->first.kind))) {
        vec_push(p->arena, &p->out->lost, p->second.name);
    }
}

/* Ends all open blocks before t, which is still to come: its line starts a declaration, or the file ends. */
static void close_all(struct parse *p, struct token t)
{
    if (!p->quiet) {
        report_unclosed(p, p->suspect.kind ? &p->suspect : top(p), &t);
        note_lost(p);
    }
    be_quiet(p, &t);
    for (uint32_t i = 0; i < p->open.n; i++) {
        if (p->open.at[i].is_block) {
            put_back(p, separator(p));
            put_back(p, (struct token){.kind = '}', .at = separator(p).at});
        }
    }
    put_back(p, separator(p));
    drop_partial(p);
    p->suspect.kind = 0;
}

static void skip_statement(struct parse *p)
{
    struct token *t = peek(p);
    for (; t->kind != END; t = peek(p)) {
        bool deeper = p->skip_indent && t->newline && indent_of(p, t->at.start) >= p->skip_indent;
        if (line_starts_with(t, ITEM) && !deeper) {
            break;
        }
        bool line = line_starts_with(t, STATEMENT) ||
                    (t->newline && token_ends(p->last.kind) && token_starts(t->kind));
        bool given_up = p->skip_depth == 0 && t->kind == '}' && p->given_up > 0;
        if (p->skip_depth == 0 && !given_up && !deeper && (t->kind == '}' || t->kind == SEP || line)) {
            break;
        }
        p->last = *t;
        p->queue.n--;
        if (given_up) {
            p->given_up--;
            continue;
        }
        if (p->last.kind == ';' && p->skip_depth == 0) {
            break;
        }
        p->skip_depth += p->last.kind == '{';
        p->skip_depth -= p->last.kind == '}';
    }
    if ((t->kind == END || line_starts_with(t, ITEM)) && p->open.n) {
        be_quiet(p, t);
    }
    p->skipping = false;
    put_back(p, separator(p));
}

void filter_recover(struct parse *p)
{
    struct token t = p->last;
    /* Seen as the start of a statement, or put back before: the parser would only refuse it again. */
    bool refused = (p->first.at.start == t.at.start && !p->quiet) || p->put_back_at == t.at.start;
    p->skip_depth = 0;
    p->skip_indent = opens_indented(p) ? indent_of(p, p->first.at.start) + 1 : 0;
    note_lost(p);
    if (is_separator(t.kind) || t.kind == END) {
        drop_partial(p);
        return; /* the parser goes on with it */
    }
    if (t.kind == '}' && p->popped.is_block) {
        drop_partial(p);
        vec_push(p->arena, &p->open, p->popped);
        put_back(p, t);
    } else if (!refused && line_starts_with(&t, ITEM | STATEMENT)) {
        p->put_back_at = t.at.start;
        put_back(p, t);
    } else if (t.kind == '{' || (t.kind == ':' && peek(p)->newline)) {
        p->skip_depth = 1; /* a block, also when it was written as in Python */
    }
    p->given_up = drop_partial(p) - (t.kind == '{' ? p->skip_depth : 0);
    p->skipping = true;
}

/* -- Delivery */
static void deliver(struct parse *p, struct token t)
{
    bool block = p->last.kind == '{' && p->open.n && top(p)->is_block && top(p)->start == p->last.at.start;
    p->before = p->last;
    p->last = t;
    p->popped = (struct bracket){0};
    if (block || is_separator(p->before.kind)) {
        p->first = t;
        p->second = (struct token){0};
    } else if (p->before.at.start == p->first.at.start) {
        p->second = t;
    }
    if (p->quiet && t.at.start > p->quiet_end) {
        p->quiet = false;
    }
    if (t.kind == '(' || t.kind == '[' || t.kind == '{') {
        open_bracket(p, &t);
    } else if (t.kind == ')' || t.kind == ']' || t.kind == '}') {
        close_bracket(p, &t);
    }
}

/* Chooses the next token and takes it. */
static struct token choose(struct parse *p)
{
    struct token t = *peek(p);
    if ((t.kind == END || line_starts_with(&t, ITEM)) && p->open.n) {
        close_all(p, t);
    } else if (line_starts_with(&t, STATEMENT) && p->open.n && !top(p)->is_block) {
        if (!p->quiet) {
            report_unclosed(p, top(p), &t);
            note_lost(p);
        }
        be_quiet(p, &t);
        drop_partial(p);
        return separator(p);
    } else if ((t.newline || t.kind == END) && token_ends(p->last.kind) && token_starts(t.kind)) {
        return separator(p);
    }
    t = *peek(p);
    p->queue.n--;
    return t;
}

int filter_next(struct parse *p, struct token *out)
{
    if (p->start) {
        *out = (struct token){.kind = p->start};
        p->start = 0;
        return out->kind;
    }
    if (p->skipping) {
        skip_statement(p);
    }
    struct token t = choose(p);
    deliver(p, t);
    if (p->stopped) {
        t = (struct token){.kind = END, .at = {p->n, p->n}};
    }
    *out = t;
    return t.kind;
}
