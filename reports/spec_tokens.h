/* A specification (.mod.py as specs/write_modpy.c writes it) as tokens and numbers, which compress
 * to about two thirds of what the text compresses to.  The first plane is the text with codes,
 * bytes below 32, for what can be told from the rest; the others have the numbers of lists in
 * binary, one plane for each byte of a number, since those of one place are alike:
 *
 *     text                                              first plane
 *     i0 = Input("i0", ("TENSOR_FLOAT32", [2, 3]))      {Input}("TENSOR_FLOAT32", {bytes}2]))
 *     c1 = Parameter("c1", ("INT32", []), [0])          {Parameter}("INT32", []), [0])
 *     main.Operation("RELU", i0, c1).To(o2)             main.Operation("RELU"{, next}{, next}).To(
 *                                                       {next})
 *
 *     codes      1..8    a list of `enum element`, wrapped as the writer wraps values: its length
 *                        in decimal
 *                11..18  the same in one line
 *                19..24  a declaration, of the operand after the previous one:
 *                        `c1 = Parameter("c1", `
 *                25, 26  the name of the operand after the one named last, with and without ", "
 *                        before it
 *                27      the name of an operand: its number in decimal
 *
 * A newline of the first plane ends a line; a declaration in it, coded or not, defines the letter
 * of its operand and the number of the next one, and a new prefix (g1_) begins with none.  A text
 * that has other bytes below 32 is not split.  Databases have these planes (reports/packed_text.c):
 * what a code or a number stands for must never change. */
#ifndef REPORTS_SPEC_TOKENS_H
#define REPORTS_SPEC_TOKENS_H

#include <stdbool.h>
#include <stddef.h>

#include "golden/golden.h"

/* A text, one byte of whole numbers and booleans of 8 bits, two of those of 16 bits and of
 * binary16, four of whole numbers, four of binary32, from the lowest; of floats without the sign
 * bit, which is the lowest bit of the lowest byte. */
enum { SPEC_PLANES = 12 };

struct spec_bytes {
    unsigned char *at; /* malloced */
    size_t n, room;
};

struct spec_planes {
    struct spec_bytes plane[SPEC_PLANES];
};

/* Splits a text of n bytes and a NUL.  False: it has bytes that cannot be split, or out of memory.
 * The planes, {0} before, are to be freed in any case. */
bool spec_tokens_split(const char *text, size_t n, struct spec_planes *ret_planes);

/* The same with bytes SPEC_LIST in the text, for "[...]" of two or more elements of the next tensor
 * of `list`, as specs/write_modpy.c writes it.  Also false: there are not n_lists of them, or a
 * list has numbers of more than 32 bits. */
enum { SPEC_LIST = 1 };
bool spec_tokens_split_marked(const char *text, size_t n, const struct tensor *const *list,
                              size_t n_lists, struct spec_planes *ret_planes);

/* Returns the text, of at most `most` bytes, and a NUL; to be freed.  NULL: *ret_why has what is
 * wrong with the planes, which need not come from spec_tokens_split(). */
char *spec_tokens_join(const struct spec_planes *p, size_t most, size_t *ret_n,
                       const char **ret_why);

void spec_planes_free(struct spec_planes *p);

#endif
