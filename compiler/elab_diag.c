/* Errors of the elaborator: the message, then where the text was expanded from (instance, call), then marked
 * operands. */
#include <stdarg.h>
#include "compiler/elab.h"

const char *source_slice(struct elab *e, struct span s)
{
    if (!s.file || s.file >= e->g->sources.list.n) {
        return "?";
    }
    const struct source *src = &e->g->sources.list.at[s.file];
    uint32_t end = s.end <= src->n ? s.end : src->n;
    uint32_t start = s.start <= end ? s.start : end;
    return arena_strndup(e->arena, src->text + start, end - start);
}
const char *place_text(struct elab *e, struct span s)
{
    uint32_t line, column;
    if (!s.file || s.file >= e->g->sources.list.n) {
        return "?";
    }
    const struct source *src = &e->g->sources.list.at[s.file];
    source_line_column(src, s.start, &line, &column);
    return arena_printf(e->arena, "%s:%u:%u", src->path, line, column);
}
/* The innermost instance and the innermost call say where expanded text comes from; more would bury the
 * message. */
void note_origin(struct elab *e)
{
    bool told_inst = false, told_call = false;
    for (const struct frame *f = e->frame; f; f = f->up) {
        if (f->inst && f->inst != e->root && !told_inst) {
            told_inst = true;
            diag_note(e->sink, "in %s, made at %s", f->inst->path, place_text(e, f->inst->made));
        }
        if (f->what && !told_call && !told_inst) {
            told_call = true;
            diag_note(e->sink, "in %s, called at %s", f->what, place_text(e, f->call));
        }
    }
}
struct value fail(struct elab *e, enum diag_code c, struct span at, const char *fmt, ...)
{
    char message[1024];
    va_list args;
    va_start(args, fmt);
    vsnprintf(message, sizeof message, fmt, args);
    va_end(args);
    if (diag_name(c)[0] == 'W') {
        diag_emit(e->sink, c, at, "%s", message);
        return poison();
    }
    (void)diag_emit(e->sink, c, at, "%s", message);
    note_origin(e);
    return poison();
}
struct value with_help(struct elab *e, struct value failed, const char *help)
{
    diag_help(e->sink, "%s", help);
    return failed;
}
/* Where a plain name was declared, when that helps. */
static const char *declared_text(struct elab *e, struct env *env, struct ast *at)
{
    bool closed;
    struct slot *s = env && at->kind == AST_ID ? env_find(env, at->name, &closed) : NULL;
    if (!s || !s->span.file) {
        return "";
    }
    if (s->what != NAME_PARAM && s->what != NAME_STATE && s->what != NAME_CONFIG) {
        return "";
    }
    uint32_t line, column;
    source_line_column(&e->g->sources.list.at[s->span.file], s->span.start, &line, &column);
    return arena_printf(e->arena, " (declared %u:%u)", line, column);
}
void label_operand(struct elab *e, struct env *env, struct ast *at, struct value v)
{
    if (!at) {
        return;
    }
    if (at->kind == AST_ID) {
        diag_label(e->sink, at->span, "`%s` is %s%s", at->name, value_text(e, v), declared_text(e, env, at));
    } else {
        diag_label(e->sink, at->span, "%s", value_text(e, v));
    }
}
/* The name that a phase gives to a sample. */
static const char *sample_name(struct elab *e, const struct phase *p)
{
    const struct ast_list *file = &e->modules.at[0]->parsed.file->list;
    for (uint32_t i = 0; i < file->n; i++) {
        if (file->at[i]->kind == AST_PHASE && file->at[i]->str && !strcmp(file->at[i]->name, p->name)) {
            return file->at[i]->str;
        }
    }
    return NULL;
}
void help_tail(struct elab *e, dim a, dim b)
{
    const struct phase *p = &e->g->phases.at[e->b.phase];
    if (!p->data || !p->batch || p->b == p->batch ||
        !((a == p->b && b == p->batch) || (a == p->batch && b == p->b))) {
        return;
    }
    const struct data *d = &e->g->datas.at[p->data - 1];
    const char *sample = sample_name(e, p);
    if (sample && d->n_field) {
        diag_help(e->sink, "the last launch of %s may have fewer rows than %s: len(%s.%s) says how many",
                  p->name, dim_text(e, p->batch), sample, d->field[0].name);
    }
}
void help_tail_types(struct elab *e, const struct type *a, const struct type *b)
{
    for (int k = 1; k <= a->rank && k <= b->rank; k++) {
        help_tail(e, a->dim[a->rank - k], b->dim[b->rank - k]);
    }
}
void help_closest(struct elab *e, const char *name, const char *const *candidate, uint32_t n)
{
    const char *near = closest_name(name, candidate, n);
    if (near) {
        diag_help(e->sink, "did you mean `%s`?", near);
    }
}
void help_names(struct elab *e, const char *name, const char *const *candidate, uint32_t n)
{
    struct text t = {.arena = e->arena};
    for (uint32_t i = 0; i < n; i++) {
        text_printf(&t, "%s`%s`", i ? ", " : "", candidate[i]);
    }
    if (n && !closest_name(name, candidate, n)) {
        diag_help(e->sink, "there %s %s", n == 1 ? "is" : "are", t.at);
    }
    help_closest(e, name, candidate, n);
}
