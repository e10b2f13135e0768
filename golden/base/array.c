#include "golden/base/array.h"

#include <stdint.h>
#include <stdlib.h>

enum { LEAST = 8 };

void *array_room(void *array, size_t n, size_t size)
{
    const size_t room = n < LEAST ? LEAST : 2 * n;

    if (array && (n < LEAST || (n & (n - 1)) != 0))
        return array;
    return n <= SIZE_MAX / 2 && room <= SIZE_MAX / size ? realloc(array, room * size) : NULL;
}
