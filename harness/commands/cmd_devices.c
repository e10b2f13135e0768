/* halcyon devices: what targets report of themselves; the fault table. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "harness/commands/commands.h"
#include "harness/run/devices.h"
#include "harness/run/op_support.h"
#include "sim/device/profile.h"
#include "sim/hal/hal_convert.h"
#include "specs/specs.h"

static const char *operand_type(int32_t code)
{
    const struct dtype_info *d = dtype_find(code);
    return d ? d->name : "vendor type";
}

/* ---- text */

/* Members that the HAL version does not have are 0 and not printed. */
static void print_performance(const char *what, const struct hal_performance *p)
{
    if (p->exec_time == 0)
        return;
    printf("  %-30s time %-8.3g power %.3g\n", what, (double) p->exec_time,
           (double) p->power_usage);
}

/* Types are named if the extension is in the catalogue; else only what the driver reports is known.
 */
static void print_extension(const struct extension_facts *e)
{
    enum extension_prefix known = extension_by_name(e->name);
    const struct extension_record *record = extension_table[known];
    printf("  extension %s\n", e->name);
    for (uint32_t i = 0; i < e->n_types && i < MAX_EXTENSION_TYPES; i++) {
        enum dtype type = extension_type(known, e->type[i].type);
        printf("    type %-5u %-25s %s of %u bytes\n", e->type[i].type,
               known && type != DT_FOREIGN ? dtype_info[type].name : "",
               e->type[i].is_tensor ? "elements" : "scalar", e->type[i].byte_size);
    }
    for (int i = 0; record && i < record->n_ops; i++)
        printf("    operation %d %-23s %s\n", record->op[i].code & 0xffff, record->op[i].name,
               record->op[i].summary);
}

static void print_facts(const char *uri, const struct device_facts *f, bool long_form)
{
    if (!long_form) {
        printf("%-12s %-12s HAL %-4s %-24s %s\n", uri, f->type, f->hal, f->name, f->version);
        return;
    }
    printf("%s\n  name %s, version %s, type %s, HAL %s", uri, f->name, f->version, f->type, f->hal);
    if (strcmp(f->lowest, hal_version_names[0]) != 0)
        printf(" (answers %s and later)", f->lowest);
    putchar('\n');
    printf("  extensions: %u; cache files: %u for models, %u for data\n", f->n_extensions,
           f->n_model_cache, f->n_data_cache);
    if (harness_host.no_extensions)
        printf("  %s\n", harness_host.no_extensions);
    for (uint32_t i = 0; i < f->n_extensions && i < MAX_EXTENSIONS; i++)
        print_extension(&f->extension[i]);
    puts("performance relative to the CPU implementation (less is better):");
    for (uint32_t i = 0; i < f->n_operands; i++)
        print_performance(operand_type(f->operand[i].type), &f->operand[i].info);
    print_performance("relaxed scalar", &f->relaxed_scalar);
    print_performance("relaxed tensor", &f->relaxed_tensor);
    print_performance("IF", &f->if_performance);
    print_performance("WHILE", &f->while_performance);
}

/* One line per operation: the element types in which it is supported. */
static void print_support(const struct support *s)
{
    uint32_t whole = 0, none = 0;
    for (int i = 0; i < op_table_n; i++) {
        if (s->supported[i] && s->supported[i] == s->asked[i])
            whole++;
        none += !s->supported[i];
    }
    printf("operations: %d in the catalogue; %u supported in all types, %u in some, %u in none\n",
           op_table_n, whole, (uint32_t) op_table_n - whole - none, none);
    for (int i = 0; i < op_table_n; i++) {
        if (!s->supported[i])
            continue;
        printf("  %-28s", op_table[i]->name);
        for (int t = 0; t < DT_COUNT; t++)
            if (s->supported[i] & 1u << t)
                printf(" %s", dtype_info[t].brief);
        putchar('\n');
    }
}

/* ---- JSON */

static void add_performance(json_t *o, const char *what, const struct hal_performance *p)
{
    if (p->exec_time != 0)
        json_object_set_new(o, what,
                            json_pack("{s:f, s:f}", "exec_time", (double) p->exec_time,
                                      "power_usage", (double) p->power_usage));
}

static void print_line(json_t *o)
{
    json_dumpf(o, stdout, JSON_COMPACT | JSON_REAL_PRECISION(7));
    putchar('\n');
    json_decref(o);
}

/* s: the supported operations; NULL leaves them out. */
static void facts_json(const char *uri, const struct device_facts *f, const struct support *s)
{
    json_t *performance = json_object();
    for (uint32_t i = 0; i < f->n_operands; i++)
        add_performance(performance, operand_type(f->operand[i].type), &f->operand[i].info);
    add_performance(performance, "relaxed scalar", &f->relaxed_scalar);
    add_performance(performance, "relaxed tensor", &f->relaxed_tensor);
    add_performance(performance, "IF", &f->if_performance);
    add_performance(performance, "WHILE", &f->while_performance);

    json_t *extensions = json_array();
    for (uint32_t i = 0; i < f->n_extensions && i < MAX_EXTENSIONS; i++) {
        const struct extension_facts *e = &f->extension[i];
        json_t *types = json_array();
        for (uint32_t k = 0; k < e->n_types && k < MAX_EXTENSION_TYPES; k++)
            json_array_append_new(types, json_pack("{s:i, s:b, s:I}", "type", (int) e->type[k].type,
                                                   "tensor", e->type[k].is_tensor, "bytes",
                                                   (json_int_t) e->type[k].byte_size));
        json_array_append_new(extensions, json_pack("{s:s, s:o}", "name", e->name, "types", types));
    }

    json_t *o = json_object();
    json_object_set_new(o, "target", json_string(uri));
    json_object_set_new(o, "name", json_string(f->name));
    json_object_set_new(o, "version", json_string(f->version));
    json_object_set_new(o, "type", json_string(f->type));
    json_object_set_new(o, "hal", json_string(f->hal));
    json_object_set_new(o, "extensions", extensions);
    json_object_set_new(o, "model_cache_files", json_integer(f->n_model_cache));
    json_object_set_new(o, "data_cache_files", json_integer(f->n_data_cache));
    json_object_set_new(o, "performance", performance);
    json_t *operations = s ? json_object() : NULL;
    for (int i = 0; s && i < op_table_n; i++) {
        json_t *types = json_array();
        for (int t = 0; t < DT_COUNT; t++)
            if (s->supported[i] & 1u << t)
                json_array_append_new(types, json_string(dtype_info[t].name));
        json_object_set_new(operations, op_table[i]->name, types);
    }
    if (operations)
        json_object_set_new(o, "operations", operations);
    print_line(o);
}

/* ---- the command */

static void print_fault(const struct fault *f)
{
    printf("  %-28s %s [", f->name, f->doc);
    for (const char *const *rule = f->rules; *rule; rule++)
        printf("%s%s", rule == f->rules ? "" : " ", *rule);
    printf("]\n");
}

static int list_faults(const char *kind, bool print)
{
    int n = 0;

    for (int i = 0; fault_at(i); i++) {
        const struct fault *f = fault_at(i);
        if (strcmp(f->kind, kind))
            continue;
        n++;
        if (print)
            print_fault(f);
    }
    return n;
}

static bool is_first_of_kind(int index)
{
    for (int i = 0; i < index; i++)
        if (strcmp(fault_at(i)->kind, fault_at(index)->kind) == 0)
            return false;
    return true;
}

/* Grouped by kind: name, description, rules. */
static void show_faults(void)
{
    for (int i = 0; fault_at(i); i++)
        if (is_first_of_kind(i)) {
            printf("%s (%d):\n", fault_at(i)->kind, list_faults(fault_at(i)->kind, false));
            list_faults(fault_at(i)->kind, true);
        }
}

static void show_faults_json(void)
{
    for (int i = 0; fault_at(i); i++) {
        json_t *rules = json_array();
        for (const char *const *rule = fault_at(i)->rules; *rule; rule++)
            json_array_append_new(rules, json_string(*rule));
        print_line(json_pack("{s:s, s:s, s:o, s:s}", "fault", fault_at(i)->name, "kind",
                             fault_at(i)->kind, "rules", rules, "doc", fault_at(i)->doc));
    }
}

static int show(const struct options *o, const char *uri, bool long_form, struct why *w)
{
    struct device_facts facts;
    struct support support;
    if (device_probe(uri, o->timeout, &facts, w) != 0)
        return -1;
    if (long_form)
        TRY(support_query(uri, o->timeout, &support, w));
    if (o->json) {
        facts_json(uri, &facts, long_form ? &support : NULL);
        return 0;
    }
    print_facts(uri, &facts, long_form);
    if (long_form)
        print_support(&support);
    return 0;
}

/* what: a shipped profile or a TOML file, with or without "sim:".  The result is one that
 * sim:FILE.json takes. */
static int print_profile(const char *what, struct why *w)
{
    const char *name = strncmp(what, "sim:", 4) == 0 ? what + 4 : what;
    const char *shipped = profile_shipped(name);
    struct profile *profile = NULL;
    char *text = NULL;

    if (!shipped)
        TRY(specs_read_toml(name, &text, w));
    int rc = profile_parse(shipped ? shipped : text, name, &profile, w);
    if (rc == 0) {
        json_t *json = json_loads(shipped ? shipped : text, 0, NULL);
        json_dumpf(json, stdout, JSON_INDENT(2));
        putchar('\n');
        json_decref(json);
    }
    profile_free(profile);
    free(text);
    return rc;
}

static int show_profile(const struct options *o)
{
    struct why why = { 0 };

    if (o->n_arguments != 1) {
        why_fail(&why, WHY_INVALID,
                 "--profile-json: expected one profile: FILE.toml, cpu, gpu or dsp");
        return print_error(o, &why);
    }
    return print_profile(o->argument[0], &why) < 0 ? print_error(o, &why) : EXIT_CONFORMING;
}

int cmd_devices(const struct options *o)
{
    struct why why = { 0 };
    int failed = 0;
    if (o->profile_json && !o->faults)
        return show_profile(o);
    if (o->faults && (o->profile_json || o->n_arguments)) {
        why_fail(&why, WHY_INVALID,
                 o->profile_json
                     ? "--faults and --profile-json exclude each other"
                     : "--faults lists the defects of every device: expected no TARGET");
        return print_error(o, &why);
    }
    if (o->faults)
        (o->json ? show_faults_json : show_faults)();
    for (int i = 0; !failed && i < o->n_arguments; i++) {
        if (i && !o->json)
            putchar('\n');
        failed = show(o, o->argument[i], true, &why);
    }
    for (int i = 0; !failed && !o->faults && !o->n_arguments && target_shipped[i]; i++)
        failed = show(o, target_shipped[i], o->verbosity > 0, &why);
    return failed < 0 ? print_error(o, &why) : EXIT_CONFORMING;
}
