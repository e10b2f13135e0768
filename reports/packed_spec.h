/* Specifications in the results database: a text as tokens and numbers (reports/spec_tokens.h),
 * compressed.
 *
 *     byte 0        PACKED_SPEC; another format, also one with another dictionary, would have
 * another bytes 1, 2    the planes that are not empty, the first one in the lowest bit of byte 1
 *     each of them  its size, twice, + 1 if it is compressed; then also the compressed size; the
 * bytes, those compressed in the format of RFC 1951, the first plane with a preset dictionary.
 * Sizes have seven bits a byte, the lowest first; the last byte is below 128. 4 bytes       the
 * Adler-32 sum of the text, highest byte first */
#ifndef REPORTS_PACKED_SPEC_H
#define REPORTS_PACKED_SPEC_H

#include <stddef.h>

enum { PACKED_SPEC = 0xff }; /* in no UTF-8 text, and in the zlib format the first byte is 0x78 */

/* Packs a text of `length` bytes and a NUL to at most `size` bytes, so that packed_spec_text()
 * gives the same bytes.  Returns how many; 0: they do not suffice, the text has bytes that no
 * specification has, or out of memory. */
size_t packed_spec(const char *text, size_t length, unsigned char *bytes, size_t size);

/* Returns the text, of at most `most` bytes, and a NUL; to be freed.  NULL: *ret_why has what is
 * wrong. */
char *packed_spec_text(const unsigned char *bytes, size_t size, size_t most, size_t *ret_length,
                       const char **ret_why);

#endif
