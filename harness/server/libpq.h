/* PostgreSQL's client library, loaded when it is needed: with the libraries that it uses, linking
 * it would double the time that every command takes to start. */
#ifndef HARNESS_LIBPQ_H
#define HARNESS_LIBPQ_H

#include <libpq-fe.h>

#include "golden/base/why.h"

#define LIBPQ_FUNCTIONS(F)                                                                         \
    F(PQconnectdbParams)                                                                           \
    F(PQconninfoParse)                                                                             \
    F(PQconninfoFree)                                                                              \
    F(PQping)                                                                                      \
    F(PQstatus)                                                                                    \
    F(PQserverVersion)                                                                             \
    F(PQsetClientEncoding)                                                                         \
    F(PQsetNoticeProcessor)                                                                        \
    F(PQerrorMessage)                                                                              \
    F(PQfinish)                                                                                    \
    F(PQexecParams)                                                                                \
    F(PQexec)                                                                                      \
    F(PQresultStatus)                                                                              \
    F(PQresultErrorField)                                                                          \
    F(PQclear)                                                                                     \
    F(PQntuples)                                                                                   \
    F(PQgetvalue)                                                                                  \
    F(PQgetisnull)                                                                                 \
    F(PQgetResult)                                                                                 \
    F(PQputCopyData)                                                                               \
    F(PQputCopyEnd)                                                                                \
    F(PQgetCopyData)                                                                               \
    F(PQescapeIdentifier)                                                                          \
    F(PQescapeLiteral)                                                                             \
    F(PQfreemem)

struct libpq {
#define FUNCTION(name) __typeof__(name) *name;
    LIBPQ_FUNCTIONS(FUNCTION)
#undef FUNCTION
};

/* Stays loaded until the process ends.  WHY_SYSTEM: the library is not installed. */
int libpq_load(const struct libpq **ret_libpq, struct why *w);

#endif
