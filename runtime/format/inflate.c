/* Deflate data into blocks of known size. Nothing here grows a buffer: a bomb is refused by its claim, before
 * anything is allocated, or runs into the end of the block.
 */
#include <zlib.h>
#include "runtime/format/internal.h"

bool inflate_possible(uint64_t packed, uint64_t size)
{
    return size <= INFLATE_BYTES && size / DEFLATE_RATIO <= packed;
}

static voidpf inflate_alloc(voidpf ctx, uInt n, uInt size)
{
    return arena_alloc(ctx, mem_size(n, size));
}

static void inflate_free(voidpf ctx, voidpf p)
{
    (void)ctx; /* goes with its arena */
    (void)p;
}

/* zlib counts in 32 bits. */
static uInt step_of(uint64_t n)
{
    return n > UINT32_MAX ? UINT32_MAX : (uInt)n;
}

/* Inflates until *in or *out is used up or the stream ends; subtracts from both what was used. */
static bool inflate_run(const unsigned char *from, uint64_t *in, unsigned char *to, uint64_t *out, int window)
{
    struct arena *scratch = arena_new();
    z_stream s = {.zalloc = inflate_alloc, .zfree = inflate_free, .opaque = scratch};
    unsigned char none;
    int state = inflateInit2(&s, window);
    s.next_in = (unsigned char *)(uintptr_t)from;
    s.next_out = *out ? to : &none;
    while (state == Z_OK) {
        s.avail_in = step_of(*in);
        s.avail_out = step_of(*out);
        uInt had_in = s.avail_in, had_out = s.avail_out;
        state =
            inflate(&s, Z_NO_FLUSH); /* Z_BUF_ERROR without progress: more data than room, or too little */
        *in -= had_in - s.avail_in;
        *out -= had_out - s.avail_out;
    }
    arena_free(scratch);
    return state == Z_STREAM_END;
}

bool inflate_exactly(const unsigned char *from, uint64_t packed, unsigned char *to, uint64_t size, int window)
{
    return inflate_run(from, &packed, to, &size, window) && packed == 0 && size == 0;
}

uint64_t inflate_start(const unsigned char *from, uint64_t packed, unsigned char *to, uint64_t size,
                       int window)
{
    uint64_t left = size;
    inflate_run(from, &packed, to, &left, window);
    return size - left;
}
