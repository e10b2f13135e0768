/* The folder that an isolated driver may write to: new, and removed afterwards. */
#ifndef SIM_SCRATCH_FOLDER_H
#define SIM_SCRATCH_FOLDER_H

#include "golden/base/why.h"

struct scratch_folder {
    char *path; /* NULL: none */
    int fd;     /* locked as long as the folder is in use */
};
#define SCRATCH_FOLDER_NONE                                                                        \
    {                                                                                              \
        .fd = -1                                                                                   \
    }

/* In $TMPDIR, else /tmp.  -1: *f may be half made; scratch_folder_remove() ends it. */
int scratch_folder_make(struct scratch_folder *f, struct why *w);
void scratch_folder_remove(struct scratch_folder *f);

/* Removes the folders that processes of this user which have died left over. */
void scratch_folder_remove_stale(void);

#endif
