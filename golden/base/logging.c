#include "golden/base/logging.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "golden/base/suggest.h"

atomic_uint vlog_mask;

static log_sink *log_to;
static void *log_user;

void log_set_sink(log_sink *sink, void *user)
{
    log_user = user;
    log_to = sink;
}

/* Text may contain names from clients, which must not forge log lines. */
static void make_printable(char *text)
{
    for (unsigned char *c = (unsigned char *) text; *c; c++)
        if (*c < ' ' || *c == 0x7f)
            *c = '?';
}

void log_write(enum log_level level, const char *tag, const char *fmt, ...)
{
    char text[3900];
    va_list ap;

    if (!log_to)
        return;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    make_printable(text);
    log_to(level, tag, text, log_user);
}

#define TAG(tag, text) " " text
static const char all_tags[] = VLOG_TAGS(TAG);
#undef TAG

static const char *const tag_name[] = {
#define TAG(tag, text) [VLOG_##tag] = text,
    VLOG_TAGS(TAG)
#undef TAG
};

static unsigned tag_bits(const char *name, size_t length)
{
    if ((length == 1 && *name == '1') || (length == 3 && strncmp(name, "all", 3) == 0))
        return (1u << VLOG_TAG_COUNT) - 1;
    for (unsigned i = 0; i < VLOG_TAG_COUNT; i++)
        if (strlen(tag_name[i]) == length && strncmp(tag_name[i], name, length) == 0)
            return 1u << i;
    return 0;
}

static int unknown_tag(const char *name, size_t length, struct why *w)
{
    char copy[64], near[SUGGEST_TEXT];
    snprintf(copy, sizeof copy, "%.*s", (int) (length < 64 ? length : 64), name);
    struct suggestion s = suggest_for(copy);

    for (unsigned i = 0; i < VLOG_TAG_COUNT; i++)
        suggest_candidate(&s, tag_name[i]);
    if (s.name)
        return why_fail(w, WHY_INVALID, "unknown tag '%s'%s", copy, suggest_text(&s, "", near));
    return why_fail(w, WHY_INVALID, "unknown tag '%s'; expected all, or some of%s", copy, all_tags);
}

int vlog_set(const char *setting, struct why *w)
{
    static const char separators[] = " ,:";
    unsigned mask = 0;
    int rc = 0;

    for (const char *at = setting + strspn(setting, separators); *at;) {
        size_t length = strcspn(at, separators);
        unsigned bits = tag_bits(at, length);
        if (!bits)
            rc = unknown_tag(at, length, w);
        mask |= bits;
        at += length;
        at += strspn(at, separators);
    }
    atomic_store(&vlog_mask, mask);
    return rc;
}

/* ---- filters */

const char log_level_letter[] = { [LOG_INFO] = 'I', [LOG_WARNING] = 'W', [LOG_ERROR] = 'E' };

bool log_filter_passes(const char *filter, char least, enum log_level level, const char *tag)
{
    static const char rising[] = "VDIWEFS";
    bool is_named = false; /* a rule for this very tag was found: "*" no longer applies */

    for (const char *at = filter ? filter : ""; *at;) {
        size_t length = strcspn(at, " "), name = strcspn(at, ": ");
        char letter = name + 1 < length ? at[name + 1] : 'V';
        bool names_it = strlen(tag) == name && strncmp(at, tag, name) == 0;
        if ((names_it || (!is_named && name == 1 && *at == '*')) && strchr(rising, letter))
            least = letter;
        is_named |= names_it;
        at += length;
        at += strspn(at, " ");
    }
    return strchr(rising, log_level_letter[level]) >= strchr(rising, least);
}
