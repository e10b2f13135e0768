#define _GNU_SOURCE
#include "reports/graph_layout.h"

#include <errno.h>
#include <graphviz/gvc.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "reports/graph_layers.h"

/* The layout engines and the SVG writer are linked in and text is measured with Graphviz's built-in
 * tables, so that the drawing depends neither on the machine's plugin list nor on its fonts. */
extern gvplugin_library_t gvplugin_dot_layout_LTX_library;
extern gvplugin_library_t gvplugin_neato_layout_LTX_library;
extern gvplugin_library_t gvplugin_core_LTX_library;

static const lt_symlist_t plugins[] = {
    { "gvplugin_dot_layout_LTX_library", &gvplugin_dot_layout_LTX_library },
    { "gvplugin_neato_layout_LTX_library", &gvplugin_neato_layout_LTX_library },
    { "gvplugin_core_LTX_library", &gvplugin_core_LTX_library },
    { NULL, NULL },
};

/* Collects Graphviz's error messages of a call, which it would print to stderr. */
static char message_text[240];

static int add_message(char *message)
{
    size_t used = strlen(message_text);
    snprintf(message_text + used, sizeof(message_text) - used, "%s", message);
    return 0;
}

static bool has_class(const char *classes, const char *name)
{
    size_t n = strlen(name);
    for (const char *at = classes; (at = strstr(at, name)); at += n) {
        bool begins = at == classes || at[-1] == ' ', ends = at[n] == ' ' || !at[n];
        if (begins && ends)
            return true;
    }
    return false;
}

static void mark_node(Agraph_t *g, int64_t output)
{
    char class[32], attribute[] = "class", none[] = "";
    snprintf(class, sizeof(class), "output%lld", (long long) output);
    for (Agnode_t *n = agfstnode(g); n; n = agnxtnode(g, n)) {
        const char *classes = agget(n, attribute);
        if (!classes || !has_class(classes, class))
            continue;
        agsafeset(n, (char[]){ "color" }, (char[]){ GRAPH_MARK_COLOR }, none);
        agsafeset(n, (char[]){ "fillcolor" }, (char[]){ GRAPH_MARK_FILL }, none);
        agsafeset(n, (char[]){ "penwidth" }, (char[]){ GRAPH_MARK_WIDTH }, none);
    }
}

static int lay_out(GVC_t *gvc, Agraph_t *g, const char *engine, struct why *w)
{
    return gvLayout(gvc, g, engine) == 0
               ? 0
               : why_fail(w, WHY_SYSTEM, "graph cannot be laid out: %s", message_text);
}

/* Lays the graph out with an engine and draws it. */
static int draw(GVC_t *gvc, Agraph_t *g, const char *engine, char **ret_svg, struct why *w)
{
    char *data = NULL, *svg;
    unsigned int length = 0;
    TRY(lay_out(gvc, g, engine, w));
    int failed = gvRenderData(gvc, g, "svg", &data, &length);
    gvFreeLayout(gvc, g);
    svg = failed || !data ? NULL : strndup(data, length);
    gvFreeRenderData(data);
    if (!svg)
        return why_fail(w, WHY_SYSTEM, "graph cannot be drawn: %s", message_text);
    *ret_svg = svg;
    return 0;
}

/* ---- the layout of Graphviz, in a process with a limit on its processor time */

static void draw_in_child(GVC_t *gvc, Agraph_t *g, int to)
{
    const struct rlimit seconds = { GRAPH_SECONDS, GRAPH_SECONDS };
    struct rlimit no_core = { 0, 0 };
    char *svg = NULL;
    struct why ignored;
    setrlimit(RLIMIT_CPU, &seconds);
    setrlimit(RLIMIT_CORE, &no_core);
    if (draw(gvc, g, "dot", &svg, &ignored) < 0)
        _exit(1);
    for (size_t left = strlen(svg); left;) {
        ssize_t n = write(to, svg, left);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            _exit(1);
        svg += n;
        left -= (size_t) n;
    }
    _exit(0);
}

/* All that can be read, as a string (malloced); NULL: reading failed. */
static char *read_all(int from)
{
    char *text = NULL, part[1 << 14];
    size_t length = 0;
    FILE *to = open_memstream(&text, &length);
    ssize_t n = 0;
    while (to && ((n = read(from, part, sizeof(part))) > 0 || (n < 0 && errno == EINTR)))
        fwrite(part, 1, n > 0 ? (size_t) n : 0, to);
    bool bad = !to || n < 0 || ferror(to);
    if ((to && fclose(to) != 0) || bad) {
        free(text);
        return NULL;
    }
    return text;
}

/* NULL: it took too long, or failed. */
static char *draw_in_time(GVC_t *gvc, Agraph_t *g)
{
    int end[2], status = -1;
    if (pipe(end) < 0)
        return NULL;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        close(end[0]);
        draw_in_child(gvc, g, end[1]);
    }
    close(end[1]);
    char *svg = child > 0 ? read_all(end[0]) : NULL;
    close(end[0]);
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    if (status == 0)
        return svg;
    free(svg);
    return NULL;
}

/* ---- the layout in layers */

/* Adds a line below the title. */
static void add_remark(Agraph_t *g, const char *remark)
{
    char name[] = "label", none[] = "", *title = agget(g, name), *text = NULL;
    if (asprintf(&text, "%s%s<FONT POINT-SIZE=\"9\" COLOR=\"#64748b\">%s</FONT>",
                 title && aghtmlstr(title) ? title : "", title && *title ? "<BR/>" : "",
                 remark) < 0)
        return;
    char *html = agstrdup_html(g, text);
    agattr(g, AGRAPH, name, none);
    agset(g, name, html);
    agstrfree(g, html);
    free(text);
}

static int draw_layers(GVC_t *gvc, Agraph_t *g, struct graph_layers *l, const char *remark,
                       char **ret_svg, struct why *w)
{
    static const char *const attributes[][2] = { { "splines", "none" },
                                                 { "overlap", "true" },
                                                 { "outputorder", "edgesfirst" } };
    char none[] = "";
    for (size_t i = 0; i < sizeof(attributes) / sizeof(attributes[0]); i++)
        agsafeset(g, (char *) attributes[i][0], (char *) attributes[i][1], none);
    add_remark(g, remark);
    graph_layers_start(l);
    TRY(lay_out(gvc, g, "nop", w)); /* only to measure the nodes */
    bool placed = graph_layers_place(l);
    gvFreeLayout(gvc, g);
    if (!placed)
        return why_no_memory_for(w, "the layout of a graph");
    return draw(gvc, g, "nop2", ret_svg, w);
}

static int draw_best(GVC_t *gvc, Agraph_t *g, struct graph_budget *budget, char **ret_svg,
                     struct why *w)
{
    char remark[160];
    struct graph_layers *l = graph_layers_new(g);
    if (!l)
        return why_no_memory_for(w, "the layout of a graph");
    uint64_t span = graph_layers_span(l);
    if (span > GRAPH_SPAN)
        snprintf(remark, sizeof(remark),
                 "fast layout: the edges cross %" PRIu64 " layers, more than %d", span, GRAPH_SPAN);
    else if (span > budget->left)
        snprintf(remark, sizeof(remark),
                 "fast layout: the graphs before it used up the time for layouts");
    else {
        snprintf(remark, sizeof(remark), "fast layout: the full one takes more than %d s",
                 GRAPH_SECONDS);
        budget->left -= span;
        *ret_svg = draw_in_time(gvc, g);
    }
    int failed = *ret_svg ? 0 : draw_layers(gvc, g, l, remark, ret_svg, w);
    graph_layers_free(l);
    return failed;
}

int graph_layout_svg(const char *dot, int64_t mark_output, struct graph_budget *budget,
                     char **ret_svg, struct why *w)
{
    struct graph_budget alone = { GRAPH_SPAN };
    message_text[0] = 0;
    agseterrf(add_message);
    Agraph_t *g = agmemread(dot);
    if (!g)
        return why_fail(w, WHY_INVALID, "not a graph: %s", message_text);
    int r = -1, parts = agnnodes(g) + agnedges(g);
    GVC_t *gvc = gvContextPlugins(plugins, 0);
    char *svg = NULL;
    if (mark_output >= 0)
        mark_node(g, mark_output);
    if (!gvc)
        why_fail(w, WHY_MEMORY, "Graphviz cannot start");
    else if (parts > GRAPH_PARTS)
        why_fail(w, WHY_UNSUPPORTED,
                 "the graph has %d nodes and edges; at most %d are drawn ('halcyon dump --format "
                 "dot' writes graphs of any size)",
                 parts, GRAPH_PARTS);
    else
        r = draw_best(gvc, g, budget ? budget : &alone, &svg, w);
    agclose(g);
    if (gvc)
        gvFreeContext(gvc);
    if (r >= 0)
        *ret_svg = svg;
    return r;
}
