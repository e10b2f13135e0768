/* Layout of graphs by Graphviz, in process; graph_layout.c and graph_layers.c alone use it.
 *
 * A graph whose edges cross many layers takes Graphviz minutes; its place is taken by a simple
 * layout (graph_layers.h), of which a line below the title informs.  The choice depends on the
 * graph only, so that the same graph gives the same drawing, unless Graphviz exceeds GRAPH_SECONDS
 * of processor time. */
#ifndef REPORTS_GRAPH_LAYOUT_H
#define REPORTS_GRAPH_LAYOUT_H

#include <stdint.h>

#include "golden/base/why.h"

enum {
    GRAPH_SPAN = 1500,        /* layers that the edges of a graph may cross: about 4 s */
    GRAPH_PAGE_SPAN = 15000,  /* the same, of all graphs of a report */
    GRAPH_SECONDS = 20,       /* of processor time that Graphviz may take for a graph */
    GRAPH_PARTS = 100 * 1000, /* nodes and edges of the largest graph that is drawn */
};

/* What is left of the effort for several graphs. */
struct graph_budget {
    uint64_t left; /* layers that edges may cross; begin with GRAPH_PAGE_SPAN */
};

/* Lays out DOT text as an SVG document (malloced).  mark_output: index of the main graph's output
 * to highlight, -1: none; its node is found by the class "output<i>" of graph_dump_dot().  budget:
 * reduced by what the graph takes; NULL: that of one graph.  Text that is not DOT is WHY_INVALID, a
 * graph that is too large WHY_UNSUPPORTED.  Not thread-safe. */
int graph_layout_svg(const char *dot, int64_t mark_output, struct graph_budget *budget,
                     char **ret_svg, struct why *w);

/* DOT attributes of the highlighted node. */
#define GRAPH_MARK_COLOR "#dc2626"
#define GRAPH_MARK_FILL  "#fee2e2"
#define GRAPH_MARK_WIDTH "3"

#endif
