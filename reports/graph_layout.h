/* Graphviz, in process: the only place that knows libgvc. */
#ifndef REPORTS_GRAPH_LAYOUT_H
#define REPORTS_GRAPH_LAYOUT_H

#include <stdint.h>

#include "golden/base/why.h"

/* Lays out DOT text as an SVG document (malloced).  mark_output: main graph output to highlight,
 * -1: none; it finds the node by the class that graph_dump_dot() gives outputs.  Not thread-safe.
 */
int graph_layout_svg(const char *dot, int64_t mark_output, char **ret_svg, struct why *w);

/* How a marked node looks, as DOT attributes. */
#define GRAPH_MARK_COLOR "#dc2626"
#define GRAPH_MARK_FILL  "#fee2e2"
#define GRAPH_MARK_WIDTH "3"

#endif
