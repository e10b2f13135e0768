#include "reports/graph_layout.h"

#include <graphviz/gvc.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The layout engine and the SVG writer are linked in and text is measured with Graphviz's built-in
 * tables, so that the drawing depends neither on the machine's plugin list nor on its fonts. */
extern gvplugin_library_t gvplugin_dot_layout_LTX_library;
extern gvplugin_library_t gvplugin_core_LTX_library;

static const lt_symlist_t plugins[] = {
    { "gvplugin_dot_layout_LTX_library", &gvplugin_dot_layout_LTX_library },
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

static int render(GVC_t *gvc, Agraph_t *g, char **ret_svg, struct why *w)
{
    char *data = NULL, *svg;
    unsigned int length = 0;
    if (gvLayout(gvc, g, "dot"))
        return why_fail(w, WHY_SYSTEM, "graph cannot be laid out: %s", message_text);
    int failed = gvRenderData(gvc, g, "svg", &data, &length);
    gvFreeLayout(gvc, g);
    svg = failed || !data ? NULL : strndup(data, length);
    gvFreeRenderData(data);
    if (!svg)
        return why_fail(w, WHY_SYSTEM, "graph cannot be drawn: %s", message_text);
    *ret_svg = svg;
    return 0;
}

int graph_layout_svg(const char *dot, int64_t mark_output, char **ret_svg, struct why *w)
{
    message_text[0] = 0;
    agseterrf(add_message);
    Agraph_t *g = agmemread(dot);
    if (!g)
        return why_fail(w, WHY_INVALID, "not a graph: %s", message_text);
    if (mark_output >= 0)
        mark_node(g, mark_output);
    int r = -1;
    GVC_t *gvc = gvContextPlugins(plugins, 0);
    if (gvc)
        r = render(gvc, g, ret_svg, w);
    else
        why_fail(w, WHY_MEMORY, "Graphviz cannot start");
    agclose(g);
    if (gvc)
        gvFreeContext(gvc);
    return r;
}
