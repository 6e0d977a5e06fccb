/* Help for syntax errors that come from the habits of other languages. */
#include <string.h>
#include "grammar/parse.h"
#include "grammar/gml.tab.h"

/* Words that start a statement elsewhere. */
static const char *const openers[][2] = {
    {"def", "a function is `fn f(x) = ..` or `fn f(x) { .. return .. }`"},
    {"function", "a function is `fn f(x) = ..` or `fn f(x) { .. return .. }`"},
    {"func", "a function is `fn f(x) = ..` or `fn f(x) { .. return .. }`"},
    {"class", "a network is `layer NAME{sizes}(x) { .. return .. }`, and `let net = NAME{..}` makes one"},
    {"model", "a network is `layer NAME{sizes}(x) { .. return .. }`, and `let net = NAME{..}` makes one"},
    {"network", "a network is `layer NAME{sizes}(x) { .. return .. }`, and `let net = NAME{..}` makes one"},
    {"from", "write `import nn`, then `nn.NAME`"},
    {"var", "`let x = ..` introduces a name, `x = ..` gives it a new value"},
    {"const", "`let x = ..` introduces a name; `config x = ..` one that `--set` changes"},
    {"while", "loops are written out: `for (i in 0..n) { .. }`; in `run`, `repeat (n) { .. }`"},
    {"elif", "write `} else if (..) {`"},
    {"train", "training is a phase with a `minimize`, named in `run { .. }`"},
    {"dataset", "a data set is `data NAME = \"file.npz\" { x: f32[64] = field(\"x\") }`"},
    {"weight", "a parameter is `param w: f32[I, O] ~ nn.fan_in(I, O)`"},
    {"parameter", "a parameter is `param w: f32[I, O] ~ nn.fan_in(I, O)`"},
    {"print", "`metric name = ..` shows a number for each epoch, `output name = ..` writes a tensor"},
};

static const char *opener_help(const struct parse *p)
{
    const struct token *t = &p->first;
    bool at_start = t->at.start == p->last.at.start || t->at.start == p->before.at.start;
    for (size_t i = 0; t->kind == ID && at_start && i < sizeof openers / sizeof *openers; i++) {
        if (!strcmp(openers[i][0], t->name)) {
            return openers[i][1];
        }
    }
    return NULL;
}
static bool starts_value(int kind)
{
    return kind == ID || kind == NUM || kind == STR || kind == TRUE || kind == FALSE;
}
static bool is_statement(int kind)
{
    return kind == LET || kind == METRIC || kind == OUTPUT || kind == MINIMIZE || kind == STATE ||
           kind == NEXT;
}
/* Of the statements of a phase, which a schedule has none of. */
bool computes(int kind)
{
    return is_statement(kind) || kind == IF || kind == ASSERT || kind == PARAM;
}
const char *habit_help(const struct parse *p, bool wants_comma, bool wants_over)
{
    const char *opener = opener_help(p);
    if (opener) {
        return opener;
    }
    if (p->last.kind == IDIV && (p->last.newline || p->first.at.start == p->last.at.start)) {
        return "a comment starts with `#`";
    }
    if (p->first.kind == MINIMIZE && wants_over) {
        return "name what is trained: `minimize loss = .. over net using opt.adamw{..}`";
    }
    if (p->first.kind == MINIMIZE && p->last.kind == ',') {
        return "what belongs to the optimizer stands in its braces: `using opt.adamw{lr = 1e-3}`";
    }
    if (p->first.kind == PARAM && (p->last.kind == SEP || p->last.newline)) {
        return "a parameter has a first value, `= 0`, or is drawn, `~ nn.fan_in(I, O)`";
    }
    if (p->first.kind == METRIC && p->last.kind == ',') {
        return "each metric has a line of its own, with `metric` before it";
    }
    if (p->before.kind == STOP && p->last.kind != WHEN) {
        return "write `stop when CONDITION`";
    }
    if (p->before.kind == '=' && p->last.kind == FOR) {
        return "`for` has no value: `scan (..) { yield y = .. }` has one, and `each(f, list)` makes a list";
    }
    if (p->first.kind == DATA && p->before.kind == '=' && p->last.kind == ID) {
        return "the file stands in quotes: data NAME = \"file.csv\" { .. }";
    }
    if (p->first.kind == PHASE && p->before.kind == '{' && is_statement(p->last.kind)) {
        return "rows have a name, which stands before the block: phase p on d{batch = 32} as s { .. }";
    }
    if (p->first.kind == PHASE && p->last.kind == ',' && !p->open.n) {
        return "a phase has rows of one data set: put all members into its file; what is not rows is read by "
               "`let x = "
               "file(\"x.npy\")`";
    }
    if (p->last.kind == STOP && p->open.n) {
        return "`stop when` leaves a `repeat` of `run`; a scan does all its iterations, and `select(live, "
               "new, h)` lets rows "
               "stay as they were";
    }
    if (p->last.kind == FOR && p->open.n && p->first.at.start == p->last.at.start) {
        return "in `run`, `repeat (n) { .. }` repeats, and `train for 3 epochs` counts";
    }
    return wants_comma && starts_value(p->last.kind) ? "is there a `,` missing before it?" : NULL;
}
bool opens_indented(const struct parse *p)
{
    const char *line = p->text + p->first.at.start, *end = strchr(line, '\n');
    const char *comment = end ? memchr(line, '#', (size_t)(end - line)) : NULL;
    for (end = comment ? comment : end; end && end > line; end--) {
        if (!strchr(" \t\r", end[-1])) {
            return end[-1] == ':';
        }
    }
    return false;
}
