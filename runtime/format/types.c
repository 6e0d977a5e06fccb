/* Element kinds, and arrays as values. */
#include <math.h>
#include <stdarg.h>
#include <string.h>
#include "runtime/base/utf8.h"
#include "runtime/format/internal.h"

const struct file_type_row file_types[] = {
    [FT_BOOL] = {"bool", "|b1", "BOOL", 1, false}, [FT_U8] = {"u8", "|u1", "U8", 1, false},
    [FT_I8] = {"i8", "|i1", "I8", 1, false},       [FT_U16] = {"u16", "<u2", "U16", 2, false},
    [FT_I16] = {"i16", "<i2", "I16", 2, false},    [FT_U32] = {"u32", "<u4", "U32", 4, false},
    [FT_I32] = {"i32", "<i4", "I32", 4, false},    [FT_U64] = {"u64", "<u8", "U64", 8, false},
    [FT_I64] = {"i64", "<i8", "I64", 8, false},    [FT_F16] = {"f16", "<f2", "F16", 2, true},
    [FT_BF16] = {"bf16", NULL, "BF16", 2, true},   [FT_F32] = {"f32", "<f4", "F32", 4, true},
    [FT_F64] = {"f64", "<f8", "F64", 8, true},     [FT_BYTES] = {"bytes", "|S", NULL, 0, false},
    [FT_UNICODE] = {"text", "<U", NULL, 0, false}, [FT_STRING] = {"text", NULL, NULL, 0, false},
};
_Static_assert(sizeof file_types / sizeof *file_types == FILE_TYPES, "one row per kind");

size_t file_type_size(enum file_type t)
{
    return file_types[t].bytes;
}

const char *file_type_name(enum file_type t)
{
    return file_types[t].name;
}

bool file_type_is_text(enum file_type t)
{
    return file_types[t].bytes == 0;
}

const struct array *array_find(const struct array_file *f, const char *name)
{
    for (uint32_t i = 0; i < f->n; i++) {
        if (strcmp(f->at[i].name, name) == 0) {
            return &f->at[i];
        }
    }
    return NULL;
}

int64_t array_count(const struct array *a)
{
    int64_t n = 1;
    for (int i = 0; i < a->rank; i++) {
        n *= a->dim[i];
    }
    return n;
}

bool array_size_ok(struct array *a)
{
    int64_t n = 1, bytes;
    bool empty = false;
    for (int i = 0; i < a->rank; i++) {
        empty = empty || a->dim[i] == 0;
    }
    for (int i = 0; i < a->rank; i++) {
        if (a->dim[i] < 0 || a->dim[i] > LIMIT_DIM ||
            (!empty && (!mul_ok(n, a->dim[i], &n) || n > LIMIT_ELEMENTS))) {
            return false;
        }
    }
    if (!mul_ok(empty ? 0 : n, a->item_bytes, &bytes)) {
        return false;
    }
    a->n_bytes = (uint64_t)bytes;
    return true;
}

static double half_number(uint32_t h)
{
    int exponent = (int)(h >> 10 & 31), fraction = (int)(h & 1023);
    double v = exponent == 31  ? (fraction ? (double)NAN : (double)INFINITY)
               : exponent == 0 ? ldexp(fraction, -24)
                               : ldexp(1024 + fraction, exponent - 25);
    return h >> 15 ? -v : v;
}

double array_number(const struct array *x, int64_t i)
{
    const unsigned char *at = (const unsigned char *)x->bytes + (size_t)i * x->item_bytes;
    uint64_t bits = little(at, (int)x->item_bytes);
    uint32_t low = (uint32_t)bits;
    float f;
    double d;
    switch (x->type) {
    case FT_BOOL:
        return bits != 0;
    case FT_I8:
        return (int8_t)bits;
    case FT_I16:
        return (int16_t)bits;
    case FT_I32:
        return (int32_t)bits;
    case FT_I64:
        return (double)(int64_t)bits;
    case FT_F16:
        return half_number(low);
    case FT_BF16:
        low <<= 16; /* fall through */
    case FT_F32:
        memcpy(&f, &low, sizeof f);
        return (double)f;
    case FT_F64:
        memcpy(&d, &bits, sizeof d);
        return d;
    default:
        return (double)bits;
    }
}

const char *array_string(struct arena *a, const struct array *x, int64_t i)
{
    if (x->type == FT_STRING) {
        return ((const char *const *)x->bytes)[i];
    }
    const unsigned char *at = (const unsigned char *)x->bytes + (size_t)i * x->item_bytes;
    uint32_t width = x->type == FT_UNICODE ? 4 : 1, n = x->item_bytes / width, length = 0;
    while (n > 0 && little(at + (size_t)(n - 1) * width, (int)width) == 0) {
        n--;
    }
    char *s = arena_alloc(a, (size_t)n * 4 + 1);
    for (uint32_t k = 0; k < n; k++) {
        length += utf8_put(s + length, (uint32_t)little(at + (size_t)k * width, (int)width));
    }
    return s;
}

enum status array_need_numbers(const struct array *x, const char *path, struct diag_sink *sink)
{
    bool text = file_type_is_text(x->type);
    if (!text && !x->note) {
        return ST_OK;
    }
    if (!x->note) {
        return diag_emit(sink, DIAG_F3107, NO_SPAN, "%s: %s%s%s is text, and numbers are needed", path,
                         x->name[0] ? "`" : "the array", x->name, x->name[0] ? "`" : "");
    }
    enum status st = diag_emit(sink, text ? DIAG_F4004 : DIAG_F4005, NO_SPAN, "%s: column `%s`, %s", path,
                               x->name, x->note);
    diag_help(sink, !text ? "fill the cell, remove the row, or say what stands for it: field(.., missing = 0)"
                    : strstr(x->note, "decimal comma")
                        ? "decimals are written with a point, such as 1.5"
                        : "correct the cell; where the column holds names, "
                          "classes(\"column\", [\"a\", \"b\"]) gives each its number");
    return st;
}

enum status format_error(const struct origin *o, enum diag_code c, const char *fmt, ...)
{
    char message[512];
    va_list args;
    va_start(args, fmt);
    vsnprintf(message, sizeof message, fmt, args);
    va_end(args);
    return diag_emit(o->sink, c, NO_SPAN, "%s%s%s: %s", o->path, *o->member ? ": " : "", o->member, message);
}
