/* Specifications in the results database: a text as tokens and numbers (reports/spec_tokens.h),
 * compressed.
 *
 *     byte 0        PACKED_SPEC; any other format or dictionary would have another
 *     bytes 1, 2    the planes that are not empty, the first one in the lowest bit of byte 1
 *     each of them  its size, twice, + 1 if it is compressed; then also the compressed size; the
 *                   bytes, if compressed a frame of RFC 8878 (Zstandard) without its magic number,
 *                   with a preset dictionary for the first plane
 *     4 bytes       an Adler-32 sum, highest byte first, of bytes 1 and 2 and the planes one after
 *                   another
 *
 * Sizes have seven bits a byte, the lowest first; the last byte is below 128.  In two formats that
 * are only read planes are compressed in the format of RFC 1951 (deflate), with the same
 * dictionary; in that of PACKED_SPEC_OF_TEXT the sum is that of the text. */
#ifndef REPORTS_PACKED_SPEC_H
#define REPORTS_PACKED_SPEC_H

#include <stdbool.h>
#include <stddef.h>

#include "golden/golden.h"

/* In no UTF-8 text, and in the zlib format the first byte is 0x78. */
enum { PACKED_SPEC = 0xfd, PACKED_SPEC_DEFLATED = 0xfe, PACKED_SPEC_OF_TEXT = 0xff };

/* Packs a text of `length` bytes and a NUL to at most `size` bytes, so that packed_spec_text()
 * gives the same bytes.  Returns how many; 0: they do not suffice, the text has bytes that no
 * specification has, or out of memory. */
size_t packed_spec(const char *text, size_t length, unsigned char *bytes, size_t size);

/* What is set up once for any number of specifications, by one thread at a time.  NULL: out of
 * memory. */
struct spec_packer *spec_packer_new(void);
/* Does nothing for NULL. */
void spec_packer_free(struct spec_packer *k);

/* packed_spec() of a text with marks for lists (spec_tokens_split_marked()): these are neither
 * written as text nor read from it, which takes most of the time otherwise. */
size_t packed_spec_marked(struct spec_packer *k, const char *text, size_t length,
                          const struct tensor *const *list, size_t n_lists, unsigned char *bytes,
                          size_t size);

/* Whether bytes begin as packed ones. */
bool is_packed_spec(const void *bytes, size_t size);

/* Returns the text, of at most `most` bytes, and a NUL; to be freed.  NULL: *ret_why has what is
 * wrong. */
char *packed_spec_text(const unsigned char *bytes, size_t size, size_t most, size_t *ret_length,
                       const char **ret_why);

#endif
