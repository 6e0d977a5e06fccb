/* gmlc fmt: model files in the style of grammar/format.h, in place, or by --check only named. */
#include <stdlib.h>
#include <string.h>
#include "grammar/format.h"
#include "runtime/base/limits.h"
#include "runtime/base/seam.h"
#include "runtime/model.h"
#include "tools/gmlc.h"

/* The standard input; one byte more than a source may have is enough to refuse it. */
static enum status read_pipe(struct call *c, char **text, size_t *n)
{
    struct text all = {.arena = c->arena};
    char part[4096];
    size_t got;
    text_append(&all, "", 0);
    while (all.n <= LIMIT_SOURCE_BYTES && (got = fread(part, 1, sizeof part, stdin)) > 0) {
        text_append(&all, part, got);
    }
    if (ferror(stdin)) {
        return diag_emit(&c->sink, DIAG_R1001, NO_SPAN, "cannot read the standard input");
    }
    *text = all.at;
    *n = all.n;
    return ST_OK;
}

/* The error of --check, at the first line that would change. */
static enum status report(struct call *c, uint16_t file, const char *to, size_t n)
{
    const struct source *s = &c->sink.sources->list.at[file];
    uint32_t line = 0, at = 0;
    for (; at < s->n && at < n && s->text[at] == to[at]; at++) {
        line = s->text[at] == '\n' ? at + 1 : line;
    }
    uint32_t end = line + (uint32_t)strcspn(s->text + line, "\n");
    diag_emit(&c->sink, DIAG_E0114, (struct span){line, end, file}, "`%s` is not in the style of gmlc fmt",
              s->path);
    diag_help(&c->sink, "`gmlc fmt %s` rewrites it", s->path);
    return ST_MODEL;
}

static enum status format_file(struct call *c, const char *path)
{
    bool pipe = strcmp(path, "-") == 0, check = c->o.at[OPT_CHECK].given;
    char *text;
    const char *to;
    size_t n, size;
    TRY(pipe ? read_pipe(c, &text, &n) : file_read(c->arena, path, LIMIT_SOURCE_BYTES, &text, &n, &c->sink));
    if (n > LIMIT_SOURCE_BYTES) {
        return diag_emit(&c->sink, DIAG_R1002, NO_SPAN, "the standard input has more than %d bytes",
                         LIMIT_SOURCE_BYTES);
    }
    uint16_t file = sources_add(c->sink.sources, pipe ? "<input>" : path, text, (uint32_t)n);
    TRY(gml_format(c->arena, interner_new(c->arena), &c->sink, file, &to, &size));
    bool same = size == n && memcmp(text, to, n) == 0;
    if (check) {
        return same ? ST_OK : report(c, file, to, size);
    }
    if (pipe) {
        fwrite(to, 1, size, stdout); /* main checks stdout */
        return ST_OK;
    }
    char *real = same ? NULL : realpath(path, NULL); /* a link stays a link */
    enum status st = same ? ST_OK : file_write(real ? real : path, to, size, &c->sink);
    free(real);
    return st;
}

enum status format_files(struct call *c)
{
    enum status worst = ST_OK;
    struct sources *sources = arena_new_of(c->arena, struct sources);
    sources_init(sources, c->arena);
    c->sink.sources = sources;
    for (uint32_t i = 0; i < c->o.args.n; i++) {
        const char *path = c->o.args.at[i];
        enum status st = strcmp(path, "-") == 0 ? ST_OK : model_check(c->arena, path, &c->sink);
        st = st == ST_OK ? format_file(c, path) : st;
        worst = st == ST_OK ? worst : st;
    }
    return worst;
}
