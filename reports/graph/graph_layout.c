#define _GNU_SOURCE
#include "reports/graph/graph_layout.h"

#include <dlfcn.h>
#include <errno.h>
#include <graphviz/gvc.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "reports/graph/graph_layers.h"

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

/* ---- images */

/* The plugin that draws text by Pango and images by Cairo.  It is loaded when it is needed, because
 * it and its libraries take longer to load than most commands run. */
static gvplugin_library_t *load_pango(struct why *w)
{
    Dl_info core;
    char path[PATH_MAX];
    void *library = NULL;
    const char *name =
        dladdr(&gvplugin_core_LTX_library, &core) ? strstr(core.dli_fname, "_core.") : NULL;
    if (name) { /* beside the core plugin, of the same version */
        snprintf(path, sizeof path, "%.*s_pango.%s", (int) (name - core.dli_fname), core.dli_fname,
                 name + strlen("_core."));
        library = dlopen(path, RTLD_NOW);
    }
    gvplugin_library_t *plugin = library ? dlsym(library, "gvplugin_pango_LTX_library") : NULL;
    if (!plugin)
        why_fail(w, WHY_UNSUPPORTED, "PNG and PDF need Graphviz's plugin for Pango: %s",
                 name ? dlerror() : "the folder of plugins is not known");
    return plugin;
}

static const struct image_kind {
    const char *format;
    bool pango;
} image_kind[] = {
    [GRAPH_SVG] = { "svg", false },
    [GRAPH_PNG] = { "png:cairo", true },
    [GRAPH_PDF] = { "pdf:cairo", true },
};

/* A drawing in progress. */
struct drawing {
    Agraph_t *g;
    enum graph_image image;
    const char *engine;
    struct graph_layers *layers; /* places the nodes; NULL: the engine does */
};

static GVC_t *new_context(enum graph_image image, struct why *w)
{
    enum { N_PLUGINS = sizeof plugins / sizeof plugins[0] };
    static lt_symlist_t all[N_PLUGINS + 1];
    memcpy(all, plugins, sizeof plugins);
    if (image_kind[image].pango) {
        gvplugin_library_t *pango = load_pango(w);
        if (!pango)
            return NULL;
        all[N_PLUGINS - 1] = (lt_symlist_t){ "gvplugin_pango_LTX_library", pango };
    }
    GVC_t *gvc = gvContextPlugins(all, 0);
    if (!gvc)
        why_fail(w, WHY_MEMORY, "Graphviz cannot start");
    return gvc;
}

static int lay_out(GVC_t *gvc, Agraph_t *g, const char *engine, struct why *w)
{
    return gvLayout(gvc, g, engine) == 0
               ? 0
               : why_fail(w, WHY_SYSTEM, "graph cannot be laid out: %s", message_text);
}

/* The resolution of a PNG: a large graph gets less. */
static void set_resolution(Agraph_t *g)
{
    enum { DPI = 144, LONGEST = 32000 };
    const double width = (GD_bb(g).UR.x - GD_bb(g).LL.x) / POINTS_PER_INCH + 0.2;
    const double height = (GD_bb(g).UR.y - GD_bb(g).LL.y) / POINTS_PER_INCH + 0.2;
    double dpi = fmin(DPI, sqrt(GRAPH_PIXELS / (width * height)));
    GD_drawing(g)->dpi = fmin(dpi, LONGEST / fmax(width, height));
}

/* A PDF has the same bytes whenever it is written. */
static void remove_date(char *data, size_t length)
{
    static const char key[] = "/CreationDate (D:", date[] = "19700101000000";
    char *at = memmem(data, length, key, strlen(key));
    if (at && length - (size_t) (at - data) > strlen(key) + strlen(date))
        memcpy(at + strlen(key), date, strlen(date));
}

static int draw(const struct drawing *d, GVC_t *gvc, char **ret_data, unsigned int *ret_length,
                struct why *w)
{
    if (d->layers) {
        TRY(lay_out(gvc, d->g, "nop", w)); /* only to measure the nodes */
        bool placed = graph_layers_place(d->layers);
        gvFreeLayout(gvc, d->g);
        if (!placed)
            return why_no_memory_for(w, "the layout of a graph");
    }
    TRY(lay_out(gvc, d->g, d->engine, w));
    if (d->image == GRAPH_PNG)
        set_resolution(d->g);
    if (gvRenderData(gvc, d->g, image_kind[d->image].format, ret_data, ret_length) || !*ret_data)
        return why_fail(w, WHY_SYSTEM, "graph cannot be drawn: %s", message_text);
    if (d->image == GRAPH_PDF)
        remove_date(*ret_data, *ret_length);
    return 0;
}

/* ---- drawing in a process with a limit on its processor time */

static bool write_all(int to, const char *bytes, size_t n)
{
    while (n) {
        ssize_t written = write(to, bytes, n);
        if (written < 0 && errno != EINTR)
            return false;
        bytes += written > 0 ? written : 0;
        n -= written > 0 ? (size_t) written : 0;
    }
    return true;
}

/* Writes '+' and the image, or '-' and why there is none.  The process ends without cleaning up. */
static void draw_in_child(const struct drawing *d, unsigned int seconds, int to)
{
    const struct rlimit time = { seconds, seconds };
    const struct rlimit no_core = { 0, 0 };
    struct why why = { 0 };
    char *data = NULL;
    unsigned int length = 0;
    setrlimit(RLIMIT_CPU, &time);
    setrlimit(RLIMIT_CORE, &no_core);
    GVC_t *gvc = new_context(d->image, &why);
    if (gvc && draw(d, gvc, &data, &length, &why) == 0)
        _exit(write_all(to, "+", 1) && write_all(to, data, length) ? 0 : 1);
    write_all(to, "-", 1);
    write_all(to, (const char *) &why.code, sizeof why.code);
    write_all(to, why.text, strlen(why.text));
    _exit(0);
}

/* All that can be read (malloced, with a NUL at the end); NULL: reading failed. */
static char *read_all(int from, size_t *ret_length)
{
    char *text = NULL, part[1 << 14];
    FILE *to = open_memstream(&text, ret_length);
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

/* What the child wrote; WHY_MEMORY: the process could not be started; WHY_SYSTEM: it ended early,
 * after the limit or for want of memory. */
static int take_reply(char *reply, size_t length, struct graph_picture *ret, struct why *w)
{
    if (length && reply[0] == '+') {
        memmove(reply, reply + 1, length);
        ret->data = reply;
        ret->length = length - 1;
        return 0;
    }
    int code = WHY_SYSTEM;
    const size_t head = 1 + sizeof code;
    if (length > head)
        memcpy(&code, reply + 1, sizeof code);
    why_fail(w, (enum why_code) code, "%s", length > head ? reply + head : "drawing failed");
    free(reply);
    return -1;
}

/* 1: it took too long, or died; -1: it cannot be drawn. */
static int draw_in_time(const struct drawing *d, unsigned int seconds, struct graph_picture *ret,
                        struct why *w)
{
    int end[2], status = -1;
    size_t length = 0;
    if (pipe(end) < 0)
        return why_fail(w, WHY_SYSTEM, "graph cannot be drawn: %s", strerror(errno));
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        close(end[0]);
        draw_in_child(d, seconds, end[1]);
    }
    close(end[1]);
    char *reply = child > 0 ? read_all(end[0], &length) : NULL;
    close(end[0]);
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    if (child < 0 || (status == 0 && !reply))
        return why_fail(w, WHY_SYSTEM, "graph cannot be drawn: no process or no memory for it");
    if (status == 0)
        return take_reply(reply, length, ret, w);
    free(reply);
    return 1;
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

static int draw_layers(struct drawing *d, struct graph_layers *l, struct graph_picture *ret,
                       struct why *w)
{
    static const char *const attributes[][2] = { { "splines", "none" },
                                                 { "overlap", "true" },
                                                 { "outputorder", "edgesfirst" } };
    char none[] = "";
    for (size_t i = 0; i < sizeof(attributes) / sizeof(attributes[0]); i++)
        agsafeset(d->g, (char *) attributes[i][0], (char *) attributes[i][1], none);
    add_remark(d->g, ret->remark);
    graph_layers_start(l);
    d->layers = l;
    d->engine = "nop2";
    int r = draw_in_time(d, GRAPH_SIMPLE_SECONDS, ret, w);
    return r <= 0 ? r
                  : why_fail(w, WHY_UNSUPPORTED,
                             "drawing the graph takes more than %d s ('--format dot' and '--format "
                             "graph' write graphs of any size)",
                             GRAPH_SIMPLE_SECONDS);
}

static int draw_best(struct drawing *d, struct graph_budget *budget, struct graph_picture *ret,
                     struct why *w)
{
    struct graph_layers *l = graph_layers_new(d->g);
    if (!l)
        return why_no_memory_for(w, "the layout of a graph");
    uint64_t span = graph_layers_span(l);
    int r = 1;
    if (span > GRAPH_SPAN)
        snprintf(ret->remark, sizeof(ret->remark),
                 "fast layout: the edges cross %" PRIu64 " layers, more than %d", span, GRAPH_SPAN);
    else if (span > budget->left)
        snprintf(ret->remark, sizeof(ret->remark),
                 "fast layout: the graphs before it used up the time for layouts");
    else {
        budget->left -= span;
        r = draw_in_time(d, GRAPH_SECONDS, ret, w);
        if (r > 0)
            snprintf(ret->remark, sizeof(ret->remark),
                     "fast layout: the full one takes more than %d s", GRAPH_SECONDS);
    }
    if (r > 0)
        r = draw_layers(d, l, ret, w);
    graph_layers_free(l);
    return r;
}

static int draw_text(const char *dot, int64_t mark_output, struct graph_budget *budget,
                     enum graph_image image, struct graph_picture *ret, struct why *w)
{
    struct graph_budget alone = { GRAPH_SPAN };
    message_text[0] = 0;
    agseterrf(add_message);
    Agraph_t *g = agmemread(dot);
    if (!g)
        return why_fail(w, WHY_INVALID, "not a graph: %s", message_text);
    int r = -1, parts = agnnodes(g) + agnedges(g);
    struct drawing d = { .g = g, .image = image, .engine = "dot" };
    struct graph_picture picture = { .data = NULL };
    if (mark_output >= 0)
        mark_node(g, mark_output);
    if (image != GRAPH_SVG)
        agsafeset(g, (char[]){ "bgcolor" }, (char[]){ "white" }, (char[]){ "" });
    if (parts > GRAPH_PARTS)
        why_fail(w, WHY_UNSUPPORTED,
                 "the graph has %d nodes and edges; at most %d are drawn ('halcyon dump --format "
                 "dot' writes graphs of any size)",
                 parts, GRAPH_PARTS);
    else
        r = draw_best(&d, budget ? budget : &alone, &picture, w);
    agclose(g);
    if (r >= 0)
        *ret = picture;
    return r;
}

int graph_layout_svg(const char *dot, int64_t mark_output, struct graph_budget *budget,
                     char **ret_svg, struct why *w)
{
    struct graph_picture picture;
    TRY(draw_text(dot, mark_output, budget, GRAPH_SVG, &picture, w));
    *ret_svg = picture.data;
    return 0;
}

int graph_layout_draw(const char *dot, enum graph_image image, struct graph_picture *ret_picture,
                      struct why *w)
{
    return draw_text(dot, -1, NULL, image, ret_picture, w);
}
