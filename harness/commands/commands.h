/* The subcommands: one file each, all of the form that struct command wants. */
#ifndef HARNESS_COMMANDS_H
#define HARNESS_COMMANDS_H

#include "harness/cli/options.h"

int cmd_devices(const struct options *o);
int cmd_run(const struct options *o);
int cmd_random(const struct options *o);
int cmd_replay(const struct options *o);
int cmd_dump(const struct options *o);
int cmd_levels(const struct options *o);
int cmd_ops(const struct options *o);
int cmd_serve(const struct options *o);
int cmd_new_driver(const struct options *o);
int cmd_trace(const struct options *o);
int cmd_report(const struct options *o);

#endif
