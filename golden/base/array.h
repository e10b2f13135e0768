/* Arrays that grow by one element at a time, with their number of elements and nothing else:
 *
 *     struct row *rows = array_room(all->rows, all->n, sizeof *rows);
 *     if (!rows)
 *         return why_no_memory(w);
 *     all->rows = rows;
 *     rows[all->n++] = row;
 */
#ifndef GOLDEN_ARRAY_H
#define GOLDEN_ARRAY_H

#include <stddef.h>

/* The array, which has n elements of `size` bytes, with room for one more; it may have been moved.
 * NULL: out of memory, and the array is as before.  An array begins as NULL, with no elements, and
 * has room for 8 elements, then for 16, 32, ...: each must have been added in this way; they may be
 * removed in any.  Freed by free(). */
void *array_room(void *array, size_t n, size_t size);

#endif
