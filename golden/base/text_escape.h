/* Writes text from outside (names in files, messages of drivers, paths) to a medium in which some
 * characters have a meaning.  Every place that prints such text calls this. */
#ifndef GOLDEN_TEXT_ESCAPE_H
#define GOLDEN_TEXT_ESCAPE_H

#include <stdint.h>
#include <stdio.h>

/* In all media but JSON and the shell, control characters (C0, DEL, C1), the characters that change
 * the direction of text, line separators and noncharacters are shown as \x1b or \u202e, bytes that
 * are not UTF-8 as \xff. */
enum text_medium {
    TEXT_TERMINAL, /* one line of a terminal or log: line ends are shown as \n, tabs as \t */
    TEXT_LINES,    /* lines of a terminal: line ends and tabs stay */
    TEXT_XML,      /* attributes and content of XML 1.0: entities, also for line ends and tabs */
    TEXT_HTML,     /* content of HTML: entities; line ends and tabs stay */
    TEXT_JSON,     /* a string for a JSON library, which escapes control characters itself: only
                      bytes that are not UTF-8 are replaced */
    TEXT_CSV, /* a field of CSV between double quotes: those are doubled, line ends and tabs stay */
    TEXT_TAP, /* the description of a TAP test line: "#" and "\" are escaped, as in all that is
                 shown as an escape */
    TEXT_SHELL /* one argument for a POSIX shell, with the same bytes; one that cannot be shown
                  as it is becomes $'...' (bash, zsh, ksh; POSIX since 2024) */
};

/* Writes at most `most` characters of text (0: all), then an ellipsis if there are more.  NULL
 * writes nothing.  The shell's medium has no limit: `most` is ignored. */
void text_put(FILE *to, enum text_medium medium, const char *text, size_t most);
/* The same as a string, malloced; NULL: out of memory. */
char *text_escaped(enum text_medium medium, const char *text);

/* Replaces what text_put() would show as \x.. or \u.. by '?', in place, but for line ends: for
 * strings in buffers of fixed size. */
void text_clean(char *text);

/* Length in bytes of the UTF-8 character at s, and its code; 0: it is not well-formed. */
size_t text_utf8(const char *s, uint32_t *ret_code);

#endif
