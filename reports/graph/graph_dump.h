/* graphDump: a model as Graphviz text (DOT), drawn, and as JSON. */
#ifndef REPORTS_GRAPH_DUMP_H
#define REPORTS_GRAPH_DUMP_H

#include <stdio.h>

#include "golden/golden.h"

/* How an operation or operand stands out; each has a colour (graph_dump.c). */
enum graph_tone {
    TONE_NONE,
    TONE_GOOD,  /* the error is at most a quarter of its bound */
    TONE_FAIR,  /* at most three quarters */
    TONE_CLOSE, /* at most the bound */
    TONE_WRONG,
    TONE_FIRST_WRONG, /* the first wrong operation */
    TONE_SKIPPED,     /* not compared */
    TONE_SAME,        /* of two models that are compared */
    TONE_ADDED,
    TONE_REMOVED,
    TONE_CHANGED,
    TONE_COUNT
};
extern const char *const graph_tone_name[TONE_COUNT]; /* "none", "good", ... */
/* TONE_GOOD to TONE_WRONG, by error divided by bound; NAN: TONE_SKIPPED. */
enum graph_tone graph_tone_of(double ratio);

/* What is shown of an operation or operand beside what the model has. */
struct graph_note {
    enum graph_tone tone;
    double ratio;     /* error divided by bound; NAN: not known.  Only for graph_dump_json(). */
    const char *text; /* lines; NULL: none */
};

/* The notes about one graph of a model. */
struct graph_notes {
    const struct graph_note *operation, *operand; /* by index; NULL: none */
    const uint32_t *box; /* by operation: index in options.box; UINT32_MAX: none.  NULL: none */
};

/* A box around operations: a partition. */
struct graph_box {
    const char *label;
    uint32_t color; /* boxes with equal numbers have equal colours; UINT32_MAX: grey */
};

enum graph_style {
    GRAPH_STYLE_HALCYON, /* constants and intermediate results are lines of operations */
    GRAPH_STYLE_ANDROID  /* the conventions of NNAPI's own graph dump (docs/graphs.md) */
};
/* What a line below the title explains. */
enum graph_key { GRAPH_KEY_NONE, GRAPH_KEY_RATIO, GRAPH_KEY_CHANGE };

struct graph_dump_options {
    int32_t mark_output; /* index of a main graph output to highlight (a failure's); -1: none */
    enum graph_style style;
    bool fold;                       /* show repeated blocks once */
    bool is_merged;                  /* of graph_diff_merge(): not valid, its operations are */
    const struct graph_notes *notes; /* one per graph; NULL: none */
    const struct graph_box *box;
    uint32_t n_boxes;
    const char *subtitle; /* lines below the title; NULL: none */
    enum graph_key key;
};

/* Writes the model as Graphviz text (DOT): operations, operands with lifetime, type and shape,
 * subgraphs as clusters.  name: title of the graph.  options may be NULL.  The model need not be
 * valid. */
int graph_dump_dot(const struct model *m, const char *name,
                   const struct graph_dump_options *options, FILE *to, struct why *w);
/* The same text as a string (malloced). */
int graph_dump_text(const struct model *m, const char *name,
                    const struct graph_dump_options *options, char **ret_dot, struct why *w);
/* Writes the same text to the log (golden/base/logging.h), line by line. */
int graph_dump_log(const struct model *m, const char *name, struct why *w);
/* Lays the graph out as an SVG document (malloced). */
int graph_dump_svg(const struct model *m, const char *name,
                   const struct graph_dump_options *options, char **ret_svg, struct why *w);
/* Writes the model as a JSON object on one line, in the format of docs/graphs.md. */
int graph_dump_json(const struct model *m, const char *name,
                    const struct graph_dump_options *options, FILE *to, struct why *w);

#endif
