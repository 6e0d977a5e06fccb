/* Syntax errors in words. One root cause, one error: what the filter has already explained is not said again.
 */
#include <ctype.h>
#include "grammar/parse.h"
#include "grammar/gml.tab.h"

static struct span opener_span(const struct parse *p, const struct bracket *b)
{
    return parse_span(p, (struct range){b->start, b->start + 1});
}

static int text_length(const struct token *t)
{
    return (int)(t->at.end - t->at.start);
}

/* `x`, "name `x`", "the end of the file", ... */
static const char *describe(const struct parse *p, const struct token *t)
{
    enum { LONGEST = 32 };
    const char *text = p->text + t->at.start;
    int n = text_length(t);
    const char *what = t->kind == ID         ? "name "
                       : t->kind == NUM      ? "number "
                       : keyword_of(t->kind) ? "keyword "
                                             : "";
    if (t->kind == END) {
        return "the end of the file";
    }
    if (t->kind == SEP) {
        return "the end of the line";
    }
    if (t->kind == STR || n > LONGEST) {
        return t->kind == STR ? "a string" : t->kind == NUM ? "a long number" : "a long name";
    }
    return arena_printf(p->arena, "%s`%.*s`", what, n, text);
}

void report_unclosed(struct parse *p, const struct bracket *b, const struct token *found)
{
    diag_emit(p->sink, DIAG_E0100, opener_span(p, b), "this `%c` is never closed", b->kind);
    if (found->kind == END) {
        diag_label(p->sink, parse_span(p, p->last.at), "the file ends here");
    } else {
        diag_label(p->sink, parse_span(p, found->at), "`%.*s` starts something new here", text_length(found),
                   p->text + found->at.start);
    }
    diag_help(p->sink, "close it with `%c` where it should end",
              b->kind == '('   ? ')'
              : b->kind == '[' ? ']'
                               : '}');
    if (p->suspect.kind && b == &p->suspect) {
        diag_note(p->sink, "a `}` follows that is indented less than the line of this `{`");
    }
}

void report_mismatch(struct parse *p, const struct bracket *b, const struct token *closer)
{
    if (b->is_block) {
        diag_emit(p->sink, DIAG_E0100, parse_span(p, closer->at), "this `%c` closes nothing", closer->kind);
        return;
    }
    diag_emit(p->sink, DIAG_E0100, opener_span(p, b), "this `%c` is not closed before `%c`", b->kind,
              closer->kind);
    diag_label(p->sink, parse_span(p, closer->at), "found `%c` here", closer->kind);
}

/* -- What could stand there */
static bool in(const char *word, const char *const *list)
{
    for (; *list; list++) {
        if (strcmp(*list, word) == 0) {
            return true;
        }
    }
    return false;
}

static bool expects(const char **expected, int n, const char *word)
{
    for (int i = 0; i < n; i++) {
        if (strcmp(expected[i], word) == 0) {
            return true;
        }
    }
    return false;
}

/* bison writes a character token as 'c'. */
static void unquote(struct parse *p, const char **expected, int n)
{
    for (int i = 0; i < n; i++) {
        if (expected[i][0] == '\'') {
            expected[i] = arena_strndup(p->arena, expected[i] + 1, 1);
        }
    }
}

static const char *const expression_words[] = {"name", "number", "string", "true", "false", "if",
                                               "scan", "not",    "(",      "[",    "-",     NULL};
static const char *const operator_words[] = {"and", "or", "==", "!=", "<=", ">=", "<", ">", "+", "-", "*",
                                             "/",   "@",  "%",  "//", "^",  "|>", "(", "{", "[", ".", NULL};

/* A group of tokens that is named by one phrase when all its signs are expected. */
struct group {
    const char *phrase;
    const char *signs[2];
    unsigned classes; /* keywords it covers */
    const char *const *words;
};
static const struct group groups[] = {
    {"a statement of the schedule", {"repeat", "every"}, STATEMENT, expression_words},
    {"a statement", {"return", "let"}, STATEMENT | EITHER, expression_words},
    {"a declaration", {"layer", "config"}, ITEM | STATEMENT | EITHER, NULL},
    {"an expression", {"number", "("}, 0, expression_words},
};

static bool covered(const struct group *g, const char *word)
{
    const struct keyword *k = keyword_find(word, strlen(word));
    return (k && (k->class & g->classes)) || (g->words && in(word, g->words));
}

static const char *phrase_of(struct parse *p, const char *word)
{
    static const char *const plain[][2] = {{"name", "a name"},
                                           {"number", "a number"},
                                           {"string", "a string"},
                                           {"end of line", "the end of the line"},
                                           {"end of file", "the end of the file"}};
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++) {
        if (strcmp(plain[i][0], word) == 0) {
            return plain[i][1];
        }
    }
    return arena_printf(p->arena, "`%s`", word);
}

/* The innermost bracket that is no block, when what closes it is expected. */
static const struct bracket *open_closer(const struct parse *p, const char **expected, int n)
{
    uint32_t depth = p->open.n;
    depth -= depth > 0 && p->open.at[depth - 1].start == p->last.at.start; /* the unexpected token itself */
    const struct bracket *b = depth > 0 ? &p->open.at[depth - 1] : NULL;
    if (!b || b->is_block) {
        return NULL;
    }
    return expects(expected, n, b->kind == '(' ? ")" : b->kind == '[' ? "]" : "}") ? b : NULL;
}

/* "`,`, `)` or an expression": at most four entries. */
static const char *expectation(struct parse *p, const char **expected, int n)
{
    enum { MOST = 4 };
    const char *phrases[MOST + 1];
    int m = 0;
    const struct group *group = NULL;
    for (size_t i = 0; i < sizeof groups / sizeof *groups && !group; i++) {
        if (expects(expected, n, groups[i].signs[0]) && expects(expected, n, groups[i].signs[1])) {
            group = &groups[i];
        }
    }
    bool operators = !group && expects(expected, n, "+");
    bool line = expects(expected, n, "end of line") && !open_closer(p, expected, n);
    bool postfix = expects(expected, n, "(") && expects(expected, n, "[") && expects(expected, n, ".");
    for (int i = 0; i < n && m < MOST; i++) {
        const char *w = expected[i];
        bool dull = (line && in(w, (const char *const[]){"}", "end of file", NULL})) ||
                    in(w, (const char *const[]){";", ".", NULL}) ||
                    (p->before.kind != NUM && strcmp(w, "..") == 0) ||
                    ((group || !line) && in(w, (const char *const[]){"end of line", "end of file", NULL})) ||
                    (postfix && !group && in(w, (const char *const[]){"(", "[", "{", NULL}));
        if (!dull && !(group && covered(group, w)) && !(operators && in(w, operator_words))) {
            phrases[m++] = phrase_of(p, w);
        }
    }
    if (group) {
        phrases[m++] = group->phrase;
    } else if (operators && m == 0) {
        phrases[m++] = "an operator";
    }
    struct text t = {.arena = p->arena};
    for (int i = 0; i < m; i++) {
        text_printf(&t, "%s%s", i == 0 ? "" : i == m - 1 ? " or " : ", ", phrases[i]);
    }
    return m ? t.at : "something else";
}

/* -- Advice for frequent slips */

/* A word that is nearly a keyword which could stand here: the word itself, or the one that began the
 * statement. */
static bool report_misspelt(struct parse *p, const char **expected, int n)
{
    const char *candidates[KEYWORDS];
    uint32_t m = 0;
    const struct token *word = &p->last;
    if (word->kind == ID) {
        for (int i = 0; i < n && m < KEYWORDS; i++) {
            if (keyword_find(expected[i], strlen(expected[i]))) {
                candidates[m++] = expected[i];
            }
        }
    }
    const char *meant = m ? closest_name(word->name, candidates, m) : NULL;
    bool began = p->before.kind == ID && p->before.at.start == p->first.at.start;
    if (!meant && began && p->last.kind != SEP && p->last.kind != '=') {
        word = &p->before;
        m = keyword_texts(STATEMENT | EITHER, candidates);
        meant = closest_name(word->name, candidates, m);
    }
    if (!meant) {
        return false;
    }
    diag_emit(p->sink, DIAG_E0100, parse_span(p, word->at), "unexpected name `%s`", word->name);
    diag_help(p->sink, "did you mean `%s`?", meant);
    return true;
}

static bool report_strange_character(struct parse *p)
{
    static const char *const advice[][2] = {{"&&", "write `and`"},
                                            {"||", "write `or`; a pipe is `|>`"},
                                            {"!", "write `not`, or `!=`"},
                                            {"&", "write `and`"},
                                            {"|", "write `or`; a pipe is `|>`"},
                                            {"'", "strings stand in `\"`"},
                                            {"?", "write `if c then a else b`"}};
    if (p->last.kind != BAD) {
        return false;
    }
    unsigned char c = (unsigned char)p->text[p->last.at.start];
    if (isprint(c) || c >= 0x80) {
        diag_emit(p->sink, DIAG_E0100, parse_span(p, p->last.at), "`%.*s` is no part of gml",
                  text_length(&p->last), p->text + p->last.at.start);
    } else {
        diag_emit(p->sink, DIAG_E0100, parse_span(p, p->last.at),
                  "the control character 0x%02X is no part of gml", c);
    }
    for (size_t i = 0; i < sizeof advice / sizeof *advice; i++) {
        if ((int)strlen(advice[i][0]) == text_length(&p->last) &&
            strncmp(advice[i][0], p->text + p->last.at.start, strlen(advice[i][0])) == 0) {
            diag_help(p->sink, "%s", advice[i][1]);
        }
    }
    return true;
}

/* Help by the last two tokens, where it is clear what was meant. */
static void advise(struct parse *p, const char **expected, int n)
{
    static const struct {
        int before, found;
        const char *help;
    } table[] = {
        {'*', '*', "a power is written `x ^ y`"},
        {REPEAT, 0, "put the count in parentheses: `repeat (n) {`"},
        {IF, 0, "put the condition in parentheses: `if (c) {`"},
        {FOR, 0, "put the loop in parentheses: `for (x in xs) {`"},
        {SCAN, 0, "put the inputs in parentheses: `scan (x in xs; h = h0) {`"},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (p->before.kind == table[i].before && (table[i].found == 0 || table[i].found == p->last.kind)) {
            diag_help(p->sink, "%s", table[i].help);
            return;
        }
    }
    if (computes(p->last.kind) && expects(expected, n, "repeat")) {
        diag_help(p->sink,
                  "`run` says what is launched: PHASE, repeat, every, save, stop when; phases compute");
        return;
    }
    if (p->first.kind == ID && p->last.kind == SEP && p->before.kind == ID && expects(expected, n, "name") &&
        n == 1) {
        diag_help(p->sink, "a unit is missing: `for 3 steps`, `for 2 epochs`");
        return;
    }
    if (p->first.kind == EVERY && expects(expected, n, "{")) {
        diag_help(p->sink, "what it runs stands in braces: `every 3 rounds { .. }`");
        return;
    }
    if (p->first.kind == EVERY && p->before.kind == '{') {
        diag_help(p->sink, "`every` takes a count and a unit: `every 3 rounds {`");
        return;
    }
    if (strchr("+-*/", p->last.kind & 127) && p->last.kind < 128 && p->text[p->last.at.end] == '=') {
        diag_help(p->sink, "there is no `%c=`: write `x = x %c ...`", p->last.kind, p->last.kind);
        return;
    }
    if (p->last.kind == ':' && expects(expected, n, "{")) {
        diag_help(p->sink, "a block stands in `{ }`");
        return;
    }
    const char *habit =
        habit_help(p, open_closer(p, expected, n) && expects(expected, n, ","), expects(expected, n, "over"));
    if (habit) {
        diag_help(p->sink, "%s", habit);
        return;
    }
    const struct keyword *k = keyword_of(p->last.kind);
    bool in_index = p->open.n && p->open.at[p->open.n - 1].kind == '[';
    if (p->last.kind == '=' && expects(expected, n, "==") && !in_index) {
        diag_help(p->sink, "`==` compares; `=` gives a name a value");
    } else if (k && !p->last.newline && expects(expected, n, "name")) {
        diag_help(p->sink, "`%s` is a keyword; as a name it may only stand after `.` or before `=` or `:`",
                  k->text);
    }
}

void report_syntax(struct parse *p, const char **expected, int n)
{
    if (p->quiet || p->stopped || report_strange_character(p)) {
        return;
    }
    unquote(p, expected, n);
    if (report_misspelt(p, expected, n)) {
        return;
    }
    const struct token *found = &p->last;
    bool has_before = p->before.at.end > 0 && !(p->before.kind == SEP || p->before.kind == ';');
    const struct keyword *k = keyword_of(found->kind);
    bool at_end = found->kind == SEP || found->kind == END ||
                  (found->newline && k && k->class != INSIDE && p->first.at.start != found->at.start);
    if (strchr(")]}", found->kind & 127) && found->kind < 128 && found->kind > 0 && !p->popped.kind) {
        diag_emit(p->sink, DIAG_E0100, parse_span(p, found->at), "this `%c` closes nothing", found->kind);
        return;
    }
    const char *wanted = expectation(p, expected, n);
    const char *after = has_before ? arena_printf(p->arena, " after %s", describe(p, &p->before)) : "";
    if (at_end && has_before) {
        diag_emit(p->sink, DIAG_E0100, parse_span(p, p->before.at), "expected %s%s, but the %s ends", wanted,
                  after, found->kind == END ? "file" : "line");
    } else {
        diag_emit(p->sink, DIAG_E0100, parse_span(p, found->at), "expected %s%s, found %s", wanted, after,
                  describe(p, found));
    }
    const struct bracket *open = open_closer(p, expected, n);
    if (open) {
        diag_label(p->sink, opener_span(p, open), "`%c` opened here", open->kind);
    }
    advise(p, expected, n);
}
