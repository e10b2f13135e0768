/* Drawing a model. */
#include <stdlib.h>

#include "reports/graph/graph_dump.h"
#include "reports/graph/graph_layout.h"

int graph_dump_svg(const struct model *m, const char *name,
                   const struct graph_dump_options *options, char **ret_svg, struct why *w)
{
    char *dot = NULL;
    int r = graph_dump_text(m, name, options, &dot, w);

    if (r >= 0)
        r = graph_layout_svg(dot, -1, NULL, ret_svg, w);
    free(dot);
    return r;
}
