/* The subcommands, one file each: the `run` members of command_table[] (harness/cli/options.h).
 * Each prints its own errors and returns the exit status. */
#ifndef HARNESS_COMMANDS_H
#define HARNESS_COMMANDS_H

#include "harness/cli/options.h"

int cmd_devices(const struct options *o);
int cmd_run(const struct options *o);
int cmd_random(const struct options *o);
int cmd_conform(const struct options *o);
int cmd_replay(const struct options *o);
int cmd_dump(const struct options *o);
int cmd_levels(const struct options *o);
int cmd_ops(const struct options *o);
int cmd_serve(const struct options *o);
int cmd_new_driver(const struct options *o);
int cmd_trace(const struct options *o);
int cmd_report(const struct options *o);
int cmd_merge(const struct options *o);
int cmd_help(const struct options *o);

/* Sets o->graphs to the generator's options of a recorded run, which options_put_graphs() wrote.
 * *ret_words, to be freed, has the words that they point to, also after a failure. */
int recorded_graphs(struct options *o, const char *graphs, char **ret_words, struct why *w);

#endif
