#include "harness/conform/must.h"

#include <stdio.h>
#include <stdlib.h>

_Thread_local sigjmp_buf *conform_must_return;
_Thread_local const char *conform_must_text;

void conform_must(bool ok, const char *what)
{
    if (ok)
        return;
    conform_must_text = what;
    if (conform_must_return)
        siglongjmp(*conform_must_return, 1);
    fprintf(stderr, "%s\n", what);
    abort();
}

void conform_leave(void)
{
    conform_must_text = NULL;
    if (conform_must_return)
        siglongjmp(*conform_must_return, 1);
    abort();
}
