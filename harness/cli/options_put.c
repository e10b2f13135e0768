/* Options as they are typed: of commands that repeat a case or a run. */
#include <string.h>

#include "harness/check/buffer.h"
#include "harness/cli/options.h"
#include "sim/hal/hal_convert.h"

void options_put_graphs(struct buffer *b, const struct randgraph_options *graphs)
{
    char value[RANDGRAPH_VALUE];
    const char *key;
    for (int i = 0; (key = randgraph_next(graphs, &i, value));)
        buffer_printf(b, " --%s %s", key, value);
}

void options_put_hal(struct buffer *b, const struct options *o)
{
    if (o->all_versions || o->version)
        buffer_printf(b, " --hal %s", o->all_versions ? "all" : hal_version_name(o->version));
}

void options_put_rules(struct buffer *b, const struct options *o)
{
    for (uint32_t i = 0; i < o->n_suites; i++) {
        buffer_puts(b, " --suite ");
        buffer_put_quoted(b, o->suite[i]);
    }
    options_put_hal(b, o);
    if (o->seed != DEFAULT_SEED && strcmp(o->command, "conform") == 0)
        buffer_printf(b, " --seed %llu", (unsigned long long) o->seed);
    if (o->stress < DEFAULT_STRESS || o->stress > DEFAULT_STRESS)
        buffer_printf(b, " --stress %g", o->stress);
    if (o->threads != DEFAULT_THREADS && strcmp(o->command, "conform") == 0)
        buffer_printf(b, " --threads %llu", (unsigned long long) o->threads);
    if (o->processes != DEFAULT_PROCESSES && strcmp(o->command, "conform") == 0)
        buffer_printf(b, " --processes %llu", (unsigned long long) o->processes);
    if (o->models) {
        buffer_puts(b, " --models ");
        buffer_put_quoted(b, o->models);
    }
}

void options_put_memory_limit(struct buffer *b, const struct options *o)
{
    if (o->memory_limit)
        buffer_printf(b, " --memory-limit %lluM", (unsigned long long) (o->memory_limit >> 20));
}

bool name_needs_more(const char *name)
{
    return !strncmp(name, "random/", 7) &&
           (strstr(name, "/for=") || strstr(name, "/from=") || strstr(name, "/cov="));
}

void options_put_support(struct buffer *b, const struct options *o, const char *name)
{
    if (!name_needs_more(name))
        return;
    const bool is_for = strstr(name, "/for="), has_file = is_for && o->support_file;
    if (has_file) {
        buffer_puts(b, " --support ");
        buffer_put_quoted(b, o->support_file);
    }
    const bool in_database =
        (is_for && !has_file) || strstr(name, "/from=") || strstr(name, "/cov=");
    if (in_database && o->db_given) {
        buffer_puts(b, " --db ");
        buffer_put_quoted(b, o->db_shown);
    }
}
