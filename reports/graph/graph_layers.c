#define _GNU_SOURCE
#include "reports/graph/graph_layers.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* In points. */
enum { NODE_GAP = 14, LAYER_GAP = 34, GROUP_GAP = 60, ARROW = 6, ARC = 24, WIDEST_ARC = 400 };
enum { SWEEPS = 4 };

/* A node.  Its edges are `edge` of the graph from first_in and first_out on. */
struct place {
    Agnode_t *node;
    uint32_t group; /* 0: of the main graph, else 1 + the index of its subgraph */
    uint32_t layer, first_in, n_in, first_out, n_out;
    uint32_t arcs; /* that end here */
    double x, y, width, height, wanted;
};

struct link {
    Agedge_t *edge;
    uint32_t tail, head; /* indexes of nodes */
};

struct group {
    Agraph_t *graph; /* NULL: the main graph */
    uint32_t n_layers;
    double left, right, top, bottom;
};

struct graph_layers {
    Agraph_t *g;
    struct place *place; /* in the order of the text */
    uint32_t n_places;
    struct link *link;
    uint32_t n_links;
    uint32_t *in, *out; /* indexes of links, by node */
    uint32_t *order;    /* nodes by group, layer and place in the layer */
    struct group *group;
    uint32_t n_groups;
};

void graph_layers_free(struct graph_layers *l)
{
    if (!l)
        return;
    free(l->place);
    free(l->link);
    free(l->in);
    free(l->out);
    free(l->order);
    free(l->group);
    free(l);
}

/* ---- reading the graph */

/* The node's index is kept in a record of the node. */
struct index_record {
    Agrec_t header;
    uint32_t index;
};

static char record_name[] = "halcyon_index";

static uint32_t index_of(Agnode_t *n)
{
    return ((struct index_record *) aggetrec(n, record_name, 0))->index;
}

/* A box around nodes of a graph.  Every other subgraph is one of the model. */
static bool is_box(Agraph_t *s)
{
    static const char prefix[] = "cluster_box";
    return strncmp(agnameof(s), prefix, strlen(prefix)) == 0;
}

/* Boxes have no place in the layers; their nodes stay. */
static void remove_boxes(Agraph_t *in)
{
    for (Agraph_t *s = agfstsubg(in), *next; s; s = next) {
        next = agnxtsubg(s);
        remove_boxes(s);
        if (is_box(s))
            agclose(s);
    }
}

static void read_nodes(struct graph_layers *l)
{
    for (Agnode_t *n = agfstnode(l->g); n; n = agnxtnode(l->g, n)) {
        struct index_record *r = agbindrec(n, record_name, sizeof *r, 0);
        r->index = l->n_places;
        l->place[l->n_places++] = (struct place){ .node = n };
    }
    for (Agraph_t *s = agfstsubg(l->g); s; s = agnxtsubg(s)) {
        if (is_box(s))
            continue;
        l->group[l->n_groups].graph = s;
        for (Agnode_t *n = agfstnode(s); n; n = agnxtnode(s, n))
            l->place[index_of(n)].group = l->n_groups;
        l->n_groups++;
    }
}

/* Edges between two subgraphs do not count for the layers. */
static bool is_inner(const struct graph_layers *l, const struct link *k)
{
    return l->place[k->tail].group == l->place[k->head].group && k->tail != k->head;
}

static void read_edges(struct graph_layers *l)
{
    for (Agnode_t *n = agfstnode(l->g); n; n = agnxtnode(l->g, n))
        for (Agedge_t *e = agfstout(l->g, n); e; e = agnxtout(l->g, e))
            l->link[l->n_links++] = (struct link){ e, index_of(agtail(e)), index_of(aghead(e)) };
    for (uint32_t i = 0; i < l->n_links; i++)
        if (is_inner(l, &l->link[i])) {
            l->place[l->link[i].tail].n_out++;
            l->place[l->link[i].head].n_in++;
        }
    uint32_t in = 0, out = 0;
    for (uint32_t i = 0; i < l->n_places; i++) {
        struct place *p = &l->place[i];
        p->first_in = in;
        p->first_out = out;
        in += p->n_in;
        out += p->n_out;
        p->n_in = p->n_out = 0;
    }
    for (uint32_t i = 0; i < l->n_links; i++) {
        struct place *tail = &l->place[l->link[i].tail], *head = &l->place[l->link[i].head];
        if (!is_inner(l, &l->link[i]))
            continue;
        l->out[tail->first_out + tail->n_out++] = i;
        l->in[head->first_in + head->n_in++] = i;
    }
}

/* ---- layers */

static uint32_t deeper(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

/* Layer by the longest path to the node.  In a cycle, which an invalid model can have, the first
 * node of the text begins. */
static bool find_layers(struct graph_layers *l)
{
    uint32_t *left = malloc((l->n_places + 1) * sizeof *left);
    uint32_t *queue = malloc((l->n_places + 1) * sizeof *queue), begin = 0, end = 0, next = 0;
    bool *queued = calloc(l->n_places + 1, sizeof *queued);
    bool ok = left && queue && queued;
    for (uint32_t i = 0; ok && i < l->n_places; i++) {
        left[i] = l->place[i].n_in;
        if (!left[i]) {
            queue[end++] = i;
            queued[i] = true;
        }
    }
    while (ok && begin < l->n_places) {
        while (begin == end && queued[next])
            next++;
        if (begin == end) {
            queue[end++] = next;
            queued[next] = true;
        }
        const struct place *p = &l->place[queue[begin++]];
        for (uint32_t k = 0; k < p->n_out; k++) {
            uint32_t head = l->link[l->out[p->first_out + k]].head;
            if (queued[head])
                continue;
            l->place[head].layer = deeper(l->place[head].layer, p->layer + 1);
            if (--left[head] == 0) {
                queue[end++] = head;
                queued[head] = true;
            }
        }
    }
    free(left);
    free(queue);
    free(queued);
    return ok;
}

/* Moves what depends on nothing, constants above all, down to the layer above its first reader. */
static void lower_sources(struct graph_layers *l)
{
    for (uint32_t i = 0; i < l->n_places; i++) {
        struct place *p = &l->place[i];
        uint32_t least = UINT32_MAX;
        for (uint32_t k = 0; k < p->n_out; k++) {
            uint32_t layer = l->place[l->link[l->out[p->first_out + k]].head].layer;
            least = layer < least ? layer : least;
        }
        if (!p->n_in && p->n_out && least)
            p->layer = least - 1;
    }
}

uint64_t graph_layers_span(const struct graph_layers *l)
{
    uint64_t span = 0;
    for (uint32_t i = 0; i < l->n_links; i++) {
        uint32_t tail = l->place[l->link[i].tail].layer, head = l->place[l->link[i].head].layer;
        span += !is_inner(l, &l->link[i]) ? 1 : tail < head ? head - tail : tail - head;
    }
    return span;
}

static int by_place(const void *a, const void *b, void *user)
{
    const struct graph_layers *l = user;
    uint32_t i = *(const uint32_t *) a, k = *(const uint32_t *) b;
    const struct place *p = &l->place[i], *q = &l->place[k];
    if (p->group != q->group)
        return p->group < q->group ? -1 : 1;
    if (p->layer != q->layer)
        return p->layer < q->layer ? -1 : 1;
    if (p->wanted < q->wanted || p->wanted > q->wanted)
        return p->wanted < q->wanted ? -1 : 1;
    return i < k ? -1 : i > k;
}

static void sort_places(struct graph_layers *l)
{
    qsort_r(l->order, l->n_places, sizeof *l->order, by_place, l);
}

struct graph_layers *graph_layers_new(Agraph_t *g)
{
    size_t nodes = (size_t) agnnodes(g) + 1, edges = (size_t) agnedges(g) + 1;
    struct graph_layers *l = calloc(1, sizeof *l);
    if (!l)
        return NULL;
    l->g = g;
    l->place = calloc(nodes, sizeof *l->place);
    l->link = calloc(edges, sizeof *l->link);
    l->in = calloc(edges, sizeof *l->in);
    l->out = calloc(edges, sizeof *l->out);
    l->order = calloc(nodes, sizeof *l->order);
    l->group = calloc((size_t) agnsubg(g) + 1, sizeof *l->group);
    l->n_groups = 1;
    bool ok = l->place && l->link && l->in && l->out && l->order && l->group;
    if (ok) {
        read_nodes(l);
        read_edges(l);
        for (uint32_t i = 0; i < l->n_places; i++)
            l->order[i] = i;
        ok = find_layers(l);
    }
    if (!ok) {
        graph_layers_free(l);
        return NULL;
    }
    lower_sources(l);
    for (uint32_t i = 0; i < l->n_places; i++) {
        struct group *at = &l->group[l->place[i].group];
        at->n_layers = deeper(at->n_layers, l->place[i].layer + 1);
    }
    return l;
}

/* ---- positions */

__attribute__((format(printf, 3, 4))) static void set(void *of, const char *name, const char *fmt,
                                                      ...)
{
    char text[400], none[] = "";
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    agsafeset(of, (char *) name, text, none);
}

void graph_layers_start(const struct graph_layers *l)
{
    remove_boxes(l->g);
    for (uint32_t i = 0; i < l->n_places; i++)
        set(l->place[i].node, "pos", "%u,0", i);
}

/* The mean position of the neighbours in the layers above, or below; its own if it has none. */
static double mean_of_neighbours(const struct graph_layers *l, const struct place *p, bool above)
{
    uint32_t n = above ? p->n_in : p->n_out;
    double sum = 0;
    for (uint32_t k = 0; k < n; k++) {
        const struct link *e = &l->link[above ? l->in[p->first_in + k] : l->out[p->first_out + k]];
        sum += l->place[above ? e->tail : e->head].x;
    }
    return n ? sum / n : p->x;
}

/* Places the nodes order[begin, end) of a layer side by side, near the positions that they want. */
static void place_layer(struct graph_layers *l, uint32_t begin, uint32_t end)
{
    double right = 0, off = 0;
    for (uint32_t i = begin; i < end; i++) {
        struct place *p = &l->place[l->order[i]];
        double least = right + NODE_GAP + p->width / 2;
        p->x = i == begin || p->wanted > least ? p->wanted : least;
        right = p->x + p->width / 2;
        off += p->x - p->wanted;
    }
    off /= end - begin;
    for (uint32_t i = begin; i < end; i++)
        l->place[l->order[i]].x -= off;
}

/* The end of the layer that begins at order[begin]. */
static uint32_t layer_end(const struct graph_layers *l, uint32_t begin)
{
    const struct place *first = &l->place[l->order[begin]];
    uint32_t end = begin;
    while (end < l->n_places && l->place[l->order[end]].layer == first->layer &&
           l->place[l->order[end]].group == first->group)
        end++;
    return end;
}

/* One pass over all layers, downwards or upwards: each is sorted by its neighbours' positions, then
 * placed.  start: where each layer begins in `order`. */
static void sweep(struct graph_layers *l, const uint32_t *start, uint32_t n, bool down)
{
    for (uint32_t i = 0; i < n; i++) {
        uint32_t begin = start[down ? i : n - 1 - i], end = layer_end(l, begin);
        for (uint32_t k = begin; k < end; k++) {
            struct place *p = &l->place[l->order[k]];
            p->wanted = mean_of_neighbours(l, p, down);
        }
        qsort_r(l->order + begin, end - begin, sizeof *l->order, by_place, l);
        place_layer(l, begin, end);
    }
}

static bool find_columns(struct graph_layers *l)
{
    uint32_t *start = malloc((l->n_places + 1) * sizeof *start), n = 0;
    if (!start)
        return false;
    sort_places(l);
    for (uint32_t i = 0; i < l->n_places; i = layer_end(l, i))
        start[n++] = i;
    for (int i = 0; i < SWEEPS; i++)
        sweep(l, start, n, i % 2 == 0);
    free(start);
    return true;
}

/* The layers from top to bottom; each group at the right of the one before it. */
static void find_rows(struct graph_layers *l)
{
    double y = 0, right = 0;
    uint32_t group = 0;
    for (uint32_t begin = 0, end; begin < l->n_places; begin = end) {
        double height = 0;
        end = layer_end(l, begin);
        struct group *at = &l->group[l->place[l->order[begin]].group];
        if (at != &l->group[group] || begin == 0) {
            group = (uint32_t) (at - l->group);
            y = 0;
            at->left = INFINITY;
            at->right = -INFINITY;
        }
        for (uint32_t i = begin; i < end; i++)
            height = fmax(height, l->place[l->order[i]].height);
        for (uint32_t i = begin; i < end; i++) {
            struct place *p = &l->place[l->order[i]];
            p->y = y - height / 2;
            at->left = fmin(at->left, p->x - p->width / 2);
            at->right = fmax(at->right, p->x + p->width / 2);
        }
        y -= height + LAYER_GAP;
        at->bottom = y + LAYER_GAP;
    }
    for (uint32_t g = 0; g < l->n_groups; g++)
        if (l->group[g].n_layers) {
            double shift = right - l->group[g].left;
            l->group[g].left += shift;
            l->group[g].right += shift;
            right = l->group[g].right + WIDEST_ARC / 2 + GROUP_GAP;
            l->group[g].top = shift; /* until the nodes are moved, below */
        }
    for (uint32_t i = 0; i < l->n_places; i++)
        l->place[i].x += l->group[l->place[i].group].top;
    for (uint32_t g = 0; g < l->n_groups; g++)
        l->group[g].top = 0;
}

/* ---- edges */

/* Sets the curve a, b, c, d of an edge, whose arrow ends at d, and the position of its label. */
static void set_curve(Agedge_t *e, const double a[2], const double b[2], const double c[2],
                      const double d[2], const double label[2])
{
    double x = d[0] - c[0], y = d[1] - c[1], length = hypot(x, y);
    double cut = length > 0 ? fmin(ARROW, length) / length : 0;
    set(e, "pos", "e,%.2f,%.2f %.2f,%.2f %.2f,%.2f %.2f,%.2f %.2f,%.2f", d[0], d[1], a[0], a[1],
        b[0], b[1], c[0], c[1], d[0] - cut * x, d[1] - cut * y);
    set(e, "lp", "%.2f,%.2f", label[0], label[1]);
}

static void set_line(Agedge_t *e, const struct place *tail, const struct place *head)
{
    double a[] = { tail->x, tail->y - tail->height / 2 },
           d[] = { head->x, head->y + head->height / 2 };
    double b[] = { a[0] + (d[0] - a[0]) / 3, a[1] + (d[1] - a[1]) / 3 };
    double c[] = { a[0] + (d[0] - a[0]) * 2 / 3, a[1] + (d[1] - a[1]) * 2 / 3 };
    double label[] = { d[0] + (a[0] - d[0]) * 0.3 + 22, d[1] + (a[1] - d[1]) * 0.3 };
    set_curve(e, a, b, c, d, label);
}

/* An arc at the right of both nodes, the wider the more layers it passes. */
static void set_arc(Agedge_t *e, const struct place *tail, struct place *head, uint32_t layers)
{
    double from = tail->x + tail->width / 2, to = head->x + head->width / 2;
    double far = fmax(from, to) + fmin(ARC * sqrt(layers), WIDEST_ARC);
    double low = head->y + head->height / 2 - 4 - fmin(5 * head->arcs, head->height - 8);
    double a[] = { from, tail->y }, b[] = { far, tail->y }, c[] = { far, low }, d[] = { to, low };
    double label[] = { to + 34, low + 5 };
    head->arcs++;
    set_curve(e, a, b, c, d, label);
}

static void place_edges(struct graph_layers *l)
{
    for (uint32_t i = 0; i < l->n_links; i++) {
        struct place *tail = &l->place[l->link[i].tail], *head = &l->place[l->link[i].head];
        uint32_t layers =
            tail->layer < head->layer ? head->layer - tail->layer : tail->layer - head->layer;
        if (!is_inner(l, &l->link[i]) || (tail->layer < head->layer && layers == 1))
            set_line(l->link[i].edge, tail, head);
        else
            set_arc(l->link[i].edge, tail, head, layers);
    }
}

bool graph_layers_place(struct graph_layers *l)
{
    for (uint32_t i = 0; i < l->n_places; i++) {
        struct place *p = &l->place[i];
        p->width = ND_width(p->node) * POINTS_PER_INCH;
        p->height = ND_height(p->node) * POINTS_PER_INCH;
    }
    if (!find_columns(l))
        return false;
    find_rows(l);
    for (uint32_t i = 0; i < l->n_places; i++)
        set(l->place[i].node, "pos", "%.2f,%.2f", l->place[i].x, l->place[i].y);
    for (uint32_t g = 1; g < l->n_groups; g++) {
        const struct group *at = &l->group[g];
        if (!at->n_layers)
            continue;
        set(at->graph, "bb", "%.2f,%.2f,%.2f,%.2f", at->left - 12, at->bottom - 12,
            at->right + WIDEST_ARC / 2, at->top + 28);
        set(at->graph, "lp", "%.2f,%.2f", (at->left + at->right) / 2, at->top + 16);
    }
    place_edges(l);
    return true;
}
