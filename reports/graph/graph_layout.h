/* Layout of graphs by Graphviz; graph_layout.c and graph_layers.c alone use it.
 *
 * A graph whose edges cross many layers takes Graphviz minutes; its place is taken by a simple
 * layout (graph_layers.h), of which a line below the title informs.  The choice depends on the
 * graph only, so that the same graph gives the same drawing, unless Graphviz exceeds GRAPH_SECONDS
 * of processor time.  Both work in a process of their own with a limit of time, whatever is
 * written. */
#ifndef REPORTS_GRAPH_LAYOUT_H
#define REPORTS_GRAPH_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

#include "golden/base/why.h"

enum {
    GRAPH_SPAN = 1500,         /* layers that the edges of a graph may cross: about 4 s */
    GRAPH_PAGE_SPAN = 15000,   /* the same, of all graphs of a report */
    GRAPH_SECONDS = 20,        /* of processor time that Graphviz may take for a graph */
    GRAPH_SIMPLE_SECONDS = 60, /* the same, for the simple layout */
    GRAPH_PARTS = 100 * 1000,  /* nodes and edges of the largest graph that is drawn */
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

enum graph_image { GRAPH_SVG, GRAPH_PNG, GRAPH_PDF };
struct graph_picture {
    char *data; /* malloced, followed by a NUL */
    size_t length;
    char remark[160]; /* why the layout is the simple one; "": it is not */
};
/* The same as an image of any kind, with the effort for one graph.  Text of a PNG or PDF is in the
 * machine's fixed-width font; a PNG has at most GRAPH_PIXELS and a resolution of up to 144 dots per
 * inch.  WHY_UNSUPPORTED also: Graphviz's plugin for PNG and PDF is not installed. */
enum { GRAPH_PIXELS = 60 * 1000 * 1000 };
int graph_layout_draw(const char *dot, enum graph_image image, struct graph_picture *ret_picture,
                      struct why *w);

/* DOT attributes of the highlighted node. */
#define GRAPH_MARK_COLOR "#dc2626"
#define GRAPH_MARK_FILL  "#fee2e2"
#define GRAPH_MARK_WIDTH "3"

#endif
