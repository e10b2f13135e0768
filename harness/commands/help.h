/* The help of the command line: as text, as a manual page and as completion scripts, all written
 * from the tables of commands and options (harness/cli/options.h). */
#ifndef HARNESS_HELP_H
#define HARNESS_HELP_H

#include <stdio.h>

#include "harness/cli/options.h"

/* A line of a list: what is explained, and its explanation. */
struct help_row {
    const char *term, *text;
};
/* Forms of a target, options after its '?', exit statuses; each ends with a NULL term. */
extern const struct help_row help_targets[], help_target_options[], help_exit_statuses[];
/* One sentence: what the program is for. */
extern const char help_purpose[];

/* NULL with a message on stderr, which names a similar command where there is one. */
const struct command *help_find_command(const char *name);

void help_print(FILE *to);
void help_print_command(const struct command *c, FILE *to);

/* halcyon.1, the same bytes for the same tables. */
void man_page_print(FILE *to);

/* A script for "bash", "zsh" or "fish" that completes commands, options and their values. */
void completion_print(const char *shell, FILE *to);

#endif
