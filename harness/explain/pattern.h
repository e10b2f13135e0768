/* The pattern of wrong elements: where they are, and how they differ from the right ones. */
#ifndef HARNESS_PATTERN_H
#define HARNESS_PATTERN_H

#include "harness/check/buffer.h"
#include "harness/explain/subject.h"

/* Appends lines, each beginning with four spaces; at least one. */
void pattern_describe(const struct subject *s, struct buffer *to);

#endif
