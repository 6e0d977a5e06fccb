/* The parser's calls: checks of the whole source, set-up and tear-down, and the values of tokens. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include "grammar/parse.h"
#include "grammar/gml.tab.h"
#include "grammar/gml.lex.h"
#include "runtime/base/utf8.h"

/* -- Memory. bison and flex free without saying how much, so each block carries its size. */
union block_head {
    size_t bytes;
    max_align_t align;
};

void *parse_alloc(size_t n)
{
    return parse_realloc(NULL, n);
}

void *parse_realloc(void *old, size_t n)
{
    union block_head *head = old ? (union block_head *)old - 1 : NULL;
    size_t bytes = n + sizeof *head; /* both callers stay far below SIZE_MAX */
    head = mem_resize(head, head ? head->bytes : 0, bytes);
    head->bytes = bytes;
    return head + 1;
}

void parse_free(void *old)
{
    if (old) {
        union block_head *head = (union block_head *)old - 1;
        mem_free(head, head->bytes);
    }
}

/* -- Keywords */
static const struct keyword keywords[] = {
#define K(text, token, class) {text, token, class},
#include "grammar/keywords.def"
#undef K
};
enum { N_KEYWORDS = sizeof keywords / sizeof *keywords };
_Static_assert((int)N_KEYWORDS <= (int)KEYWORDS, "raise KEYWORDS");

const struct keyword *keyword_find(const char *text, size_t n)
{
    for (size_t i = 0; i < N_KEYWORDS; i++) {
        if (strncmp(keywords[i].text, text, n) == 0 && keywords[i].text[n] == '\0') {
            return &keywords[i];
        }
    }
    return NULL;
}

const struct keyword *keyword_of(int token)
{
    for (size_t i = 0; i < N_KEYWORDS; i++) {
        if (keywords[i].token == token) {
            return &keywords[i];
        }
    }
    return NULL;
}

uint32_t keyword_texts(unsigned classes, const char **out)
{
    uint32_t n = 0;
    for (size_t i = 0; i < N_KEYWORDS; i++) {
        if (keywords[i].class & classes) {
            out[n++] = keywords[i].text;
        }
    }
    return n;
}

/* -- Values of tokens */
const char *scan_name(struct parse *p, const char *text, uint32_t n, struct range at)
{
    if (n > LIMIT_IDENTIFIER) {
        diag_emit(p->sink, DIAG_E0104, parse_span(p, at), "this name has %u bytes, the most is %d", n,
                  LIMIT_IDENTIFIER);
    }
    return intern_n(p->names, text, n);
}

/* Resolves \n \t \" \\ of string contents that start at offset `at`. */
const char *scan_string(struct parse *p, const char *text, uint32_t n, uint32_t at)
{
    static const char from[] = "nt\"\\", to[] = "\n\t\"\\";
    char *s = arena_alloc(p->arena, (size_t)n + 1);
    uint32_t length = 0;
    if (n > LIMIT_STRING) {
        diag_emit(p->sink, DIAG_E0104, parse_span(p, (struct range){at, at + n}),
                  "this string has %u bytes, the most is %d", n, LIMIT_STRING);
    }
    for (uint32_t i = 0; i < n; i++) {
        const char *known = text[i] == '\\' ? strchr(from, text[i + 1]) : NULL;
        if (text[i] != '\\') {
            s[length++] = text[i];
        } else if (known) {
            s[length++] = to[known - from];
            i++;
        } else {
            diag_emit(p->sink, DIAG_E0100, parse_span(p, (struct range){at + i, at + i + 2}),
                      "`\\%c` is no escape of a string", text[i + 1]);
            diag_help(p->sink, "the escapes are `\\n`, `\\t`, `\\\"` and `\\\\`");
            i++;
        }
    }
    return s;
}

/* Emits and returns the reason why a number literal is refused; false when it is fine. */
static bool refuse_number(struct parse *p, const char *text, struct range at, double value, bool is_int,
                          bool zero)
{
    struct span span = parse_span(p, at);
    if (!isfinite(value)) {
        diag_emit(p->sink, DIAG_E0105, span, "the number `%s` is too large", text);
    } else if (value == 0 && !zero) {
        diag_emit(p->sink, DIAG_E0105, span, "the number `%s` is too close to zero", text);
    } else if (is_int && value > 9007199254740992.0) {
        diag_emit(p->sink, DIAG_E0105, span, "the whole number `%s` is larger than 2^53", text);
        diag_help(p->sink, "write it as a floating-point number: `%s.0`", text);
    } else {
        return false;
    }
    return true;
}

struct ast *ast_number(struct parse *p, const char *text, uint32_t n, struct range at)
{
    char digits[LIMIT_NUMBER + 1];
    uint32_t length = 0;
    bool is_int = true, zero = true;
    double value = 0;
    struct span span = parse_span(p, at);
    char *literal = arena_strndup(p->arena, text, n);
    if (n > LIMIT_NUMBER) {
        diag_emit(p->sink, DIAG_E0105, span, "this number has %u characters, the most is %d", n,
                  LIMIT_NUMBER);
        return ast_make(p, &(struct ast){.kind = AST_NUM, .span = span, .str = literal, .is_int = true});
    }
    bool mantissa = true;
    for (uint32_t i = 0; i < n; i++) {
        is_int = is_int && text[i] != '.' && text[i] != 'e' && text[i] != 'E';
        mantissa = mantissa && text[i] != 'e' && text[i] != 'E';
        zero = zero && !(mantissa && text[i] >= '1' && text[i] <= '9');
        if (text[i] != '_') {
            digits[length++] = text[i];
        }
    }
    digits[length] = '\0';
    char *end;
    value = strtod_l(digits, &end, p->c_locale);
    bool hex = strpbrk(digits, "xX") != NULL; /* strtod reads 0x1p3, gml does not */
    if (*end || hex || text[n - 1] == '_' || strstr(literal, "__")) {
        diag_emit(p->sink, DIAG_E0105, span, "`%s` is not a number", literal);
        diag_help(p->sink, hex ? "write it in decimal" : "numbers look like 12, 1_000, 0.5 or 1e-3");
        value = 0;
    } else if (refuse_number(p, literal, at, value, is_int, zero)) {
        value = 0;
    }
    return ast_make(
        p, &(struct ast){.kind = AST_NUM, .span = span, .str = literal, .is_int = is_int, .num = value});
}

/* -- Checks of the whole source */

static enum status check_source(const struct parse *p)
{
    if (p->n > LIMIT_SOURCE_BYTES) {
        return diag_emit(p->sink, DIAG_E0109, parse_span(p, (struct range){0, 0}),
                         "this file has %u bytes, the most is %u", p->n, LIMIT_SOURCE_BYTES);
    }
    for (uint32_t i = 0, length; i < p->n; i += length) {
        length = utf8_length(p->text + i, p->n - i);
        struct span span = parse_span(p, (struct range){i, i + 1});
        if (length == 0) {
            enum status s = diag_emit(p->sink, DIAG_E0102, span, "not UTF-8: byte 0x%02X at offset %u",
                                      (unsigned char)p->text[i], i);
            if (i == 0 && p->n > 1 &&
                ((unsigned char)p->text[0] == 0xFF || (unsigned char)p->text[0] == 0xFE)) {
                diag_help(p->sink, "this looks like UTF-16; save the file as UTF-8");
            }
            return s;
        }
        if (p->text[i] == '\0') {
            return diag_emit(p->sink, DIAG_E0101, span, "the source contains a NUL byte at offset %u", i);
        }
    }
    return ST_OK;
}

/* -- The calls */
enum status parse_source(struct parse *p, int start)
{
    uint32_t errors = p->sink->n_errors;
    const struct source *source = &p->sink->sources->list.at[p->file];
    p->text = source->text;
    p->n = source->n;
    p->start = start;
    p->last.kind = SEP;
    p->root = ast_make(p, &(struct ast){.kind = AST_FILE, .span = parse_span(p, (struct range){0, p->n})});
    TRY(check_source(p));
    p->c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    gmlyylex_init(&p->scanner);
    gmlyy_scan_bytes(p->text, (int)p->n, p->scanner);
    int failed = gmlyyparse(p);
    gmlyylex_destroy(p->scanner);
    freelocale(p->c_locale);
    if (p->root->kind == AST_FILE) {
        ast_file_doc(p);
    }
    return failed || p->sink->n_errors > errors ? ST_MODEL : ST_OK;
}

enum status gml_parse(struct arena *a, struct interner *names, struct diag_sink *sink, uint16_t file,
                      struct parsed *out)
{
    struct parse p = {.arena = a, .names = names, .sink = sink, .file = file, .out = out};
    *out = (struct parsed){0};
    enum status s = parse_source(&p, START_FILE);
    out->file = p.root;
    return s;
}

enum status gml_parse_expr(struct arena *a, struct interner *names, struct diag_sink *sink, uint16_t file,
                           struct ast **out)
{
    struct parsed unused = {0};
    struct parse p = {.arena = a, .names = names, .sink = sink, .file = file, .out = &unused};
    enum status s = parse_source(&p, START_EXPR);
    *out = s == ST_OK ? p.root : NULL;
    return s;
}
