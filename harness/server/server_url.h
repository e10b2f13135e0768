/* URLs of PostgreSQL servers. */
#ifndef HARNESS_SERVER_URL_H
#define HARNESS_SERVER_URL_H

#include <stdbool.h>

#include "golden/base/why.h"

/* Whether a text is the URL of a server, and not the path of a file: postgresql://... or
 * postgres://... */
bool server_is_url(const char *text);

/* The URL without passwords, malloced; NULL: out of memory. */
char *server_shown_url(const char *url);

/* Fails unless it is the URL of a server, and where the password is not delimited as libpq takes
 * it, so that a part of it would be taken, and printed, as the name of a host. */
int server_check_url(const char *url, struct why *w);

/* Fails, without showing its password, where an argument that names a file is the URL of a server;
 * hint: what to do instead. */
int server_refuse_url(const char *argument, const char *hint, struct why *w);

#endif
