/* halcyon help. */
#include "harness/commands/help.h"

#include <string.h>

#include "golden/base/suggest.h"
#include "harness/commands/commands.h"

const char help_purpose[] =
    "is this Android NN driver right, and if not, which operation, on which input, by how much?";

const struct help_row help_targets[] = {
    { "sim:cpu, sim:gpu, sim:dsp", "simulated devices" },
    { "sim:FILE.toml", "a simulated device with this profile; sim:FILE.json: one written as JSON" },
    { "lib:PATH.so[?ARGUMENTS]", "a driver in a shared library" },
    { "sl:PATH.so[?device=NAME]", "a device of an NNAPI support library" },
    { "rt:, rt:FILE", "the NNAPI runtime over the drivers of HALCYON_DEVICES, or of a file with "
                      "one target per line" },
    { "unix:PATH", "a driver that 'halcyon serve' runs in another process" },
    { "golden", "the reference itself" },
    { "null", "a driver that supports nothing" },
    { NULL, NULL },
};

const struct help_row help_target_options[] = {
    { "fault=NAME", "plant a defect (halcyon devices --faults lists them)" },
    { "hal=VERSION",
      "report and follow this HAL version: 1.0, 1.1, 1.2, 1.3, fl5, fl6, fl7 or fl8" },
    { "realtime", "executions take as long as the cost model predicts" },
    { NULL, NULL },
};

const struct help_row help_exit_statuses[] = {
    { "0", "every case that was run conforms" },
    { "1", "a case does not conform, or is flaky (--rerun); a waiver is stale or expired" },
    { "2",
      "bad usage or input: a message names the place, nothing is written; or files of a folder "
      "could not be loaded: the others are run and recorded" },
    { "3", "an error in halcyon itself" },
    { "130, 143", "interrupted by SIGINT or SIGTERM, after the summary; --resume continues" },
    { NULL, NULL },
};

enum { HELP_COLUMN = 29, HELP_WIDTH = 92 };

/* Prints a text beside its term, which ends at `column`, wrapped between words. */
static void print_text(FILE *to, const char *text, int column)
{
    if (column >= HELP_COLUMN) {
        fputc('\n', to);
        column = 0;
    }
    for (const char *at = text; *at;) {
        size_t n = strlen(at), room = HELP_WIDTH - HELP_COLUMN;
        if (n > room)
            for (n = room; n > 1 && at[n] != ' '; n--)
                continue;
        fprintf(to, "%*s%.*s\n", HELP_COLUMN - column, "", (int) n, at);
        at += n + (at[n] == ' ');
        column = 0;
    }
}

static void print_rows(FILE *to, const char *title, const struct help_row *rows)
{
    fprintf(to, "\n%s:\n", title);
    for (; rows->term; rows++)
        print_text(to, rows->text, fprintf(to, "  %s", rows->term));
}

void help_print(FILE *to)
{
    fprintf(to,
            "halcyon: %s\n\n"
            "usage: halcyon COMMAND [OPTION...]\n"
            "       halcyon --version [-v]\n\ncommands:\n",
            help_purpose);
    for (int i = 0; i < command_table_n; i++)
        print_text(to, command_table[i].summary, fprintf(to, "  %s", command_table[i].name));
    print_rows(to, "targets", help_targets);
    print_rows(to, "options of sim: targets, after a '?', with '&' between them",
               help_target_options);
    fputs("\n'halcyon help COMMAND' describes a command and its options.\n", to);
}

void help_print_command(const struct command *c, FILE *to)
{
    struct option_facts o;

    fprintf(to, "usage: halcyon %s%s%s\n\n%s\n\noptions:\n", c->name, *c->synopsis ? " " : "",
            c->synopsis, c->text);
    for (int at = 0; options_next(c, &at, &o);) {
        int column = o.letter ? fprintf(to, "  -%c, ", o.letter) : fprintf(to, "      ");
        column += fprintf(to, "--%s", o.name);
        if (o.argument)
            column += fprintf(to, " %s", o.argument);
        print_text(to, o.help, column);
    }
    if (c->bit & (CMD_RUN | CMD_RANDOM | CMD_REPLAY | CMD_EXPLAIN))
        print_rows(to, "exit status", help_exit_statuses);
}

const struct command *help_find_command(const char *name)
{
    struct suggestion s = suggest_for(name);
    char text[SUGGEST_TEXT];

    for (int i = 0; i < command_table_n; i++) {
        if (!strcmp(name, command_table[i].name))
            return &command_table[i];
        suggest_candidate(&s, command_table[i].name);
    }
    if (*name == '-') {
        s = suggest_for(name);
        suggest_candidate(&s, "--version");
        suggest_candidate(&s, "--help");
    }
    fprintf(stderr, "halcyon: unknown %s '%s'%s\n", *name == '-' ? "option" : "command", name,
            s.name ? suggest_text(&s, "", text) : " ('halcyon help' lists the commands)");
    return NULL;
}

int cmd_help(const struct options *o)
{
    struct why why = { 0 };
    const struct command *c;

    if (options_expect(o, 0, 1, "COMMAND", &why) < 0)
        return print_error(o, &why);
    if (o->man + (o->shell != NULL) + o->n_arguments > 1) {
        why_fail(&why, WHY_INVALID, "COMMAND, --man and --completion exclude each other");
        return print_error(o, &why);
    }
    if (o->man) {
        man_page_print(stdout);
    } else if (o->shell) {
        completion_print(o->shell, stdout);
    } else if (!o->n_arguments) {
        help_print(stdout);
    } else {
        c = help_find_command(o->argument[0]);
        if (!c)
            return EXIT_USAGE;
        help_print_command(c, stdout);
    }
    return EXIT_CONFORMING;
}
