/* A layout of its own for graphs on which Graphviz's would take too long: linear in the size of the
 * graph, but for the sorting of layers.
 *
 * Nodes lie in layers, below those that they depend on; each subgraph stands at the right of what
 * comes before it.  Edges to the next layer are straight lines; longer ones are arcs at the right
 * of the nodes. */
#ifndef REPORTS_GRAPH_LAYERS_H
#define REPORTS_GRAPH_LAYERS_H

#include <graphviz/gvc.h>
#include <stdbool.h>
#include <stdint.h>

struct graph_layers;

/* Puts the nodes of g into layers.  NULL: out of memory. */
struct graph_layers *graph_layers_new(Agraph_t *g);
void graph_layers_free(struct graph_layers *l);

/* The number of layers that the edges cross in total: it governs the cost of Graphviz's layout,
 * which has a node for each crossing. */
uint64_t graph_layers_span(const struct graph_layers *l);

/* Removes boxes around nodes ("cluster_box...") and gives every node a position, without regard to
 * its size. */
void graph_layers_start(const struct graph_layers *l);
/* Gives nodes, edges and labels their positions; the sizes of nodes must be known to Graphviz.
 * False: out of memory. */
bool graph_layers_place(struct graph_layers *l);

#endif
