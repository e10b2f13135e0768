/* A model as Graphviz text with the conventions of the graph dump of NNAPI's own utilities. */
#ifndef REPORTS_GRAPH_ANDROID_H
#define REPORTS_GRAPH_ANDROID_H

#include <stdio.h>

#include "golden/golden.h"

/* Operands are nodes d<i>, operations boxes n<i>; edges have a number where an operation has
 * several operands on that side; subgraphs are counted, not drawn. */
int graph_android_dot(const struct model *m, const char *name, FILE *to, struct why *w);

#endif
