/* Bytes in the Zstandard format (RFC 8878), for what is kept long or in great numbers: databases of
 * summaries (reports/database.h), texts of them (reports/packed_text.h). */
#ifndef REPORTS_PACKED_BYTES_H
#define REPORTS_PACKED_BYTES_H

#include <stdbool.h>
#include <stddef.h>

/* Levels: QUICK takes 1 ms for 300 KB, SMALL a hundred times as long for a fifth less. */
enum { PACKED_QUICK = 3, PACKED_SMALL = 19 };

/* Whether the first bytes are those of the format. */
bool bytes_are_packed(const void *bytes, size_t size);
/* The results are for sqlite3_free().  NULL: out of memory; of unpacked, also damaged bytes, and
 * those of more than half a gigabyte. */
void *bytes_packed(const void *bytes, size_t size, int level, size_t *ret_size);
void *bytes_unpacked(const void *bytes, size_t size, size_t *ret_size);

#endif
