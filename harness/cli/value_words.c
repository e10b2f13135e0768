/* The closed lists of words that options and arguments take, each from the table that defines it.
 */
#include "golden/base/logging.h"
#include "harness/cli/options.h"
#include "sim/hal/hal_convert.h"
#include "sim/sim.h"

static const char *const formats[] = { "dot", "svg", "png", "pdf", "spec", "json", "graph", NULL };
static const char *const db_actions[] = { "list",   "prune", "compact", "check", "export", "spec",
                                          "corpus", "merge", "push",    "pull",  NULL };
static const char *const styles[] = { "halcyon", "android", NULL };
/* By PreferenceCode. */
static const char *const preferences[] = { "low-power", "fast", "sustained", NULL };
static const char *const shells[] = { "bash", "zsh", "fish", NULL };
/* In the order of enum colour_when. */
static const char *const colours[] = { "auto", "always", "never", NULL };
static const char *const tags[] = { "all",
#define TAG(name, text) text,
                                    VLOG_TAGS(TAG)
#undef TAG
                                        NULL };

/* In the order of enum isolation. */
static const char *const isolations[] = { "none", "foreign", "all", NULL };

static const char *target_word(int i)
{
    static const char *const others[] = { "golden", "null", NULL };
    int shipped = 0;

    while (target_shipped[shipped])
        shipped++;
    return i < shipped ? target_shipped[i] : others[i - shipped];
}

/* Names of tensor types: the main type of an operation is one of them. */
static const char *type_word(int i)
{
    for (int t = 0; t < DT_COUNT; t++)
        if (dtype_info[t].tensor && i-- == 0)
            return dtype_info[t].name;
    return NULL;
}

const char *value_word(enum value_kind kind, int i)
{
    switch (kind) {
    case VALUE_TARGET: return target_word(i);
    case VALUE_FAULT: return fault_at(i) ? fault_at(i)->name : NULL;
    case VALUE_HAL: return hal_version_names[i];
    case VALUE_HAL_OR_ALL:
        return i < HAL_VERSIONS ? hal_version_names[i] : i == HAL_VERSIONS ? "all" : NULL;
    case VALUE_OPERATION:
    case VALUE_OPERATIONS: return i < op_table_n ? op_table[i]->name : NULL;
    case VALUE_TYPE: return type_word(i);
    case VALUE_TAG: return tags[i];
    case VALUE_JUDGE: return i < JUDGE_BOUND ? judge_name[JUDGE_CTS + i] : NULL;
    case VALUE_ISOLATION: return isolations[i];
    case VALUE_DB_ACTION: return db_actions[i];
    case VALUE_FORMAT: return formats[i];
    case VALUE_STYLE: return styles[i];
    case VALUE_PREFERENCE: return preferences[i];
    case VALUE_SHELL: return shells[i];
    case VALUE_COLOUR: return colours[i];
    case VALUE_ANY:
    case VALUE_FILE:
    case VALUE_COMMAND:
    case VALUE_KINDS: break;
    }
    return NULL;
}
