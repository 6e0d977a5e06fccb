/* gmlrun: trains and runs gml models. Options are in gmlrun_options.c, commands in gmlrun_commands.c. */
#include "tools/gmlrun.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "tools/common_program.h"

static volatile sig_atomic_t stops;

static void on_signal(int number)
{
    (void)number;
    if (stops) {
        _exit(status_exit_code(ST_FORCED));
    }
    stops = 1;
}

const volatile sig_atomic_t *catch_signals(void)
{
    struct sigaction s = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    sigemptyset(&s.sa_mask);
    sigaction(SIGINT, &s, NULL);
    sigaction(SIGTERM, &s, NULL);
    return &stops;
}

static const struct {
    const char *name;
    enum status (*run)(struct call *c);
} commands[] = {
    {"train", command_train},         {"eval", command_eval},       {"summary", command_summary},
    {"bench", command_bench},         {"profile", command_profile}, {"doctor", command_doctor},
    {"gradcheck", command_gradcheck}, {"compare", command_compare}, {"predict", command_predict},
    {"config", command_config},       {"dump", command_dump},       {"inspect", command_inspect},
};

static enum status dispatch(struct call *c)
{
    if (options_answer(&gmlrun_spec, &c->o, GML_VERSION, stdout)) {
        return ST_OK;
    }
    TRY(call_options(c));
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        if (strcmp(commands[i].name, c->o.command->name) == 0) {
            return commands[i].run(c);
        }
    }
    return diag_emit(&c->sink, DIAG_I0001, NO_SPAN, "command `%s` is in the table but nowhere else",
                     c->o.command->name);
}

int main(int argc, char **argv)
{
    install_exhausted();
    struct arena *a = arena_new();
    struct call c = {.arena = a, .command = command_line(a, argc, argv)};
    diag_init(&c.sink, a, NULL);
    enum status st = options_parse(a, &gmlrun_spec, argc, argv, &c.sink, &c.o);
    st = st == ST_OK ? dispatch(&c) : st;
    diag_render(&c.sink, DIAG_HUMAN, options_color(stderr), stderr);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fprintf(stderr, "error: cannot write the result\n");
        st = st == ST_OK ? ST_RESOURCE : st;
    }
    arena_free(a);
    return status_exit_code(st);
}
