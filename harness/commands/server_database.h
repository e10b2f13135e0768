/* A database on a server as a file, for the commands that read one. */
#ifndef HARNESS_SERVER_DATABASE_H
#define HARNESS_SERVER_DATABASE_H

#include "harness/cli/options.h"
#include "sim/isolation/scratch_folder.h"

struct server_database {
    struct scratch_folder folder;
    char *path, *shown;
};
#define SERVER_DATABASE_NONE                                                                       \
    {                                                                                              \
        .folder = SCRATCH_FOLDER_NONE                                                              \
    }

/* Where --db is the URL of a server: copies what the command needs of it to a file in a temporary
 * folder, and sets o->db to that, o->db_shown to the URL without its password.  WHY_INVALID: the
 * command writes to its database.  To be ended with server_database_done() in any case. */
int server_database_use(const struct command *c, struct options *o, struct server_database *d,
                        struct why *w);
void server_database_done(struct server_database *d);

#endif
