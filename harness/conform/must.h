/* Conditions without which a rule cannot be checked any further. */
#ifndef HARNESS_MUST_H
#define HARNESS_MUST_H

#include <setjmp.h>
#include <stdbool.h>

/* Unless ok: ends the rule that this thread is checking, with `what` as a finding; on another
 * thread, or outside a rule, prints it and aborts.  Objects of the driver are not released. */
void conform_must(bool ok, const char *what);

/* Ends the rule that this thread is checking, without a finding; outside a rule, aborts. */
_Noreturn void conform_leave(void);

#define MUST(condition) conform_must(condition, #condition)

/* Where conform_must() and conform_leave() continue, with the text in *conform_must_text, NULL for
 * the latter; NULL: they abort. */
extern _Thread_local sigjmp_buf *conform_must_return;
extern _Thread_local const char *conform_must_text;

#endif
