/* The calls both mains share: folders, the command line as text, the end of memory. */
#include "tools/common_program.h"
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

const char *folder_of(struct arena *a, const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash == path ? "/" : slash ? arena_strndup(a, path, (size_t)(slash - path)) : "";
}

static bool is_plain(const char *word)
{
    return word[0] &&
           strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=:,+@%") ==
               strlen(word);
}

const char *command_line(struct arena *a, int argc, char **argv)
{
    struct text t = {.arena = a};
    text_append(&t, "", 0);
    for (int i = 0; i < argc; i++) {
        const char *word = i ? argv[i] : strrchr(argv[0], '/') ? strrchr(argv[0], '/') + 1 : argv[0];
        text_printf(&t, "%s", i ? " " : "");
        if (is_plain(word)) {
            text_printf(&t, "%s", word);
            continue;
        }
        text_append(&t, "'", 1);
        for (const char *p = word; *p; p++) {
            text_append(&t, *p == '\'' ? "'\\''" : p, *p == '\'' ? 4 : 1);
        }
        text_append(&t, "'", 1);
    }
    return t.at;
}

static void out_of_memory(void *ctx, size_t bytes)
{
    (void)ctx;
    fprintf(stderr, "error: out of memory (%zu bytes were asked for)\n", bytes);
    _exit(status_exit_code(ST_RESOURCE));
}

void install_exhausted(void)
{
    mem_seam.exhausted = out_of_memory;
}
