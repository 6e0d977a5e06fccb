/* Command lines of gmlc and gmlrun: one table per program drives parsing, checking, --help and "did you
 * mean".
 *
 * Options may stand before or after the command and its arguments: --name=value, --name value, -n value,
 * -nvalue.
 * `--` ends the options. An unknown option, a missing or wrong value and an option that does not belong to
 * the command are errors U0001 .. U0005 (exit 2); the closest name is suggested and never assumed. Every
 * program has --help (-h) and
 * --version. Values point into argv.
 */
#ifndef GML_TOOLS_COMMON_OPTIONS_H
#define GML_TOOLS_COMMON_OPTIONS_H
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include "runtime/base/diag.h"
#include "runtime/base/mem.h"

enum option_kind {
    OPTION_FLAG,   /* no value */
    OPTION_TEXT,   /* any text */
    OPTION_MANY,   /* any text, may be given several times */
    OPTION_PAIRS,  /* NAME=VALUE, may be given several times, each name once */
    OPTION_CHOICE, /* one of the words of `argument`, which are separated by | */
    OPTION_INT,    /* whole number >= 0 */
    OPTION_REAL,   /* finite number */
};
struct option_spec {
    const char *name; /* without the dashes */
    char letter;      /* 0: none */
    enum option_kind kind;
    const char *argument; /* shown in --help: "FILE", "human|short|json"; NULL for flags */
    const char *help;     /* one line */
    const char *commands; /* names of the commands that take it, separated by blanks; NULL: all */
};
struct command_spec {
    const char *name;      /* NULL: what the program does without a command word */
    const char *arguments; /* shown in --help: "MODEL.gml" */
    uint32_t least, most;  /* number of arguments */
    const char *help;      /* one line */
};
struct program_spec {
    const char *name, *summary;
    const struct command_spec *commands;
    uint32_t n_commands;
    const struct option_spec *options;
    uint32_t n_options;
    const char *examples; /* lines, each ended by \n */
};

struct option_value {
    bool given;
    const char *text;         /* TEXT, CHOICE, and the last of MANY; of PAIRS the name */
    int64_t number;           /* INT */
    double real;              /* REAL and INT */
    VEC(const char *) many;   /* MANY; of PAIRS the names */
    VEC(const char *) values; /* of PAIRS */
};
struct options {
    const struct command_spec *command; /* never NULL after success */
    struct option_value *at;            /* by index in program_spec.options */
    VEC(const char *) args;
    bool help, version;      /* then nothing else was checked */
    bool manual, completion; /* likewise; --manual and --completion are for the build and not in --help */
};

/* Parses argv[1..]. Errors go to the sink. */
MUST_CHECK enum status options_parse(struct arena *a, const struct program_spec *spec, int argc, char **argv,
                                     struct diag_sink *sink, struct options *out);
/* Help of the program, or of one command when `command` is set and has a name. */
void options_help(const struct program_spec *spec, const struct command_spec *command, FILE *out);
/* The manual page as troff, and the completion of bash. */
void options_manual(const struct program_spec *spec, const char *version, FILE *out);
void options_completion(const struct program_spec *spec, FILE *out);
/* Prints what --help, --version, --manual or --completion ask for; false when none was given. */
bool options_answer(const struct program_spec *spec, const struct options *o, const char *version, FILE *out);
/* Does a list of words, separated by `separator`, hold this one? */
bool options_has_word(const char *list, char separator, const char *word);
/* Can lines be drawn again on this stream? A terminal, TERM not dumb. */
bool options_terminal(FILE *stream);
/* Is colour welcome on this stream? Such a terminal, and no NO_COLOR. */
bool options_color(FILE *stream);

#endif
