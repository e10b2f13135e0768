#include "golden/base/suggest.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { LONGEST = 256 }; /* letters of a name; longer ones are never near */

static bool is_separator(char c)
{
    return c == '_' || c == '-' || c == ' ';
}

static bool same(char a, char b)
{
    return tolower((unsigned char) a) == tolower((unsigned char) b) ||
           (is_separator(a) && is_separator(b));
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* One number is not another one misspelt. */
static size_t replacing(char a, char b)
{
    return same(a, b) ? 0 : isdigit((unsigned char) a) && isdigit((unsigned char) b) ? 2 : 1;
}

/* Edit distance with transpositions of neighbours (optimal string alignment): row[i][j] is that of
 * the first i letters of a and the first j of b.  Only the last three rows are kept. */
static size_t edit_distance(const char *a, const char *b)
{
    size_t n = strlen(a), m = strlen(b), rows[3][LONGEST + 1];

    if (n > LONGEST || m > LONGEST)
        return SIZE_MAX;
    for (size_t i = 0; i <= n; i++) {
        size_t *row = rows[i % 3], *above = rows[(i + 2) % 3], *second = rows[(i + 1) % 3];
        row[0] = i;
        for (size_t j = 1; j <= m; j++) {
            if (i == 0) {
                row[j] = j;
                continue;
            }
            row[j] = least(above[j] + 1, row[j - 1] + 1);
            row[j] = least(row[j], above[j - 1] + replacing(a[i - 1], b[j - 1]));
            if (i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1]))
                row[j] = least(row[j], second[j - 2] + 1);
        }
    }
    return rows[n % 3][m];
}

/* Whether the n letters of word are those at the same place of name. */
static bool are_at(const char *word, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (!name[i] || !same(word[i], name[i]))
            return false;
    return true;
}

/* Whether one is the beginning of the other, or the word the last part of the name: CONV of
 * CONV_2D, conformance for conform, FLOAT32 of TENSOR_FLOAT32. */
static bool is_part(const char *word, const char *name)
{
    enum { SHORTEST_WORD = 3, SHORTEST_NAME = 5 };
    size_t n = strlen(word), m = strlen(name);

    if (m >= SHORTEST_NAME && n > m)
        return are_at(name, m, word);
    return n >= SHORTEST_WORD && m > n &&
           (are_at(word, n, name) ||
            (is_separator(name[m - n - 1]) && are_at(word, n, name + m - n)));
}

static size_t most_edits(const char *word)
{
    size_t n = strlen(word);

    return least(1 + (n ? n - 1 : 0) / 4, 3);
}

struct suggestion suggest_for(const char *word)
{
    return (struct suggestion){ .word = word, .distance = 2 * most_edits(word) + 2 };
}

void suggest_candidate(struct suggestion *s, const char *name)
{
    const size_t edits = edit_distance(s->word, name), most = most_edits(s->word);
    size_t distance = edits > most ? SIZE_MAX : 2 * edits;

    if (edits > most && is_part(s->word, name))
        distance = 2 * most + 1;
    if (distance >= s->distance)
        return;
    s->name = name;
    s->distance = distance;
}

const char *suggest_text(const struct suggestion *s, const char *prefix, char text[SUGGEST_TEXT])
{
    text[0] = 0;
    if (s->name)
        snprintf(text, SUGGEST_TEXT, "; did you mean %s%s?", prefix, s->name);
    return text;
}
