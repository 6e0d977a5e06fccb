/* One JSON object per diagnostic. Bytes that are not UTF-8 become U+FFFD, so that the line always parses. */
#include "runtime/base/diag_json.h"

/* Length of a well-formed UTF-8 sequence at s, 0 if there is none. */
static int utf8_length(const unsigned char *s)
{
    if (s[0] < 0x80) {
        return 1;
    }
    int n = s[0] >= 0xf0 && s[0] <= 0xf4  ? 4
            : s[0] >= 0xe0 && s[0] < 0xf0 ? 3
            : s[0] >= 0xc2 && s[0] < 0xe0 ? 2
                                          : 0;
    for (int i = 1; i < n; i++) {
        if ((s[i] & 0xc0) != 0x80) {
            return 0;
        }
    }
    bool overlong = (s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xf0 && s[1] < 0x90);
    bool invalid = (s[0] == 0xed && s[1] > 0x9f) || (s[0] == 0xf4 && s[1] > 0x8f);
    return n && !overlong && !invalid ? n : 0;
}

static void put_string(FILE *out, const char *text)
{
    const unsigned char *s = (const unsigned char *)text;
    fputc('"', out);
    while (*s) {
        int n = utf8_length(s);
        if (*s == '"' || *s == '\\') {
            fprintf(out, "\\%c", *s);
        } else if (*s < 0x20) {
            fprintf(out, "\\u%04x", *s);
        } else if (!n) {
            fputs("\\ufffd", out);
        } else {
            fwrite(s, 1, (size_t)n, out);
        }
        s += n ? n : 1;
    }
    fputc('"', out);
}

static bool put_span(const struct sources *sources, struct span at, const char *label, bool is_primary,
                     bool comma, FILE *out)
{
    if (!sources || !at.file || at.file >= sources->list.n) {
        return false;
    }
    const struct source *s = &sources->list.at[at.file];
    uint32_t line, column, end_line, end_column;
    source_line_column(s, at.start, &line, &column);
    source_line_column(s, at.end, &end_line, &end_column);
    fprintf(out, "%s{\"file\":", comma ? "," : "");
    put_string(out, s->path);
    fprintf(out,
            ",\"line\":%u,\"column\":%u,\"end_line\":%u,\"end_column\":%u,\"is_primary\":%s,\"label\":", line,
            column, end_line, end_column, is_primary ? "true" : "false");
    put_string(out, label);
    fputc('}', out);
    return true;
}

void diag_json(const struct sources *sources, const struct diag *d, FILE *out)
{
    fprintf(out, "{\"code\":\"%s\",\"level\":\"%s\",\"message\":", diag_name(d->code),
            d->is_warning ? "warning" : "error");
    put_string(out, d->message);
    fputs(",\"spans\":[", out);
    bool comma = put_span(sources, d->span, "", true, false, out);
    for (uint32_t i = 0; i < d->labels.n; i++) {
        comma |= put_span(sources, d->labels.at[i].span, d->labels.at[i].text, false, comma, out);
    }
    fputs("],\"notes\":[", out);
    for (uint32_t i = 0; i < d->notes.n; i++) {
        fputs(i ? "," : "", out);
        put_string(out, d->notes.at[i]);
    }
    fputs("],\"help\":", out);
    if (d->help) {
        put_string(out, d->help);
    } else {
        fputs("null", out);
    }
    fputs("}\n", out);
}
