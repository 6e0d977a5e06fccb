/* Parsing of command lines and their help; see common_options.h. */
#include "tools/common_options.h"
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct reader {
    struct arena *arena;
    const struct program_spec *spec;
    struct diag_sink *sink;
    struct options *out;
    char **argv;
    int argc, at;
};

static bool is_number(const char *word)
{
    return word[0] == '-' && (isdigit((unsigned char)word[1]) || word[1] == '.');
}

static const struct option_spec *by_name(const struct program_spec *spec, const char *name, size_t n)
{
    for (uint32_t i = 0; i < spec->n_options; i++) {
        if (strlen(spec->options[i].name) == n && strncmp(spec->options[i].name, name, n) == 0) {
            return &spec->options[i];
        }
    }
    return NULL;
}

static const struct option_spec *by_letter(const struct program_spec *spec, char letter)
{
    for (uint32_t i = 0; i < spec->n_options; i++) {
        if (spec->options[i].letter == letter) {
            return &spec->options[i];
        }
    }
    return NULL;
}

bool options_has_word(const char *list, char separator, const char *word)
{
    size_t n = strlen(word);
    for (const char *p = list; p && *p; p = strchr(p, separator), p = p ? p + 1 : NULL) {
        if (strncmp(p, word, n) == 0 && (p[n] == separator || p[n] == '\0')) {
            return true;
        }
    }
    return false;
}

static enum status unknown_option(struct reader *r, const char *name)
{
    const struct program_spec *s = r->spec;
    const char **names = arena_array(r->arena, const char *, s->n_options + 2);
    for (uint32_t i = 0; i < s->n_options; i++) {
        names[i] = s->options[i].name;
    }
    names[s->n_options] = "help";
    names[s->n_options + 1] = "version";
    const char *closest = closest_name(name, names, s->n_options + 2);
    enum status st = diag_emit(r->sink, DIAG_U0001, NO_SPAN, "unknown option `--%s`", name);
    if (closest) {
        diag_help(r->sink, "did you mean `--%s`?", closest);
    } else {
        diag_help(r->sink,
                  "`%s --help` lists the options; a config of the model is changed by --set %s=VALUE",
                  s->name, name);
    }
    return st;
}

static enum status bad_value(struct reader *r, const struct option_spec *o, const char *value,
                             const char *wanted)
{
    return diag_emit(r->sink, DIAG_U0003, NO_SPAN, "`--%s` takes %s, not `%s`", o->name, wanted, value);
}

static enum status store_choice(struct reader *r, const struct option_spec *o, const char *value)
{
    if (*value && options_has_word(o->argument, '|', value)) {
        return ST_OK;
    }
    const char *words[16];
    uint32_t n = 0;
    for (const char *p = o->argument; *p && n < 16; p += *p == '|') {
        size_t length = strcspn(p, "|");
        words[n++] = arena_strndup(r->arena, p, length);
        p += length;
    }
    enum status st = bad_value(r, o, value, arena_printf(r->arena, "one of %s", o->argument));
    const char *closest = closest_name(value, words, n);
    if (closest) {
        diag_help(r->sink, "did you mean `%s`?", closest);
    }
    return st;
}

static enum status store_pair(struct reader *r, const struct option_spec *o, const char *value,
                              struct option_value *v)
{
    const char *equals = strchr(value, '=');
    if (!equals || equals == value) {
        return bad_value(r, o, value, o->argument);
    }
    v->text = arena_strndup(r->arena, value, (size_t)(equals - value));
    for (uint32_t i = 0; i < v->many.n; i++) {
        if (strcmp(v->many.at[i], v->text) == 0) {
            return diag_emit(r->sink, DIAG_U0004, NO_SPAN, "`--%s %s` is given twice", o->name, v->text);
        }
    }
    vec_push(r->arena, &v->many, v->text);
    vec_push(r->arena, &v->values, equals + 1);
    return ST_OK;
}

static enum status store_number(struct reader *r, const struct option_spec *o, const char *value,
                                struct option_value *v)
{
    char *end;
    errno = 0;
    if (o->kind == OPTION_INT) {
        v->number = strtoll(value, &end, 10);
        v->real = (double)v->number;
        if (*end || end == value || errno || v->number < 0) {
            return bad_value(r, o, value, "a whole number, 0 or more");
        }
        return ST_OK;
    }
    v->real = strtod(value, &end);
    return *end || end == value || !isfinite(v->real) ? bad_value(r, o, value, "a number") : ST_OK;
}

static enum status store(struct reader *r, const struct option_spec *o, const char *value)
{
    struct option_value *v = &r->out->at[o - r->spec->options];
    if (v->given && o->kind != OPTION_MANY && o->kind != OPTION_PAIRS && o->kind != OPTION_FLAG) {
        return diag_emit(r->sink, DIAG_U0004, NO_SPAN, "`--%s` is given twice", o->name);
    }
    v->given = true;
    v->text = value;
    switch (o->kind) {
    case OPTION_MANY:
        vec_push(r->arena, &v->many, value);
        return ST_OK;
    case OPTION_PAIRS:
        return store_pair(r, o, value, v);
    case OPTION_CHOICE:
        return store_choice(r, o, value);
    case OPTION_INT:
    case OPTION_REAL:
        return store_number(r, o, value, v);
    default:
        return ST_OK;
    }
}

/* The value of an option: after `=`, after the letter, or the next word. */
static enum status take(struct reader *r, const struct option_spec *o, const char *attached)
{
    if (o->kind == OPTION_FLAG) {
        return attached ? diag_emit(r->sink, DIAG_U0003, NO_SPAN, "`--%s` takes no value", o->name)
                        : store(r, o, NULL);
    }
    if (!attached && r->at < r->argc) {
        const char *next = r->argv[r->at];
        if (next[0] != '-' || next[1] == '\0' || is_number(next)) {
            attached = next;
            r->at++;
        }
    }
    if (!attached) {
        enum status st = diag_emit(r->sink, DIAG_U0003, NO_SPAN, "`--%s` needs a value", o->name);
        diag_help(r->sink, "write `--%s %s`", o->name, o->argument);
        return st;
    }
    return store(r, o, attached);
}

static enum status long_option(struct reader *r, const char *word)
{
    size_t n = strcspn(word, "=");
    const struct option_spec *o = by_name(r->spec, word, n);
    if (!o && strcmp(word, "help") == 0) {
        r->out->help = true;
        return ST_OK;
    }
    if (!o && strcmp(word, "version") == 0) {
        r->out->version = true;
        return ST_OK;
    }
    if (!o && (strcmp(word, "manual") == 0 || strcmp(word, "completion") == 0)) {
        r->out->manual |= word[0] == 'm';
        r->out->completion |= word[0] == 'c';
        return ST_OK;
    }
    if (!o) {
        return unknown_option(r, arena_strndup(r->arena, word, n));
    }
    return take(r, o, word[n] == '=' ? word + n + 1 : NULL);
}

static enum status short_option(struct reader *r, const char *word)
{
    const struct option_spec *o = by_letter(r->spec, word[0]);
    if (!o && strcmp(word, "h") == 0) {
        r->out->help = true;
        return ST_OK;
    }
    if (!o) {
        const struct option_spec *meant = by_name(r->spec, word, strcspn(word, "="));
        enum status st = diag_emit(r->sink, DIAG_U0001, NO_SPAN, "unknown option `-%s`", word);
        if (meant) {
            diag_help(r->sink, "did you mean `--%s`?", word);
        } else {
            diag_help(r->sink, "`%s --help` lists the options", r->spec->name);
        }
        return st;
    }
    return take(r, o, word[1] ? word + 1 + (word[1] == '=') : NULL);
}

/* -- Commands */
static const struct command_spec *find_command(const struct program_spec *s, const char *name)
{
    for (uint32_t i = 0; i < s->n_commands; i++) {
        if (name ? s->commands[i].name && strcmp(s->commands[i].name, name) == 0 : !s->commands[i].name) {
            return &s->commands[i];
        }
    }
    return NULL;
}

static const char *closest_command(struct reader *r, const char *word)
{
    const char **names = arena_array(r->arena, const char *, r->spec->n_commands);
    uint32_t n = 0;
    for (uint32_t i = 0; i < r->spec->n_commands; i++) {
        if (r->spec->commands[i].name) {
            names[n++] = r->spec->commands[i].name;
        }
    }
    return closest_name(word, names, n);
}

static bool is_answer(const struct options *o)
{
    return o->help || o->version || o->manual || o->completion;
}

static enum status choose_command(struct reader *r)
{
    struct options *o = r->out;
    const char *word = o->args.n ? o->args.at[0] : NULL;
    o->command = word ? find_command(r->spec, word) : NULL;
    if (o->command) {
        memmove(o->args.at, o->args.at + 1, (o->args.n - 1) * sizeof *o->args.at);
        o->args.n--;
        return ST_OK;
    }
    o->command = find_command(r->spec, NULL);
    const char *closest = word && !strpbrk(word, "./") ? closest_command(r, word) : NULL;
    if (is_answer(o) || (o->command && !closest)) {
        return ST_OK;
    }
    if (!word) {
        enum status st = diag_emit(r->sink, DIAG_U0002, NO_SPAN, "a command is missing");
        diag_help(r->sink, "`%s --help` lists the commands", r->spec->name);
        return st;
    }
    enum status st = diag_emit(r->sink, DIAG_U0002, NO_SPAN, "unknown command `%s`", word);
    if (closest) {
        diag_help(r->sink, "did you mean `%s`?", closest);
    } else {
        diag_help(r->sink, "a command comes first, `%s COMMAND ..`; --help lists them", r->spec->name);
    }
    return st;
}

static const char *call_of(struct reader *r)
{
    const struct command_spec *c = r->out->command;
    return c->name ? arena_printf(r->arena, "%s %s", r->spec->name, c->name) : r->spec->name;
}

static enum status check_command(struct reader *r)
{
    const struct command_spec *c = r->out->command;
    for (uint32_t i = 0; i < r->spec->n_options; i++) {
        const struct option_spec *o = &r->spec->options[i];
        if (r->out->at[i].given && o->commands &&
            !options_has_word(o->commands, ' ', c->name ? c->name : "-")) {
            return diag_emit(r->sink, DIAG_U0005, NO_SPAN, "`--%s` is no option of `%s`", o->name,
                             call_of(r));
        }
    }
    uint32_t n = r->out->args.n;
    if (n < c->least || n > c->most) {
        enum status st =
            n < c->least ? diag_emit(r->sink, DIAG_U0002, NO_SPAN, "`%s` needs %s", call_of(r), c->arguments)
                         : diag_emit(r->sink, DIAG_U0002, NO_SPAN, "`%s` has no use for `%s`", call_of(r),
                                     r->out->args.at[c->most]);
        diag_help(r->sink, "usage: `%s [OPTIONS]%s%s`", call_of(r), c->arguments ? " " : "",
                  c->arguments ? c->arguments : "");
        return st;
    }
    return ST_OK;
}

enum status options_parse(struct arena *a, const struct program_spec *spec, int argc, char **argv,
                          struct diag_sink *sink, struct options *out)
{
    struct reader r = {a, spec, sink, out, argv, argc, 1};
    bool only_args = false;
    *out = (struct options){.at = arena_array(a, struct option_value, spec->n_options)};
    while (r.at < argc) {
        const char *word = argv[r.at++];
        if (only_args || word[0] != '-' || word[1] == '\0' || is_number(word)) {
            vec_push(a, &out->args, word);
        } else if (strcmp(word, "--") == 0) {
            only_args = true;
        } else if (word[1] == '-') {
            TRY(long_option(&r, word + 2));
        } else {
            TRY(short_option(&r, word + 1));
        }
    }
    if (out->args.n && strcmp(out->args.at[0], "help") == 0 && !find_command(spec, "help")) {
        out->help = true;
        memmove(out->args.at, out->args.at + 1, --out->args.n * sizeof *out->args.at);
    }
    TRY(choose_command(&r));
    return is_answer(out) ? ST_OK : check_command(&r);
}

/* -- Help */
static void help_options(const struct program_spec *spec, const struct command_spec *command, FILE *out)
{
    enum { COLUMN = 30 };
    for (uint32_t i = 0; i < spec->n_options; i++) {
        const struct option_spec *o = &spec->options[i];
        if (command && o->commands &&
            !options_has_word(o->commands, ' ', command->name ? command->name : "-")) {
            continue;
        }
        char letter[4] = {o->letter ? '-' : ' ', o->letter ? o->letter : ' ', o->letter ? ',' : ' ', '\0'};
        const char *between = !o->argument ? "" : o->kind == OPTION_PAIRS ? " " : "=";
        int n = fprintf(out, "  %s --%s%s%s", letter, o->name, between, o->argument ? o->argument : "");
        if (n >= COLUMN) {
            fputc('\n', out);
            n = 0;
        }
        fprintf(out, "%*s%s\n", COLUMN - n, "", o->help);
    }
    fprintf(out, "  -h, --help                  this text\n      --version               version of gml\n");
}

void options_help(const struct program_spec *spec, const struct command_spec *command, FILE *out)
{
    if (command && command->name) {
        fprintf(out, "usage: %s %s [OPTIONS] %s\n\n%s\n\nOptions\n", spec->name, command->name,
                command->arguments ? command->arguments : "", command->help);
        help_options(spec, command, out);
        return;
    }
    fprintf(out, "%s: %s\n\nUsage\n", spec->name, spec->summary);
    for (uint32_t i = 0; i < spec->n_commands; i++) {
        const struct command_spec *c = &spec->commands[i];
        int n = fprintf(out, "  %s %s%s%s", spec->name, c->name ? c->name : "",
                        c->name && c->arguments ? " " : "", c->arguments ? c->arguments : "");
        fprintf(out, "%*s%s\n", n < 30 ? 30 - n : 2, "", c->help);
    }
    if (spec->examples) {
        fprintf(out, "\nExamples\n%s", spec->examples);
    }
    fprintf(out, "\nOptions\n");
    help_options(spec, NULL, out);
}

bool options_terminal(FILE *stream)
{
    const char *term = getenv("TERM");
    return isatty(fileno(stream)) && term && strcmp(term, "dumb") != 0;
}

bool options_color(FILE *stream)
{
    const char *no = getenv("NO_COLOR");
    return options_terminal(stream) && !(no && *no);
}
