/* A case's graph and specification on the page. */
#include <stdlib.h>
#include <string.h>

#include "reports/escape.h"
#include "reports/graph_layout.h"
#include "reports/report_internal.h"

enum {
    LARGEST_GRAPH = 400 * 1000, /* bytes of DOT; larger ones take too long to lay out */
    LARGEST_SPEC = 60 * 1000    /* bytes shown */
};

void report_put_graph(const struct report *r, const char *dot, int64_t mark_output)
{
    struct why why;
    char *svg = NULL;
    if (!dot)
        return;
    if (strlen(dot) > LARGEST_GRAPH) {
        fputs(
            "<p class=\"soft\">The graph is too large for this page; halcyon dump draws it.</p>\n",
            r->to);
        return;
    }
    if (graph_layout_svg(dot, mark_output, &svg, &why) < 0) {
        fputs("<p class=\"soft\">", r->to);
        escape_put(why.text, 0, r->to);
        fputs("</p>\n", r->to);
        return;
    }
    /* Without the XML prologue.  The style sheet scales the drawing from its natural width. */
    const char *start = strstr(svg, "<svg");
    int width = 0;
    if (start && sscanf(start, "<svg width=\"%dpt\"", &width) == 1)
        fprintf(r->to, "<figure class=\"graph\" style=\"--natural:%dpt\">%s</figure>\n", width,
                start);
    free(svg);
}

void report_put_spec(const struct report *r, const char *spec)
{
    if (!spec)
        return;
    size_t length = strlen(spec);
    fputs("<details class=\"spec\"><summary class=\"soft\">specification</summary><pre>", r->to);
    escape_put(spec, LARGEST_SPEC, r->to);
    fputs("</pre>", r->to);
    if (length > LARGEST_SPEC)
        fprintf(r->to,
                "<p class=\"soft\">The first %d of %zu bytes; the database has the whole text.</p>",
                LARGEST_SPEC, length);
    fputs("</details>\n", r->to);
}
