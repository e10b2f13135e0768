/* Suggests a correction for a misspelt name: the nearest of the names that are allowed.
 *
 *     struct suggestion s = suggest_for(name);
 *     for (int i = 0; i < op_table_n; i++)
 *         suggest_candidate(&s, op_table[i]->name);
 *     ... "unknown operation CONV2D%s", suggest_text(&s, "", text)
 *
 * gives "unknown operation CONV2D; did you mean CONV_2D?". */
#ifndef GOLDEN_SUGGEST_H
#define GOLDEN_SUGGEST_H

#include <stddef.h>

enum { SUGGEST_TEXT = 120, SUGGEST_FILE = 300 };

struct suggestion {
    const char *word;
    const char *name; /* the nearest candidate so far; NULL: none is near enough */
    size_t distance;  /* of that candidate: 0 for the same name */
};

/* word must outlive the suggestion, as must the candidates. */
struct suggestion suggest_for(const char *word);

/* Considers one allowed name.  It is near when min(3, 1 + (length of the word - 1) / 4) edits
 * suffice to turn one into the other: inserting, removing or replacing a letter, or swapping two
 * neighbours; or when the word is its beginning or its last part, or begins with it.  Upper and
 * lower case count as the same, as do '-', '_' and a blank; replacing a digit by another one counts
 * twice.  Of equally near names the first is kept. */
void suggest_candidate(struct suggestion *s, const char *name);

/* "; did you mean PREFIXname?", or "" when no candidate is near.  Returns text. */
const char *suggest_text(const struct suggestion *s, const char *prefix, char text[SUGGEST_TEXT]);

/* For a path that does not exist: "; did you mean FILE?" with the nearest name in its folder, or of
 * the first folder on it that does not exist; or "".  Returns text. */
const char *suggest_file(const char *path, char text[SUGGEST_FILE]);

#endif
