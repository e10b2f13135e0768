/* A database that is whole or not there (--atomic).  Until it is complete it has the name
 * FILE.PID-START-PLACE.halcyon-part of the process that writes it: its number, when it was started,
 * and a digest of host, boot and PID namespace. */
#ifndef HARNESS_SHARD_FILE_H
#define HARNESS_SHARD_FILE_H

#include "golden/base/why.h"

struct shard_file {
    char *path; /* NULL: there is none */
    char *part; /* its name until it is complete */
};

/* Chooses the name of the part, and removes those of the same file whose processes have ended.
 * Parts of another place, where processes cannot be seen, are removed once nothing has been written
 * to them for an hour.  Creates nothing. */
int shard_file_begin(const char *path, struct shard_file *ret_file, struct why *w);
/* Replaces the part, a closed database, by what write() makes of it in a new file. */
int shard_file_shorten(struct shard_file *f,
                       int (*write)(const char *from, const char *to, struct why *w),
                       struct why *w);
/* Gives the part, a closed database without a log, its name.  0: done; 1: a file has the name
 * already, which is kept, and the part is removed. */
int shard_file_publish(struct shard_file *f, struct why *w);
/* Removes the part, if there is one, and frees.  Does nothing for a zeroed *f. */
void shard_file_done(struct shard_file *f);

#endif
