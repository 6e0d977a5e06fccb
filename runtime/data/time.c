/* Times as seconds since the first row: `2016-07-01 13:45:00` (RFC 3339, the time of the day, seconds and
 * zone may be missing), or numbers of seconds. */
#include <math.h>
#include "runtime/data/internal.h"

/* Days since 1970-03-01 in the proleptic Gregorian calendar, years counted from March so that the leap day is
 * the last one. */
static int64_t day_number(int64_t year, int month, int day)
{
    int64_t y = month < 3 ? year - 1 : year, m = month < 3 ? month + 9 : month - 3;
    return 365 * y + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + day;
}

static int days_of(int64_t year, int month)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    return days[month - 1] + (month == 2 && leap);
}

/* n digits as a number; -1 when they are not there. */
static int64_t digits(const char **s, int n)
{
    int64_t x = 0;
    for (int i = 0; i < n; i++, (*s)++) {
        if (**s < '0' || **s > '9') {
            return -1;
        }
        x = 10 * x + (**s - '0');
    }
    return x;
}

static bool skip(const char **s, char c)
{
    bool found = **s == c;
    *s += found;
    return found;
}

/* hh:mm[:ss[.fraction]] */
static bool clock_time(const char **s, double *out)
{
    int64_t hour = digits(s, 2), minute = skip(s, ':') ? digits(s, 2) : -1, second = 0;
    double fraction = 0, scale = 0.1;
    if (skip(s, ':')) {
        second = digits(s, 2);
        for (bool part = skip(s, '.'); part && **s >= '0' && **s <= '9'; (*s)++, scale /= 10) {
            fraction += scale * (**s - '0');
        }
    }
    *out = (double)(3600 * hour + 60 * minute + second) + fraction;
    return hour >= 0 && hour < 24 && minute >= 0 && minute < 60 && second >= 0 && second < 61;
}

/* Z, +hh:mm or -hh:mm. */
static bool zone(const char **s, double *out)
{
    *out = 0;
    if (skip(s, 'Z')) {
        return true;
    }
    bool minus = **s == '-';
    if (!skip(s, '+') && !skip(s, '-')) {
        return true;
    }
    int64_t hour = digits(s, 2), minute = skip(s, ':') ? digits(s, 2) : -1;
    *out = (double)(minus ? -1 : 1) * (double)(3600 * hour + 60 * minute);
    return hour >= 0 && hour < 24 && minute >= 0 && minute < 60;
}

static bool time_text(const char *s, double *out)
{
    int64_t year = digits(&s, 4), month = -1, day = -1;
    char between = *s;
    double clock = 0, offset = 0;
    if (year >= 0 && (between == '-' || between == '/')) {
        s++;
        month = digits(&s, 2);
        day = skip(&s, between) ? digits(&s, 2) : -1;
    }
    if (month < 1 || month > 12 || day < 1 || day > days_of(year, (int)month)) {
        return false;
    }
    if ((*s == 'T' || *s == ' ') && (s++, !clock_time(&s, &clock) || !zone(&s, &offset))) {
        return false;
    }
    *out = (double)day_number(year, (int)month, (int)day) * 86400 + clock - offset;
    return !*s;
}

static enum status no_time(const struct data_set *d, const char *name, int64_t row, const char *text,
                           struct span at, struct diag_sink *sink)
{
    enum status st = diag_emit(sink, DIAG_F3104, at, "`%s` of %s, row %lld: `%s` is no time", name, d->path,
                               (long long)row, text);
    diag_help(sink, "times are written 2016-07-01 13:45:00, or are numbers of seconds");
    return st;
}

enum status time_array(struct arena *a, const struct data_set *d, const struct array *x, const char *name,
                       struct span at, struct diag_sink *sink, const struct array **out)
{
    int64_t rows = x->dim[0];
    int32_t *seconds = arena_array(a, int32_t, (size_t)rows);
    struct arena *scratch = arena_new();
    double first = 0, t = 0;
    enum status st = ST_OK;
    for (int64_t i = 0; i < rows && st == ST_OK; i++) {
        bool text = file_type_is_text(x->type);
        const char *shown =
            text ? array_string(scratch, x, i) : arena_printf(scratch, "%g", array_number(x, i));
        t = text ? 0 : array_number(x, i);
        if (text ? !time_text(shown, &t) : !isfinite(t)) {
            st = no_time(d, name, i, shown, at, sink);
            break;
        }
        first = i ? first : t;
        double since = floor(t - first);
        if (!(since >= INT32_MIN && since <= INT32_MAX)) {
            st =
                diag_emit(sink, DIAG_F3104, at, "`%s` of %s, row %lld: `%s` is more than 68 years from row 0",
                          name, d->path, (long long)i, shown);
            break;
        }
        seconds[i] = (int32_t)since;
    }
    arena_free(scratch);
    *out = made_source(a, name, FT_I32, rows, seconds).at[0];
    return st;
}
