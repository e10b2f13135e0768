#include "reports/packed_text.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum {
    SHORTEST = 64,     /* shorter texts are not worth it */
    LONGEST = 1 << 29, /* a text that a BLOB may unpack to */
    LEVEL = 6,         /* a higher one takes thrice the time for 1 % */
};

static void pack(sqlite3_context *context, int n, sqlite3_value **value)
{
    (void) n;
    const unsigned char *text = sqlite3_value_text(value[0]);
    uLong length = (uLong) sqlite3_value_bytes(value[0]);
    uLongf size = compressBound(length);
    unsigned char *bytes = text && length >= SHORTEST ? sqlite3_malloc64(size) : NULL;
    if (text && length >= SHORTEST && !bytes)
        sqlite3_result_error_nomem(context);
    else if (bytes && compress2(bytes, &size, text, length, LEVEL) == Z_OK && size < length)
        sqlite3_result_blob64(context, bytes, size, SQLITE_TRANSIENT);
    else
        sqlite3_result_value(context, value[0]);
    sqlite3_free(bytes);
}

/* Returns the text, for sqlite3_free(); NULL: it is damaged, or out of memory. */
static char *inflated(const void *bytes, size_t size, sqlite3_uint64 *ret_length)
{
    z_stream z = { .next_in = (unsigned char *) bytes, .avail_in = (uInt) size };
    sqlite3_uint64 room = 8 * (sqlite3_uint64) size + 1024;
    char *text = NULL;
    int code = inflateInit(&z);
    while (code == Z_OK && z.total_out < LONGEST) {
        char *larger = sqlite3_realloc64(text, room);
        if (!larger)
            break;
        text = larger;
        z.next_out = (unsigned char *) text + z.total_out;
        z.avail_out = (uInt) (room - z.total_out);
        code = inflate(&z, Z_NO_FLUSH);
        if (code == Z_OK && z.avail_out) /* the end is missing */
            break;
        room *= 2;
    }
    *ret_length = z.total_out;
    inflateEnd(&z);
    if (code == Z_STREAM_END && !z.avail_in)
        return text;
    sqlite3_free(text);
    return NULL;
}

static void unpack(sqlite3_context *context, int n, sqlite3_value **value)
{
    (void) n;
    if (sqlite3_value_type(value[0]) != SQLITE_BLOB) {
        sqlite3_result_value(context, value[0]);
        return;
    }
    sqlite3_uint64 length = 0;
    const void *bytes = sqlite3_value_blob(value[0]);
    char *text = bytes ? inflated(bytes, (size_t) sqlite3_value_bytes(value[0]), &length) : NULL;
    if (text)
        sqlite3_result_text64(context, text, length, sqlite3_free, SQLITE_UTF8);
    else
        sqlite3_result_error(context, "a compressed text is damaged", -1);
}

int packed_text_functions(sqlite3 *db)
{
    enum { FLAGS = SQLITE_UTF8 | SQLITE_DETERMINISTIC };
    int code = sqlite3_create_function(db, "packed", 1, FLAGS, NULL, pack, NULL, NULL);
    return code ? code : sqlite3_create_function(db, "text_of", 1, FLAGS, NULL, unpack, NULL, NULL);
}
