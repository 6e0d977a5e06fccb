/* Shared by the tests of .gmlb: reading bytes that end where they end, and checksums that a forger knows. */
#ifndef GML_TESTS_GRAPH_SEALED_H
#define GML_TESTS_GRAPH_SEALED_H
#include "tests/graph/common.h"

static inline enum status read_bytes(struct arena *a, const char *from, size_t n, struct diag_sink *s,
                                     struct graph **g)
{
    diag_init(s, a, NULL);
    char *exact = malloc(n ? n : 1); /* so that a sanitizer sees the end */
    memcpy(exact, from, n);
    enum status status = gmlb_read(a, "m.gmlb", exact, n, s, g);
    free(exact);
    return status;
}

/* CRC32C bit by bit, so that a forged payload gets past the checksum. */
static inline void seal(char *file, size_t n)
{
    uint32_t crc = ~0u;
    for (size_t i = 32; i < n; i++) {
        crc ^= (unsigned char)file[i];
        for (int k = 0; k < 8; k++) {
            crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78u : 0);
        }
    }
    crc = ~crc;
    memcpy(file + 28, &crc, 4);
}

#endif
