/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * PNG (RFC 2083) with deflate (RFC 1951) by fixed codes. Matches are looked for
 * in two places only, the pixel before and the row above: pictures of cells are
 * made of these.
 */
#include "view/png.h"

#include <stdint.h>
#include <string.h>

static const char png_label[] = "png";

enum {
    PNG_MIN_MATCH = 4, /* shorter ones cost as much as their bytes */
    PNG_MAX_MATCH = 258,
    PNG_END_OF_BLOCK = 256
};

/* Bytes that grow, and bits that are not yet a byte. */
struct png_bytes {
    struct storm_memory *memory;
    unsigned char *byte;
    size_t n, capacity;
    uint32_t bits;
    int n_bits;
    bool failed;
};

static void png_put(struct png_bytes *out, unsigned value)
{
    void *room = out->byte;
    if (storm_reserve(out->memory, png_label, 1, out->n + 1, &room,
                      &out->capacity) < 0)
        out->failed = true;
    out->byte = room;
    if (!out->failed)
        out->byte[out->n++] = (unsigned char)value;
}

static void png_put_number(struct png_bytes *out, uint32_t value)
{
    for (int shift = 24; shift >= 0; shift -= 8)
        png_put(out, value >> shift & 0xff);
}

/* ---- deflate ------------------------------------------------------------- */

/* The lowest bit first. */
static void png_put_bits(struct png_bytes *out, uint32_t value, int n)
{
    out->bits |= value << out->n_bits;
    for (out->n_bits += n; out->n_bits >= 8; out->n_bits -= 8) {
        png_put(out, out->bits & 0xff);
        out->bits >>= 8;
    }
}

/* Codes go from their highest bit. */
static void png_put_code(struct png_bytes *out, uint32_t code, int n)
{
    uint32_t reversed = 0;
    for (int i = 0; i < n; i++)
        reversed |= (code >> i & 1) << (n - 1 - i);
    png_put_bits(out, reversed, n);
}

/* A byte, the end of a block or the class of a length. */
static void png_put_symbol(struct png_bytes *out, uint32_t symbol)
{
    if (symbol < 144)
        png_put_code(out, 0x30 + symbol, 8);
    else if (symbol < 256)
        png_put_code(out, 0x190 + symbol - 144, 9);
    else if (symbol < 280)
        png_put_code(out, symbol - 256, 7);
    else
        png_put_code(out, 0xc0 + symbol - 280, 8);
}

static int png_log2(uint32_t value)
{
    int n = -1;
    for (; value > 0; value >>= 1)
        n++;
    return n;
}

static void png_put_match(struct png_bytes *out, uint32_t length,
                          uint32_t distance)
{
    uint32_t l = length - 3, d = distance - 1;
    int extra = l < 8 ? 0 : png_log2(l) - 2;
    if (length == PNG_MAX_MATCH) {
        png_put_symbol(out, 285);
    } else {
        png_put_symbol(out, l < 8
                                ? 257 + l
                                : 261 + 4 * (uint32_t)extra + (l >> extra & 3));
        png_put_bits(out, l & ((1u << extra) - 1), extra);
    }
    extra = d < 4 ? 0 : png_log2(d) - 1;
    png_put_code(out, d < 4 ? d : 2 + 2 * (uint32_t)extra + (d >> extra & 1),
                 5);
    png_put_bits(out, d & ((1u << extra) - 1), extra);
}

/* How many bytes from `at` on are those `distance` before. */
static size_t png_match(const unsigned char *raw, size_t n, size_t at,
                        size_t distance)
{
    size_t length = 0;
    if (distance > at)
        return 0;
    while (length < PNG_MAX_MATCH && at + length < n &&
           raw[at + length] == raw[at + length - distance])
        length++;
    return length;
}

static void png_deflate(struct png_bytes *out, const unsigned char *raw,
                        size_t n, size_t row)
{
    png_put_bits(out, 1, 1); /* the last block */
    png_put_bits(out, 1, 2); /* of fixed codes */
    for (size_t at = 0; at < n;) {
        size_t before = png_match(raw, n, at, 1);
        size_t above = png_match(raw, n, at, row);
        size_t length = above > before ? above : before;
        if (length < PNG_MIN_MATCH) {
            png_put_symbol(out, raw[at++]);
            continue;
        }
        png_put_match(out, (uint32_t)length,
                      (uint32_t)(above > before ? row : 1));
        at += length;
    }
    png_put_symbol(out, PNG_END_OF_BLOCK);
    png_put_bits(out, 0, 7); /* fills the last byte */
}

static uint32_t png_adler(const unsigned char *raw, size_t n)
{
    const uint32_t prime = 65521;
    uint32_t a = 1, b = 0;
    for (size_t i = 0; i < n; i++) {
        a = (a + raw[i]) % prime;
        b = (b + a) % prime;
    }
    return b << 16 | a;
}

/* ---- chunks -------------------------------------------------------------- */

static uint32_t png_crc(const unsigned char *bytes, size_t n)
{
    uint32_t crc = 0xffffffff;
    for (size_t i = 0; i < n; i++) {
        crc ^= bytes[i];
        for (int k = 0; k < 8; k++)
            crc = crc >> 1 ^ (0xedb88320 & (0u - (crc & 1)));
    }
    return ~crc;
}

/* Returns where it begins: its length is filled in by the end. */
static size_t png_begin_chunk(struct png_bytes *out, const char *type)
{
    size_t at = out->n;
    png_put_number(out, 0);
    for (int i = 0; i < 4; i++)
        png_put(out, (unsigned char)type[i]);
    return at;
}

static void png_end_chunk(struct png_bytes *out, size_t at)
{
    if (out->failed)
        return;
    size_t length = out->n - at - 8;
    for (int i = 0; i < 4; i++)
        out->byte[at + (size_t)i] =
            (unsigned char)(length >> (24 - 8 * i) & 0xff);
    png_put_number(out, png_crc(out->byte + at + 4, length + 4));
}

static void png_add_head(struct png_bytes *out, const struct storm_png *png)
{
    static const unsigned char mark[] = {0x89, 'P',  'N',  'G',
                                         '\r', '\n', 0x1a, '\n'};
    for (size_t i = 0; i < sizeof mark; i++)
        png_put(out, mark[i]);
    size_t at = png_begin_chunk(out, "IHDR");
    png_put_number(out, (uint32_t)png->width);
    png_put_number(out, (uint32_t)png->height);
    png_put(out, 8);
    png_put(out, 3); /* a palette */
    for (int i = 0; i < 3; i++)
        png_put(out, 0);
    png_end_chunk(out, at);
    at = png_begin_chunk(out, "PLTE");
    for (size_t i = 0; i < png->n_colours; i++)
        for (int shift = 16; shift >= 0; shift -= 8)
            png_put(out, png->palette[i] >> shift & 0xff);
    png_end_chunk(out, at);
}

/* raw: the rows, each after a byte 0, which says that it is not filtered. */
static void png_add_pixels(struct png_bytes *out, const unsigned char *raw,
                           size_t n, size_t row)
{
    size_t at = png_begin_chunk(out, "IDAT");
    png_put(out, 0x78);
    png_put(out, 0x01);
    png_deflate(out, raw, n, row);
    png_put_number(out, png_adler(raw, n));
    png_end_chunk(out, at);
    png_end_chunk(out, png_begin_chunk(out, "IEND"));
}

/* ---- the text ------------------------------------------------------------ */

static void png_add_base64(struct storm_page *page,
                           const struct png_bytes *bytes)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                 "abcdefghijklmnopqrstuvwxyz0123456789+/";
    enum { LINE = 768 };
    char line[LINE / 3 * 4 + 1];
    size_t n = 0;
    for (size_t i = 0; i < bytes->n; i += 3) {
        size_t left = bytes->n - i;
        uint32_t b = (uint32_t)bytes->byte[i] << 16 |
                     (left > 1 ? (uint32_t)bytes->byte[i + 1] << 8 : 0) |
                     (left > 2 ? (uint32_t)bytes->byte[i + 2] : 0);
        line[n++] = digits[b >> 18];
        line[n++] = digits[b >> 12 & 63];
        line[n++] = '=';
        line[n++] = '=';
        if (left > 1)
            line[n - 2] = digits[b >> 6 & 63];
        if (left > 2)
            line[n - 1] = digits[b & 63];
        if (n == sizeof line - 1 || left <= 3) {
            line[n] = '\0';
            storm_page_add(page, "%s", line);
            n = 0;
        }
    }
}

void storm_png_add(struct storm_page *page, struct storm_memory *memory,
                   const struct storm_png *png)
{
    const size_t row = png->width + 1, n = row * png->height;
    struct png_bytes out = {.memory = memory};
    unsigned char *raw = storm_alloc(memory, png_label, n);
    if (raw != NULL) {
        for (size_t j = 0; j < png->height; j++) {
            raw[j * row] = 0;
            memcpy(raw + j * row + 1, png->pixels + j * png->width, png->width);
        }
        png_add_head(&out, png);
        png_add_pixels(&out, raw, n, row);
    }
    if (raw == NULL || out.failed) {
        page->failed = true;
    } else {
        storm_page_add(page, "data:image/png;base64,");
        png_add_base64(page, &out);
    }
    storm_free(memory, raw);
    storm_free(memory, out.byte);
}
