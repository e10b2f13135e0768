#include "golden/base/why.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "golden/base/suggest.h"

int why_fail(struct why *w, enum why_code code, const char *fmt, ...)
{
    if (!w)
        return -1;
    va_list ap;
    va_start(ap, fmt);
    w->code = code;
    vsnprintf(w->text, sizeof w->text, fmt, ap);
    va_end(ap);
    return -1;
}

int why_no_memory(struct why *w)
{
    return why_fail(w, WHY_MEMORY, "out of memory");
}

int why_no_memory_for(struct why *w, const char *fmt, ...)
{
    char what[sizeof w->text];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(what, sizeof what, fmt, ap);
    va_end(ap);
    return why_fail(w, WHY_MEMORY, "out of memory for %.*s",
                    (int) (sizeof what - sizeof "out of memory for "), what);
}

bool why_is_shortage(int error)
{
    return error == EMFILE || error == ENFILE || error == ENOSPC || error == EDQUOT ||
           error == EFBIG || error == ENOMEM || error == EIO;
}

int why_file(struct why *w, const char *path, int error)
{
    return why_file_or(w, path, error, "");
}

int why_file_or(struct why *w, const char *path, int error, const char *hint)
{
    char near[SUGGEST_FILE] = "";

    if (error == ENOENT)
        suggest_file(path, near);
    else
        hint = error == EISDIR ? "; expected a file" : "";
    return why_fail(w, why_is_shortage(error) ? WHY_SYSTEM : WHY_INVALID, "%s: %s%s", path,
                    strerror(error), *near ? near : hint);
}

int why_prefix(struct why *w, const char *fmt, ...)
{
    if (!w)
        return -1;
    struct why whole = { .code = w->code };
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(whole.text, sizeof whole.text, fmt, ap);
    va_end(ap);
    if (strlen(whole.text) + strlen(": ") + strlen(w->text) >= sizeof whole.text)
        return -1;
    strcat(whole.text, ": ");
    strcat(whole.text, w->text);
    *w = whole;
    return -1;
}
