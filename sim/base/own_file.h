/* Files that belong to this installation, or to this build, of Halcyon. */
#ifndef SIM_OWN_FILE_H
#define SIM_OWN_FILE_H

#include <limits.h>

#include "golden/base/why.h"

/* Finds a program or library that is started or loaded by its path: beside this program, in the
 * folder libexec/halcyon of the installation, or in the folder `room` of a build folder.  variable:
 * of the environment, its value is the path instead.  WHY_SYSTEM: not found. */
int own_file(const char *name, const char *room, const char *variable, char ret_path[PATH_MAX],
             struct why *w);

#endif
