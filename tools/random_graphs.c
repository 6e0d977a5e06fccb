/* random_graphs: many random graphs through all checks. Prints what was covered; a failure is shrunk and
 * printed as text with the command that repeats it.
 *
 *   random_graphs N [SEED]        seeds SEED .. SEED + N - 1; every tenth graph also has its gradients
 * checked random_graphs --file GRAPH    one graph in text form random_graphs --print SEED    the graph of a
 * seed
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include "runtime/base/seam.h"
#include "tools/random/suite.h"

static volatile uint64_t running;
static void crashed(int signal_number)
{
    char text[96];
    int n = snprintf(text, sizeof text, "random_graphs: signal %d at seed %llu\n", signal_number,
                     (unsigned long long)running);
    if (write(2, text, (size_t)n) != n) {
        _exit(3);
    }
    _exit(2);
}
static int check_file(const char *path)
{
    struct arena *a = arena_new();
    struct diag_sink sink;
    char *text;
    size_t n;
    diag_init(&sink, a, NULL);
    if (file_read(a, path, 1 << 20, &text, &n, &sink) != ST_OK) {
        diag_render(&sink, DIAG_SHORT, false, stderr);
        return 3;
    }
    struct random_verdict v;
    bool ok = random_check(text, CHECK_NONE, &v) && random_check(text, CHECK_GRADIENT, &v);
    printf("%s: %s\n", path, ok ? "holds" : v.why);
    arena_free(a);
    return !ok;
}
static int print_seed(uint64_t seed)
{
    struct arena *a = arena_new();
    printf("%s", random_seed_text(a, seed, false, NULL));
    arena_free(a);
    return 0;
}
int main(int argc, char **argv)
{
    const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGABRT};
    if (argc < 2) {
        fprintf(stderr, "usage: random_graphs N [SEED] | --file GRAPH | --print SEED\n");
        return 64;
    }
    if (!strcmp(argv[1], "--file") && argc == 3) {
        return check_file(argv[2]);
    }
    if (!strcmp(argv[1], "--print") && argc == 3) {
        return print_seed(strtoull(argv[2], NULL, 10));
    }
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        signal(signals[i], crashed);
    }
    struct random_suite s = {.from = argc > 2 ? strtoull(argv[2], NULL, 10) : 1,
                             .n = strtoull(argv[1], NULL, 10),
                             .seed = &running};
    time_t start = time(NULL);
    random_suite_run(&s);
    random_suite_print(&s, stdout);
    printf("%lld s\n", (long long)(time(NULL) - start));
    return s.failures != 0 || s.missing != 0;
}
