/* The front end: trees, messages, spans, doc comments and limits. Goldens lie beside this file; run with
 * GML_UPDATE=1 to rewrite them after a deliberate change, and read the difference. */
#include <dirent.h>
#include <stdlib.h>
#include "grammar/ast.h"
#include "runtime/base/limits.h"
#include "tests/suite.h"

#define HERE GML_SOURCE "/tests/grammar/"

static struct arena *arena;
static struct sources sources;
static struct diag_sink sink;
static struct parsed parsed;

static void begin(void)
{
    arena = arena_new();
}

static void end(void)
{
    arena_free(arena);
}

static enum status parse_bytes(const char *path, const char *text, size_t n)
{
    sources_init(&sources, arena);
    diag_init(&sink, arena, &sources);
    uint16_t file = sources_add(&sources, path, text, (uint32_t)n);
    return gml_parse(arena, interner_new(arena), &sink, file, &parsed);
}

static enum status parse_text(const char *text)
{
    return parse_bytes("t.gml", text, strlen(text));
}

static char *read_file(const char *path, size_t *n)
{
    FILE *f = fopen(path, "rb");
    ck_assert_msg(f != NULL, "cannot open %s", path);
    fseek(f, 0, SEEK_END);
    long size = ftell(f);
    rewind(f);
    char *text = arena_alloc(arena, (size_t)size + 1);
    *n = fread(text, 1, (size_t)size, f);
    fclose(f);
    return text;
}

/* Compares text with a golden file, or writes it when GML_UPDATE is set. */
static void golden(const char *name, const char *text)
{
    char path[512];
    size_t n;
    snprintf(path, sizeof path, HERE "%s", name);
    if (getenv("GML_UPDATE")) {
        FILE *f = fopen(path, "w");
        ck_assert_ptr_nonnull(f);
        fputs(text, f);
        fclose(f);
    }
    ck_assert_str_eq(text, read_file(path, &n));
}

static void place(FILE *out, struct span s)
{
    uint32_t line, column;
    source_line_column(&sources.list.at[s.file], s.start, &line, &column);
    fprintf(out, "%u:%u `%.*s`", line, column, (int)(s.end - s.start),
            sources.list.at[s.file].text + s.start);
}

/* All diagnostics in the order of emission. */
static char *messages(void)
{
    char *text;
    size_t n;
    FILE *out = open_memstream(&text, &n);
    for (uint32_t i = 0; i < sink.list.n; i++) {
        const struct diag *d = &sink.list.at[i];
        fprintf(out, "%s ", diag_name(d->code));
        place(out, d->span);
        fprintf(out, "\n    %s\n", d->message);
        for (uint32_t k = 0; k < d->labels.n; k++) {
            fprintf(out, "    label ");
            place(out, d->labels.at[k].span);
            fprintf(out, ": %s\n", d->labels.at[k].text);
        }
        for (uint32_t k = 0; k < d->notes.n; k++) {
            fprintf(out, "    note: %s\n", d->notes.at[k]);
        }
        if (d->help) {
            fprintf(out, "    help: %s\n", d->help);
        }
    }
    fclose(out);
    return text;
}

START_TEST(drafts_parse)
{
    DIR *dir = opendir(HERE "drafts");
    int files = 0;
    ck_assert_ptr_nonnull(dir);
    for (struct dirent *e; (e = readdir(dir));) {
        if (strstr(e->d_name, ".gml")) {
            char path[512];
            size_t n;
            snprintf(path, sizeof path, HERE "drafts/%s", e->d_name);
            char *text = read_file(path, &n);
            enum status st = parse_bytes(e->d_name, text, n);
            ck_assert_msg(st == ST_OK, "%s: %s", e->d_name, sink.list.n ? sink.list.at[0].message : "?");
            ck_assert_uint_ge(parsed.file->list.n, 5);
            files++;
        }
    }
    closedir(dir);
    ck_assert_int_eq(files, 18);
}
END_TEST

/* Every example of the language reference. */
START_TEST(reference_parses)
{
    size_t n;
    char *text = read_file(GML_SOURCE "/grammar/README.md", &n);
    int blocks = 0;
    for (char *start; (start = strstr(text, "```gml\n")); blocks++) {
        start += strlen("```gml\n");
        text = strstr(start, "```");
        enum status st = parse_bytes("README", start, (size_t)(text - start));
        ck_assert_msg(st == ST_OK, "block %d: %s", blocks, sink.list.n ? sink.list.at[0].message : "?");
        text += 3;
    }
    ck_assert_int_ge(blocks, 2);
}
END_TEST

START_TEST(statements_print)
{
    size_t n;
    char *text = read_file(HERE "statements.gml", &n), *tree;
    ck_assert_int_eq(parse_bytes("statements.gml", text, n), ST_OK);
    FILE *out = open_memstream(&tree, &n);
    ast_print(parsed.file, out);
    fclose(out);
    golden("statements.ast", tree);
    free(tree);
}
END_TEST

/* Marks the kinds of a tree. */
static void visit(const struct ast *n, bool seen[AST_COUNT])
{
    if (!n) {
        return;
    }
    seen[n->kind] = true;
    for (uint32_t i = 0; i < n->list.n; i++) {
        visit(n->list.at[i], seen);
    }
    for (uint32_t i = 0; i < n->list2.n; i++) {
        visit(n->list2.at[i], seen);
    }
    visit(n->a, seen);
    visit(n->b, seen);
    visit(n->c, seen);
    visit(n->type, seen);
}

START_TEST(statements_hold_every_kind)
{
    bool seen[AST_COUNT] = {0};
    size_t n;
    char *text = read_file(HERE "statements.gml", &n);
    ck_assert_int_eq(parse_bytes("statements.gml", text, n), ST_OK);
    visit(parsed.file, seen);
    for (int k = AST_NONE + 1; k < AST_COUNT; k++) {
        ck_assert_msg(seen[k], "no %s in statements.gml", ast_kind_name(k));
    }
}
END_TEST

static void check_errors(const char *name)
{
    char path[512];
    size_t n;
    snprintf(path, sizeof path, HERE "%s.gml", name);
    char *text = read_file(path, &n);
    ck_assert_int_eq(parse_bytes(name, text, n), ST_MODEL);
    ck_assert(!sink.full);
    char *all = messages();
    snprintf(path, sizeof path, "%s.expected", name);
    golden(path, all);
    free(all);
}

START_TEST(errors_are_explained)
{
    check_errors("errors_words");
    check_errors("errors_run");
    check_errors("errors_brackets");
    check_errors("errors_values");
}
END_TEST

/* What a tree says about its text: every child lies inside its parent, and the span of a name is the name. */
static void check_spans(const struct ast *n, const char *text)
{
    const struct ast *children[] = {n->a, n->b, n->c, n->type};
    const struct ast_list *lists[] = {&n->list, &n->list2};
    ck_assert_uint_lt(n->span.start, n->span.end);
    bool has_name = n->name && n->kind != AST_IMPORT && n->kind != AST_TYPE_NAME;
    if (has_name) {
        ck_assert_uint_eq(n->name_span.end - n->name_span.start, strlen(n->name));
        ck_assert_int_eq(strncmp(text + n->name_span.start, n->name, strlen(n->name)), 0);
    }
    for (int i = 0; i < 4; i++) {
        if (children[i]) {
            ck_assert_uint_ge(children[i]->span.start, n->span.start);
            ck_assert_uint_le(children[i]->span.end, n->span.end);
            check_spans(children[i], text);
        }
    }
    for (int i = 0; i < 2; i++) {
        uint32_t at = n->span.start;
        for (uint32_t k = 0; k < lists[i]->n; k++) {
            ck_assert_uint_ge(lists[i]->at[k]->span.start, at);
            at = lists[i]->at[k]->span.end;
            ck_assert_uint_le(at, n->span.end);
            check_spans(lists[i]->at[k], text);
        }
    }
}

static const char *slice(const struct ast *n)
{
    return arena_strndup(arena, sources.list.at[1].text + n->span.start, n->span.end - n->span.start);
}

START_TEST(spans_are_exact)
{
    size_t n;
    char *text = read_file(HERE "statements.gml", &n);
    ck_assert_int_eq(parse_bytes("statements.gml", text, n), ST_OK);
    check_spans(parsed.file, text);

    ck_assert_int_eq(parse_text("let a = f( x [ :2 ] ,  - b ^ 2)   # end\n"), ST_OK);
    const struct ast *let = parsed.file->list.at[0], *call = let->a;
    ck_assert_str_eq(slice(let), "let a = f( x [ :2 ] ,  - b ^ 2)");
    ck_assert_str_eq(slice(call->list.at[0]), "x [ :2 ]");
    ck_assert_str_eq(slice(call->list.at[0]->a->list.at[0]), ":2");
    ck_assert_str_eq(slice(call->list.at[1]), "- b ^ 2");
    ck_assert_str_eq(slice(call->list.at[1]->a->a), "b ^ 2");
}
END_TEST

START_TEST(doc_comments_attach)
{
    ck_assert_int_eq(
        parse_text(
            "gml 1\n"
            "## of the file: a blank line follows\n\n"
            "## learning rate,\n##   per step  \n"
            "config lr = 1   ## a trailing comment is no doc\n"
            "config b = 2\n"
            "# plain\nconfig c = 3\n"
            "layer L{\n    ## width\n    H: dim } {\n        ## weights\n        param w: f32 = 0\n    }\n"),
        ST_OK);
    struct ast **at = parsed.file->list.at;
    ck_assert_str_eq(parsed.file->doc, "of the file: a blank line follows");
    ck_assert_ptr_null(at[0]->doc);
    ck_assert_str_eq(at[1]->doc, "learning rate,\n  per step");
    ck_assert_ptr_null(at[2]->doc);
    ck_assert_ptr_null(at[3]->doc);
    ck_assert_str_eq(at[4]->list.at[0]->doc, "width");
    ck_assert_str_eq(at[4]->b->list.at[0]->doc, "weights");
    ck_assert_uint_eq(parsed.comments.n, 7);
    ck_assert_uint_eq(parsed.comments.at[3].span.end - parsed.comments.at[3].span.start,
                      strlen("## a trailing comment is no doc"));
    ck_assert(!parsed.comments.at[3].is_doc);
}
END_TEST

START_TEST(lines_separate_statements)
{
    ck_assert_int_eq(parse_text("let a = x\n    |> f\n    + 0\n"), ST_MODEL); /* a stage is a postfix */
    ck_assert_int_eq(
        parse_text(
            "let a = x\n    |> f\n    |> g\nlet b = (a\n    + 2)\nlet c = a ; let d = f(\n  a,\n  b\n)"),
        ST_OK);
    ck_assert_uint_eq(parsed.file->list.n, 4);
    ck_assert_int_eq(
        parse_text(
            "let layer = 1\nlet b = s.next + s.if\nlet c = f(state = 1, data = 2)\nlet d: (run: f32) = e\n"),
        ST_OK);
    ck_assert_str_eq(parsed.file->list.at[0]->name, "layer");
    ck_assert_str_eq(parsed.file->list.at[2]->a->list.at[0]->name, "state");
}
END_TEST

static bool is_lost(const char *name)
{
    for (uint32_t i = 0; i < parsed.lost.n; i++) {
        if (strcmp(parsed.lost.at[i], name) == 0) {
            return true;
        }
    }
    return false;
}

/* Names whose declaration is broken are known to be lost, others are not. */
START_TEST(lost_names_are_noted)
{
    ck_assert_int_eq(
        parse_text("let a = (3\nlayr L(x) { return x }\nlet good = 1\nlet (u, v_1) = 3 +\nlet n = A{3\n"
                   "phase p { parm w: f32 = 0\n let z = 1 2\n }\nlayer M{H: (x) { return x }\nrun { }\n"),
        ST_MODEL);
    static const char *const lost[] = {"a", "L", "u", "v_1", "n", "w", "z", "M"};
    for (size_t i = 0; i < sizeof lost / sizeof *lost; i++) {
        ck_assert_msg(is_lost(lost[i]), "%s", lost[i]);
    }
    ck_assert(!is_lost("good"));
    ck_assert(!is_lost("p"));
    ck_assert_int_eq(parse_text("let a = 3\n"), ST_OK);
    ck_assert_uint_eq(parsed.lost.n, 0);
}
END_TEST

START_TEST(expressions_parse_alone)
{
    struct ast *e;
    sources_init(&sources, arena);
    diag_init(&sink, arena, &sources);
    struct interner *names = interner_new(arena);
    uint16_t good = sources_add(&sources, "a", "g * (1 - r^2)", 13);
    uint16_t bad = sources_add(&sources, "b", "g * ", 4), two = sources_add(&sources, "c", "let a = 3", 9);
    ck_assert_int_eq(gml_parse_expr(arena, names, &sink, good, &e), ST_OK);
    ck_assert_int_eq(e->kind, AST_BIN);
    ck_assert_ptr_eq(e->op, intern(names, "*"));
    ck_assert_int_eq(gml_parse_expr(arena, names, &sink, bad, &e), ST_MODEL);
    ck_assert_ptr_null(e);
    ck_assert_int_eq(gml_parse_expr(arena, names, &sink, two, &e), ST_MODEL);
}
END_TEST

/* n times `s` between two texts. */
static char *repeated(const char *before, const char *s, int n, const char *after)
{
    struct text t = {.arena = arena};
    text_printf(&t, "%s", before);
    for (int i = 0; i < n; i++) {
        text_append(&t, s, strlen(s));
    }
    text_printf(&t, "%s", after);
    return t.at;
}

static void expect_code(enum diag_code code)
{
    ck_assert_uint_eq(sink.list.n, 1);
    ck_assert_str_eq(diag_name(sink.list.at[0].code), diag_name(code));
}

START_TEST(limits_hold)
{
    ck_assert_int_eq(parse_text(repeated("let a = ", "(", 256, repeated("1", ")", 256, ""))), ST_OK);
    ck_assert_int_eq(parse_text(repeated("let a = ", "(", 257, repeated("1", ")", 257, ""))), ST_MODEL);
    expect_code(DIAG_E0108);
    ck_assert_uint_eq(sink.list.at[0].labels.n, 1);
    ck_assert_int_eq(parse_text(repeated("let a = ", "[", 100000, "")), ST_MODEL);
    expect_code(DIAG_E0108);
    ck_assert_int_eq(parse_text(repeated("let a = ", "- ", 1900, "1")), ST_OK);
    ck_assert_int_eq(parse_text(repeated("let a = ", "- ", 100000, "1")), ST_MODEL);
    expect_code(DIAG_E0108);
    ck_assert_int_eq(parse_text(repeated("let a = 1", " + 1", 100000, "")), ST_MODEL);
    expect_code(DIAG_E0108);
    ck_assert_int_eq(parse_text(repeated("let ", "x", LIMIT_IDENTIFIER, " = 1")), ST_OK);
    ck_assert_int_eq(parse_text(repeated("let ", "x", LIMIT_IDENTIFIER + 1, " = 1")), ST_MODEL);
    expect_code(DIAG_E0104);
    ck_assert_int_eq(parse_text(repeated("let a = \"", "x", LIMIT_STRING, "\"")), ST_OK);
    ck_assert_int_eq(parse_text(repeated("let a = \"", "x", LIMIT_STRING + 1, "\"")), ST_MODEL);
    expect_code(DIAG_E0104);
    ck_assert_int_eq(parse_text(repeated("let a = 0.", "1", LIMIT_NUMBER - 2, "")), ST_OK);
    ck_assert_int_eq(parse_text(repeated("let a = ", "1", 5000, "")), ST_MODEL);
    expect_code(DIAG_E0105);
    ck_assert_int_eq(parse_text(repeated("#", " ", LIMIT_SOURCE_BYTES - 1, "")), ST_OK);
    ck_assert_int_eq(parse_text(repeated("#", " ", LIMIT_SOURCE_BYTES, "")), ST_MODEL);
    expect_code(DIAG_E0109);
}
END_TEST

START_TEST(bytes_are_checked)
{
    ck_assert_int_eq(parse_bytes("t", "let a = \0 1", 11), ST_MODEL);
    expect_code(DIAG_E0101);
    static const char *const bad[] = {
        "# \xff", "# \xc3", "# \xc0\x80", "# \xed\xa0\x80", "# \xf5\x80\x80\x80", "\xff\xfe g"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        ck_assert_int_eq(parse_text(bad[i]), ST_MODEL);
        expect_code(DIAG_E0102);
    }
    ck_assert_int_eq(
        parse_text("\xef\xbb\xbfgml 1\n# \xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80\nlet s = \"\xc3\xa9\"\r\n"),
        ST_OK);
    ck_assert_int_eq(parse_text(""), ST_OK);
    ck_assert_int_eq(parse_text("\n\n;;\n"), ST_OK);
    ck_assert_uint_eq(parsed.file->list.n, 0);
}
END_TEST

/* Every prefix of a file, and the file without each of its bytes, ends in a status and a tree. */
START_TEST(no_prefix_and_no_gap_crashes)
{
    size_t n;
    char *text = read_file(HERE "statements.gml", &n);
    struct arena *keep = arena;
    for (size_t i = 0; i < 2 * n; i++) {
        arena = arena_new();
        char *copy = arena_strndup(arena, text, i < n ? i : n);
        if (i >= n) {
            memmove(copy + (i - n), copy + (i - n) + 1, 2 * n - i);
        }
        enum status st = parse_text(copy);
        ck_assert(st == ST_OK || st == ST_MODEL);
        ck_assert_ptr_nonnull(parsed.file);
        ck_assert((st == ST_OK) == (sink.n_errors == 0));
        arena_free(arena);
    }
    arena = keep;
}
END_TEST

/* One planted error leaves the declarations around it in the tree. */
START_TEST(recovery_keeps_the_rest)
{
    ck_assert_int_eq(parse_text("let a = 1\nlet b = (2\nphase p { let c = ; next s = 1 }\nlayer L(x) { "
                                "return x\nlet d = 3\nrun { }\n"),
                     ST_MODEL);
    ck_assert_uint_eq(sink.n_errors, 3);
    ck_assert_int_eq(parsed.file->list.at[0]->kind, AST_LET);
    ck_assert_int_eq(parsed.file->list.at[1]->kind, AST_PHASE);
    ck_assert_uint_eq(parsed.file->list.at[1]->b->list.n, 1);
    ck_assert_int_eq(parsed.file->list.at[2]->kind, AST_LAYER);
    ck_assert_int_eq(parsed.file->list.at[parsed.file->list.n - 1]->kind, AST_RUN);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("grammar");
    tcase_add_checked_fixture(t, begin, end);
    tcase_add_test(t, drafts_parse);
    tcase_add_test(t, reference_parses);
    tcase_add_test(t, statements_print);
    tcase_add_test(t, statements_hold_every_kind);
    tcase_add_test(t, errors_are_explained);
    tcase_add_test(t, spans_are_exact);
    tcase_add_test(t, doc_comments_attach);
    tcase_add_test(t, lines_separate_statements);
    tcase_add_test(t, lost_names_are_noted);
    tcase_add_test(t, expressions_parse_alone);
    tcase_add_test(t, limits_hold);
    tcase_add_test(t, bytes_are_checked);
    tcase_add_test(t, no_prefix_and_no_gap_crashes);
    tcase_add_test(t, recovery_keeps_the_rest);
    return suite_run("grammar", t, CK_FORK);
}
