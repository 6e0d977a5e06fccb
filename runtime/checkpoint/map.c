/* Renaming the tensors of a weights file: OLD=NEW with `*` for any text. */
#include "runtime/checkpoint/checkpoint.h"

#include <stdlib.h>

enum { STARS = 8 };

struct piece {
    const char *at;
    size_t n;
};

static int count_stars(const char *s)
{
    int n = 0;
    for (; *s; s++) {
        n += *s == '*';
    }
    return n;
}

/* Whether the whole key fits, and what each star stands for: as little as possible, the last one the rest.
 * Only the last star is ever made longer, so this takes at most strlen(pattern) * strlen(key) steps. */
static bool matches(const char *pattern, const char *key, struct piece *star)
{
    const char *after = NULL;
    int n = 0;
    while (*key || *pattern) {
        if (*pattern == '*') {
            star[n++] = (struct piece){key, 0};
            after = ++pattern;
        } else if (*key && *pattern == *key) {
            pattern++;
            key++;
        } else if (after && *key) {
            pattern = after;
            star[n - 1].n++;
            key = star[n - 1].at + star[n - 1].n;
        } else {
            return false;
        }
    }
    return true;
}

static const char *renamed(struct arena *a, const struct weight_map *m, const char *key)
{
    struct piece star[STARS];
    if (!matches(m->from, key, star)) {
        return NULL;
    }
    struct text t = {.arena = a};
    int n = 0;
    text_append(&t, "", 0);
    for (const char *p = m->to; *p; p++) {
        if (*p == '*') {
            text_append(&t, star[n].at, star[n].n);
            n++;
        } else {
            text_append(&t, p, 1);
        }
    }
    return t.at;
}

static enum status check_map(const struct weight_map *m, struct diag_sink *sink)
{
    int from = count_stars(m->from), to = count_stars(m->to);
    if (from != to || from > STARS) {
        return diag_emit(sink, DIAG_U0003, NO_SPAN,
                         "`--map %s=%s`: both sides need the same number of `*`, at most %d", m->from, m->to,
                         STARS);
    }
    return ST_OK;
}

static int by_name(const void *a, const void *b)
{
    const struct array *const *x = a, *const *y = b;
    return strcmp((*x)->name, (*y)->name);
}

static enum status check_twins(struct arena *a, const struct array_file *f, const char *path,
                               struct diag_sink *sink)
{
    const struct array **sorted = arena_array(a, const struct array *, f->n);
    for (uint32_t i = 0; i < f->n; i++) {
        sorted[i] = &f->at[i];
    }
    qsort(sorted, f->n, sizeof *sorted, by_name);
    for (uint32_t i = 1; i < f->n; i++) {
        if (strcmp(sorted[i - 1]->name, sorted[i]->name) == 0) {
            return diag_emit(sink, DIAG_F2201, NO_SPAN, "--map leads two tensors of %s to `%s`", path,
                             sorted[i]->name);
        }
    }
    return ST_OK;
}

enum status weights_rename(struct arena *a, struct array_file *f, const char *path,
                           const struct weight_map *map, uint32_t n_map, struct diag_sink *sink)
{
    bool *used = arena_array(a, bool, n_map);
    for (uint32_t k = 0; k < n_map; k++) {
        TRY(check_map(&map[k], sink));
    }
    for (uint32_t i = 0; i < f->n; i++) {
        const char *name = NULL;
        for (uint32_t k = 0; k < n_map && !name; k++) {
            name = renamed(a, &map[k], f->at[i].name);
            used[k] |= name != NULL;
        }
        f->at[i].name = name ? name : f->at[i].name;
    }
    for (uint32_t k = 0; k < n_map; k++) {
        if (!used[k]) {
            return diag_emit(sink, DIAG_U1002, NO_SPAN, "--map: %s has no tensor `%s`%s", path, map[k].from,
                             k ? " that an earlier --map left" : "");
        }
    }
    return n_map ? check_twins(a, f, path, sink) : ST_OK;
}
