/* Layout of graphs by Graphviz, in process.  graph_layout.c alone uses libgvc. */
#ifndef REPORTS_GRAPH_LAYOUT_H
#define REPORTS_GRAPH_LAYOUT_H

#include <stdint.h>

#include "golden/base/why.h"

/* Lays out DOT text as an SVG document (malloced).  mark_output: index of the main graph's output
 * to highlight, -1: none; its node is found by the class "output<i>" of graph_dump_dot().  Text
 * that is not DOT is WHY_INVALID.  Not thread-safe. */
int graph_layout_svg(const char *dot, int64_t mark_output, char **ret_svg, struct why *w);

/* DOT attributes of the highlighted node. */
#define GRAPH_MARK_COLOR "#dc2626"
#define GRAPH_MARK_FILL  "#fee2e2"
#define GRAPH_MARK_WIDTH "3"

#endif
