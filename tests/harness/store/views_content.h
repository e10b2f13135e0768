/* A small results database, of which the rows of every view can be computed by hand. */
#ifndef TESTS_VIEWS_CONTENT_H
#define TESTS_VIEWS_CONTENT_H

/* SQL that fills an empty results database. */
extern const char *const views_content[2];

#endif
