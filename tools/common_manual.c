/* What else the option table gives: the manual page and the completion of bash. Commands and options that
 * come later are in neither.
 *
 * `PROGRAM --manual` and `PROGRAM --completion` print them; the build writes both for gmlc and gmlrun.
 */
#include <ctype.h>
#include <string.h>
#include "runtime/base/status.h"
#include "tools/common_options.h"

static bool is_later(const char *help)
{
    return strcmp(help, "comes later") == 0;
}

/* Words of a list that ends with NULL or is separated by blanks. */
static bool belongs(const struct option_spec *o, const struct command_spec *c)
{
    return !is_later(o->help) &&
           (!o->commands || options_has_word(o->commands, ' ', c->name ? c->name : "-"));
}

/* -- the manual page */

/* Text for troff: backslashes, minus signs, and dots and quotes that would begin a request. */
static void put_troff(const char *s, FILE *out)
{
    bool starts = true;
    for (; *s; s++) {
        if (starts && (*s == '.' || *s == '\'')) {
            fputs("\\&", out);
        }
        fputs(*s == '\\' ? "\\e" : *s == '-' ? "\\-" : *s == '\'' ? "\\(aq" : *s == '`' ? "\\(ga" : "", out);
        if (!strchr("\\-'`", *s)) {
            fputc(*s, out);
        }
        starts = *s == '\n';
    }
}

static void put_title(const struct program_spec *s, const char *version, FILE *out)
{
    fputs(".TH ", out);
    for (const char *p = s->name; *p; p++) {
        fputc(toupper((unsigned char)*p), out);
    }
    fprintf(out, " 1 \"\" \"gml %s\" \"gml\"\n.SH NAME\n%s \\- ", version, s->name);
    put_troff(s->summary, out);
    fputs("\n.SH SYNOPSIS\n", out);
    for (uint32_t i = 0; i < s->n_commands; i++) {
        const struct command_spec *c = &s->commands[i];
        if (is_later(c->help)) {
            continue;
        }
        fprintf(out, ".B %s%s%s\n[\\fIOPTIONS\\fR] ", s->name, c->name ? " " : "", c->name ? c->name : "");
        put_troff(c->arguments ? c->arguments : "", out);
        fputs("\n.br\n", out);
    }
}

static void put_commands(const struct program_spec *s, FILE *out)
{
    fputs(".SH COMMANDS\n", out);
    for (uint32_t i = 0; i < s->n_commands; i++) {
        const struct command_spec *c = &s->commands[i];
        if (!is_later(c->help)) {
            fprintf(out, ".TP\n.B %s%s", c->name ? c->name : "(none)", c->arguments ? " " : "");
            put_troff(c->arguments ? c->arguments : "", out);
            fputs("\n", out);
            put_troff(c->help, out);
            fputs("\n", out);
        }
    }
}

static void put_option(const struct option_spec *o, FILE *out)
{
    fputs(".TP\n", out);
    if (o->letter) {
        fprintf(out, "\\fB\\-%c\\fR, ", o->letter);
    }
    fputs("\\fB\\-\\-", out);
    put_troff(o->name, out);
    fputs("\\fR", out);
    if (o->argument) {
        fputs(o->kind == OPTION_PAIRS ? " \\fI" : "=\\fI", out);
        put_troff(o->argument, out);
        fputs("\\fR", out);
    }
    fputs("\n", out);
    put_troff(o->help, out);
    if (o->commands && strcmp(o->commands, "-") != 0) {
        fputs("\n.br\nWith: ", out);
        put_troff(o->commands, out);
        fputs(".", out);
    }
    fputs("\n", out);
}

static void put_ends(const struct program_spec *s, FILE *out)
{
    static const struct {
        int code;
        const char *text;
    } exits[] = {
#define S(name, code, text) {code, text},
#include "runtime/base/status.def"
#undef S
    };
    fputs(".SH EXAMPLES\n.nf\n", out);
    put_troff(s->examples ? s->examples : "", out);
    fputs(".fi\n.SH EXIT STATUS\n", out);
    for (size_t i = 0; i < sizeof exits / sizeof *exits; i++) {
        fprintf(out, ".TP\n.B %d\n", exits[i].code);
        put_troff(exits[i].text, out);
        fputs("\n", out);
    }
    fputs(
        ".SH ENVIRONMENT\n.TP\n.B NO_COLOR\nIf set and not empty, messages have no colour.\n.TP\n.B GML_STD\n"
        "Folder of the standard library, instead of the one beside the program.\n.SH SEE ALSO\n",
        out);
    fprintf(out, ".BR %s (1)\n", strcmp(s->name, "gmlc") == 0 ? "gmlrun" : "gmlc");
}

void options_manual(const struct program_spec *s, const char *version, FILE *out)
{
    put_title(s, version, out);
    put_commands(s, out);
    fputs(".SH OPTIONS\nOptions stand before or after the command and its arguments.\n", out);
    for (uint32_t i = 0; i < s->n_options; i++) {
        if (!is_later(s->options[i].help)) {
            put_option(&s->options[i], out);
        }
    }
    fputs(".TP\n\\fB\\-h\\fR, \\fB\\-\\-help\\fR\nHelp of the program or of the command.\n"
          ".TP\n\\fB\\-\\-version\\fR\nThe version of gml.\n",
          out);
    put_ends(s, out);
}

/* -- bash */

static void put_names(const struct program_spec *s, const struct command_spec *c, FILE *out)
{
    for (uint32_t i = 0; i < s->n_options; i++) {
        if (belongs(&s->options[i], c)) {
            fprintf(out, "--%s%s ", s->options[i].name, s->options[i].argument ? "=" : "");
        }
    }
    fputs("--help", out);
}

/* `--device cpu|cuda[:N]` -> cpu cuda; NULL-like when the argument is no list of words. */
static bool put_words(const char *argument, FILE *out)
{
    if (!strchr(argument, '|')) {
        return false;
    }
    for (const char *p = argument; *p;) {
        size_t n = strcspn(p, "|["), whole = strcspn(p, "|");
        if (islower((unsigned char)*p)) {
            fprintf(out, "%.*s ", (int)n, p);
        }
        p += whole + (p[whole] == '|');
    }
    return true;
}

static void put_values(const struct program_spec *s, FILE *out)
{
    for (uint32_t i = 0; i < s->n_options; i++) {
        const struct option_spec *o = &s->options[i];
        if (!o->argument || is_later(o->help)) {
            continue;
        }
        fprintf(out, "    --%s", o->name);
        if (o->letter) {
            fprintf(out, " | -%c", o->letter);
        }
        fputs(") ", out);
        if (strchr(o->argument, '|')) {
            fputs("COMPREPLY=($(compgen -W \"", out);
            put_words(o->argument, out);
            fputs("\" -- \"$word\")) ;;\n", out);
        } else if (strcmp(o->argument, "DIR") == 0) {
            fputs("COMPREPLY=($(compgen -d -- \"$word\")) ;;\n", out);
        } else if (strcmp(o->argument, "FILE") == 0 || strcmp(o->argument, "PATH") == 0) {
            fputs("COMPREPLY=($(compgen -f -- \"$word\")) ;;\n", out);
        } else {
            fputs("COMPREPLY=() ;;\n", out);
        }
    }
}

void options_completion(const struct program_spec *s, FILE *out)
{
    fprintf(
        out,
        "# bash completion of %s; written by %s --completion\n_%s() {\n"
        "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command= options= i\n"
        "    COMPREPLY=()\n"
        "    # bash cuts --name=value at the =\n"
        "    if [ \"$word\" = = ]; then\n        word=\n    elif [ \"$before\" = = ]; then\n"
        "        before=${COMP_WORDS[COMP_CWORD - 2]}\n    fi\n    case $before in\n",
        s->name, s->name, s->name);
    put_values(s, out);
    fputs("    *)\n        for ((i = 1; i < COMP_CWORD; i++)); do\n            case ${COMP_WORDS[i]} in\n",
          out);
    for (uint32_t i = 0; i < s->n_commands; i++) {
        const struct command_spec *c = &s->commands[i];
        if (c->name && !is_later(c->help)) {
            fprintf(out, "            %s) command=%s options=\"", c->name, c->name);
            put_names(s, c, out);
            fputs("\" ;;\n", out);
        }
    }
    fputs("            esac\n        done\n        if [ -z \"$command\" ]; then\n            options=\"",
          out);
    for (uint32_t i = 0; i < s->n_commands; i++) {
        const struct command_spec *c = &s->commands[i];
        if (!c->name) {
            put_names(s, c, out);
            fputs(" ", out);
        } else if (!is_later(c->help)) {
            fprintf(out, "%s ", c->name);
        }
    }
    fprintf(out,
            "--help --version\"\n        fi\n"
            "        COMPREPLY=($(compgen -W \"$options\" -- \"$word\"))\n"
            "        [ ${#COMPREPLY[@]} -gt 0 ] || COMPREPLY=($(compgen -f -- \"$word\"))\n"
            "        [ \"${COMPREPLY[0]%%=}\" = \"${COMPREPLY[0]}\" ] || compopt -o nospace 2>/dev/null ;;\n"
            "    esac\n}\ncomplete -o filenames -F _%s %s\n",
            s->name, s->name);
}

bool options_answer(const struct program_spec *s, const struct options *o, const char *version, FILE *out)
{
    if (o->help) {
        options_help(s, o->command, out);
    } else if (o->version) {
        fprintf(out, "%s %s\n", s->name, version);
    } else if (o->manual) {
        options_manual(s, version, out);
    } else if (o->completion) {
        options_completion(s, out);
    }
    return o->help || o->version || o->manual || o->completion;
}
