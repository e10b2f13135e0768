/* Writes the log (golden/base/logging.h) to stderr in the line format of logcat:
 *
 *     11-21 08:17:31.123  4711  4711 I ExecutionPlan: text
 *
 * Errors are always written; other levels when a verbose tag is enabled (HALCYON_VLOG, --vlog).
 * ANDROID_LOG_TAGS ("ExecutionPlan:I *:S") filters further, as it does for logcat. */
#ifndef HARNESS_LOGCAT_H
#define HARNESS_LOGCAT_H

/* Installs the log sink.  To be called before workers are forked, which then log to the same
 * descriptor even when their stderr is redirected.  setting: the value of --vlog, already in
 * effect; NULL: HALCYON_VLOG is applied. */
void logcat_start(const char *setting);

#endif
