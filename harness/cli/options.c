#include "harness/cli/options.h"

#include <getopt.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "golden/base/suggest.h"
#include "golden/base/text_escape.h"
#include "harness/check/buffer.h"
#include "harness/cli/console.h"
#include "harness/cli/option_table.h"
#include "sim/hal/hal_convert.h"

enum { OPTION_FIRST = 256, OPTION_HELP = 'h' };

static void build_getopt(const struct command *c, struct option *ret_long, char *ret_short)
{
    int n = 0;
    char *at = ret_short;
    *at++ = ':';
    *at++ = OPTION_HELP;
    ret_long[n++] = (struct option){ "help", no_argument, NULL, OPTION_HELP };
    for (int i = 0; i < option_table_n; i++) {
        const struct option_row *r = &option_table[i];
        if (!(r->commands & c->bit))
            continue;
        int has = r->argument ? required_argument : no_argument;
        ret_long[n++] = (struct option){ r->name, has, NULL, OPTION_FIRST + i };
        if (r->letter) {
            *at++ = r->letter;
            if (r->argument)
                *at++ = ':';
        }
    }
    ret_long[n] = (struct option){ 0 };
    *at = 0;
}

static const struct option_row *row_of(const struct command *c, int key)
{
    if (key >= OPTION_FIRST)
        return &option_table[key - OPTION_FIRST];
    for (int i = 0; i < option_table_n; i++)
        if (option_table[i].letter && option_table[i].letter == key &&
            (option_table[i].commands & c->bit))
            return &option_table[i];
    return NULL;
}

static int set_member(struct options *o, const struct option_row *r, const char *value,
                      struct why *w)
{
    void *member = (char *) o + r->member;

    if (!r->argument) {
        *(bool *) member = true;
        return 0;
    }
    REQUIRE(w, *value, "expected %s, found an empty argument", r->argument);
    *(const char **) member = value;
    return 0;
}

static int option_of_others(const struct command *c, const char *name, struct why *w)
{
    unsigned commands = 0;
    char list[240] = "";
    for (int i = 0; i < option_table_n; i++)
        commands |= strcmp(option_table[i].name, name) ? 0 : option_table[i].commands;
    for (int i = 0; i < command_table_n; i++)
        if (command_table[i].bit & commands)
            text_append(list, sizeof list, "%s%s", *list ? ", " : "", command_table[i].name);
    return why_fail(w, WHY_INVALID,
                    "--%s is not an option of this command, but of %s ('halcyon %s --help' lists "
                    "those of this one)",
                    name, list, c->name);
}

/* text: "--NAME" or "--NAME=VALUE", which is not an option of the command or, as an abbreviation,
 * that of several. */
static int unknown_option(const struct command *c, const char *text, struct why *w)
{
    char name[64], nearest[SUGGEST_TEXT];
    snprintf(name, sizeof name, "%.*s", (int) strcspn(text + 2, "="), text + 2);
    struct suggestion s = suggest_for(name);
    const struct option_row *begins = NULL, *other = NULL;
    for (int i = 0; i < option_table_n; i++) {
        const struct option_row *r = &option_table[i];
        if (!(r->commands & c->bit)) {
            other = strcmp(r->name, name) ? other : r;
            continue;
        }
        bool is_begun = !strncmp(r->name, name, strlen(name));
        if (is_begun && begins)
            return why_fail(w, WHY_INVALID, "ambiguous option --%s: --%s or --%s?", name,
                            begins->name, r->name);
        begins = is_begun ? r : begins;
        suggest_candidate(&s, r->name);
    }
    if (!strcmp(name, "waivers"))
        return why_fail(w, WHY_INVALID,
                        "--waivers is replaced by --baseline FILE (docs/baselines.md)");
    if (other)
        return option_of_others(c, name, w);
    if (s.name)
        return why_fail(w, WHY_INVALID, "unknown option --%s%s", name,
                        suggest_text(&s, "--", nearest));
    return why_fail(w, WHY_INVALID, "unknown option --%s ('halcyon %s --help' lists the options)",
                    name, c->name);
}

/* The letter in optopt, of an argument such as "-x" or "-count". */
static int unknown_letter(const struct command *c, char **argv, struct why *w)
{
    const char *text = "-";
    for (int i = 1; argv[i] && !text[1]; i++)
        if (argv[i][0] == '-' && argv[i][1] != '-' && strchr(argv[i], optopt))
            text = argv[i];
    char name[64], near[SUGGEST_TEXT];
    snprintf(name, sizeof name, "%.*s", (int) strcspn(text + 1, "="), text + 1);
    struct suggestion s = suggest_for(name);
    for (int i = 0; name[1] && i < option_table_n; i++)
        if (option_table[i].commands & c->bit)
            suggest_candidate(&s, option_table[i].name);
    if (s.name)
        return why_fail(w, WHY_INVALID, "unknown option %s%s", text, suggest_text(&s, "--", near));
    return why_fail(w, WHY_INVALID, "unknown option -%c ('halcyon %s --help' lists the options)",
                    optopt, c->name);
}

/* getopt_long() leaves in optopt a letter, OPTION_FIRST + row of a long option that it knows, or 0
 * for one that it does not know, which argv[optind - 1] then is. */
static int refuse(const struct command *c, int key, char **argv, struct why *w)
{
    const struct option_row *r = optopt ? row_of(c, optopt) : NULL;
    if (key == ':' && r)
        return why_fail(w, WHY_INVALID, "--%s: missing argument %s", r->name, r->argument);
    if (r || optopt == OPTION_HELP)
        return why_fail(w, WHY_INVALID, "--%s takes no argument", r ? r->name : "help");
    if (optopt)
        return unknown_letter(c, argv, w);
    return unknown_option(c, argv[optind - 1], w);
}

/* Never freed: options point to them until the program ends. */
static char *realtime_uri[MAX_TARGETS + 1];

static int realtime_of(const char *uri, int slot, const char **ret_uri, struct why *w)
{
    const size_t size = strlen(uri) + sizeof "?realtime";

    REQUIRE(w, strncmp(uri, "sim:", 4) == 0, "--realtime: expected sim: targets only, found %s",
            uri);
    free(realtime_uri[slot]);
    realtime_uri[slot] = malloc(size);
    if (!realtime_uri[slot])
        return why_no_memory(w);
    snprintf(realtime_uri[slot], size, "%s%crealtime", uri, strchr(uri, '?') ? '&' : '?');
    *ret_uri = realtime_uri[slot];
    return 0;
}

static int make_realtime(struct options *o, bool argument, struct why *w)
{
    const char *uri;

    for (uint32_t i = 0; i < o->n_targets; i++)
        TRY(realtime_of(o->target[i], (int) i, &o->target[i], w));
    if (!argument || !o->n_arguments)
        return 0;
    TRY(realtime_of(o->argument[0], MAX_TARGETS, &uri, w));
    o->argument[0] = realtime_uri[MAX_TARGETS];
    return 0;
}

/* What reads earlier runs of the database that --atomic is to write. */
static int check_atomic(const struct options *o, struct why *w)
{
    const struct {
        const char *name;
        bool given;
    } others[] = { { "--resume", o->resume }, { "--failed", o->failed }, { "--steer", o->steer } };
    for (int i = 0; i < COUNT(others); i++)
        REQUIRE(w, !others[i].given, "--atomic excludes %s, which reads an earlier run of --db",
                others[i].name);
    return 0;
}

/* What needs each case. */
static int check_summary(const struct options *o, struct why *w)
{
    const struct {
        const char *name, *given;
    } others[] = { { "--junit", o->junit },
                   { "--json-file", o->json_file },
                   { "--tap", o->tap },
                   { "--csv", o->csv } };
    for (int i = 0; i < COUNT(others); i++)
        REQUIRE(w, !others[i].given, "--summary excludes %s, which has every case", others[i].name);
    return 0;
}

int options_parse(const struct command *c, int argc, char **argv, struct options *ret_options,
                  struct why *w)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    struct options o = { .command = c->name,
                         .db = "halcyon.db",
                         .db_shown = "halcyon.db",
                         .jobs = cores < 1     ? 1
                                 : cores > 256 ? 256
                                               : (unsigned) cores,
                         .shard = 1,
                         .n_shards = 1,
                         .keep = DEFAULT_KEEP,
                         .timeout = 10,
                         .preference = 1, /* fast */
                         .stress = DEFAULT_STRESS,
                         .threads = DEFAULT_THREADS,
                         .processes = DEFAULT_PROCESSES,
                         .isolate = ISOLATE_FOREIGN,
                         .seed = DEFAULT_SEED,
                         .warm_up = 0.3,
                         .bench_seconds = 1,
                         .count = 1000,
                         .begun = console_now(),
                         .graphs = randgraph_default };
    struct option table[MAX_OPTIONS + 2];
    char letters[2 * MAX_OPTIONS + 4];
    build_getopt(c, table, letters);
    opterr = 0;
    optind = 0; /* restarts GNU getopt */
    for (;;) {
        int key = getopt_long(argc, argv, letters, table, NULL);
        if (key == -1)
            break;
        if (key == OPTION_HELP)
            return 1;
        const struct option_row *r = row_of(c, key);
        if (!r)
            return refuse(c, key, argv, w);
        if ((r->set ? r->set(&o, optarg, w) : set_member(&o, r, optarg, w)) < 0)
            return why_prefix(w, "--%s", r->name);
    }
    o.argument = argv + optind;
    o.n_arguments = argc - optind;
    char value[RANDGRAPH_VALUE];
    int first = 0;
    o.graphs_given = randgraph_next(&o.graphs, &first, value);
    const int level = o.version ? hal_level(o.version) : o.graphs.max_level;
    o.graphs.max_level = level < o.graphs.max_level ? level : o.graphs.max_level;
    if (o.atomic)
        TRY(check_atomic(&o, w));
    REQUIRE(w, !o.in_process || o.isolate != ISOLATE_ALL,
            "--in-process and --isolate all exclude each other");
    REQUIRE(w, !o.no_probe || !o.support_file,
            "--no-probe and --support exclude each other: the file has what the graphs are drawn "
            "for");
    if (o.summary)
        TRY(check_summary(&o, w));
    if (o.realtime)
        TRY(make_realtime(&o, c->bit == CMD_SERVE, w));
    *ret_options = o;
    return 0;
}

bool options_next(const struct command *c, int *position, struct option_facts *ret_facts)
{
    int i = *position;
    while (i < option_table_n && !(option_table[i].commands & c->bit))
        i++;
    *position = i + 1;
    if (i > option_table_n)
        return false;
    *ret_facts = (struct option_facts){ "help", OPTION_HELP, NULL, VALUE_ANY, false, "this text" };
    if (i < option_table_n) {
        const struct option_row *r = &option_table[i];
        *ret_facts =
            (struct option_facts){ r->name, r->letter, r->argument, r->value, r->repeats, r->help };
    }
    return true;
}

int options_expect(const struct options *o, int least, int most, const char *what, struct why *w)
{
    if (o->n_arguments < least)
        return why_fail(w, WHY_INVALID, "missing argument %s", what);
    for (int i = 0; i < o->n_arguments && i < most; i++)
        REQUIRE(w, *o->argument[i], "expected %s, found an empty argument", what);
    if (o->n_arguments > most)
        return why_fail(w, WHY_INVALID, "unexpected argument '%s'", o->argument[most]);
    return 0;
}

/* Appends a reason; the path of the database is replaced by its name. */
static void put_shown(struct buffer *b, const struct options *o, const char *text)
{
    const char *found;
    for (; o->db_shown != o->db && (found = strstr(text, o->db)); text = found + strlen(o->db)) {
        buffer_put(b, text, (size_t) (found - text));
        buffer_puts(b, o->db_shown);
    }
    buffer_puts(b, text);
}

int print_error(const struct options *o, const struct why *w)
{
    struct buffer text = { 0 };
    put_shown(&text, o, w->text);
    fprintf(stderr, "halcyon %s: ", o->command);
    text_put(stderr, TEXT_TERMINAL, text.failed ? w->text : buffer_text(&text), 0);
    putc('\n', stderr);
    buffer_done(&text);
    bool input = w->code == WHY_INVALID || w->code == WHY_UNSUPPORTED || w->code == WHY_TIMEOUT;
    return input ? EXIT_USAGE : EXIT_OURS;
}
