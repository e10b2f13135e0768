/* The log on stderr, in the lines of logcat:
 *
 *     11-21 08:17:31.123  4711  4711 I ExecutionPlan: text
 *
 * Errors are always there, the rest where a tag is on (HALCYON_VLOG, --vlog).  ANDROID_LOG_TAGS
 * ("ExecutionPlan:I *:S") filters further, as it does for logcat. */
#ifndef HARNESS_LOGCAT_H
#define HARNESS_LOGCAT_H

/* Before there are workers: they write to the same place, whatever becomes of their stderr.
 * setting: tags in place of HALCYON_VLOG's; NULL: that one decides. */
void logcat_start(const char *setting);

#endif
