/* UTF-8: checking and writing. */
#ifndef GML_BASE_UTF8_H
#define GML_BASE_UTF8_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Length of the well-formed sequence at s (n > 0 bytes left), 0 when there is none. */
static inline uint32_t utf8_length(const void *at, size_t n)
{
    const unsigned char *s = at;
    if (s[0] < 0x80) {
        return 1;
    }
    uint32_t length = s[0] >= 0xF0 ? 4 : s[0] >= 0xE0 ? 3 : 2;
    if (s[0] < 0xC2 || s[0] > 0xF4 || length > n) {
        return 0;
    }
    for (uint32_t i = 1; i < length; i++) {
        if ((s[i] & 0xC0) != 0x80) {
            return 0;
        }
    }
    bool overlong = (s[0] == 0xE0 && s[1] < 0xA0) || (s[0] == 0xF0 && s[1] < 0x90);
    bool outside = (s[0] == 0xED && s[1] > 0x9F) || (s[0] == 0xF4 && s[1] > 0x8F);
    return overlong || outside ? 0 : length;
}

/* Is it UTF-8 without control characters? What names of things in files must be. */
static inline bool utf8_printable(const char *s, size_t n)
{
    for (size_t i = 0; i < n;) {
        uint32_t length = utf8_length(s + i, n - i);
        if (length == 0 || (unsigned char)s[i] < 0x20 || s[i] == 0x7F) {
            return false;
        }
        i += length;
    }
    return true;
}

/* Writes a code point (U+FFFD for what is none) to at most 4 bytes; returns how many. */
static inline uint32_t utf8_put(char *to, uint32_t c)
{
    if (c > 0x10FFFF || (c >= 0xD800 && c <= 0xDFFF)) {
        c = 0xFFFD;
    }
    if (c < 0x80) {
        to[0] = (char)c;
        return 1;
    }
    uint32_t n = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    static const unsigned char first[] = {0, 0, 0xC0, 0xE0, 0xF0};
    for (uint32_t i = n - 1; i > 0; i--, c >>= 6) {
        to[i] = (char)(0x80 | (c & 0x3F));
    }
    to[0] = (char)(first[n] | c);
    return n;
}

#endif
