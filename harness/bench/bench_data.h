/* The data of a model: sequences of inputs, and what is right for each.
 *
 * A file of inputs is a sequence, cut into inferences; so is each golden output.  An image is a
 * sequence of one inference.  Without data, a few sequences of one inference are generated. */
#ifndef HARNESS_BENCH_DATA_H
#define HARNESS_BENCH_DATA_H

#include "harness/bench/bench_model.h"
#include "harness/bench/image_set.h"

enum { GENERATED_SEQUENCES = 4 };

/* Boxes are ymin, xmin, ymax, xmax, in shares of the image. */
struct bench_box {
    double side[4];
    int32_t class;
};
struct bench_boxes {
    uint32_t n;
    struct bench_box *box;
};

struct bench_data {
    struct arena *arena;
    const struct bench_entry *entry;
    const struct bench_model *model;
    uint32_t n;      /* sequences */
    uint32_t n_used; /* of them, spread evenly */
    struct image_set images;
    int32_t *class;            /* true one of each image; of TOPK */
    uint32_t n_classes;        /* labels */
    struct bench_boxes *boxes; /* of each image; of DETECTION */
    double *mean_std;          /* of SPEECH: pairs */
};

/* samples: sequences that are used; 0: all. */
int bench_data_open(const struct bench_entry *e, const struct bench_model *m, uint32_t samples,
                    struct bench_data *ret_data, struct why *w);
void bench_data_done(struct bench_data *d);

/* One sequence. */
struct bench_sequence {
    uint32_t index;         /* among all sequences */
    uint32_t n;             /* inferences */
    const uint8_t **in;     /* for each of the model's data inputs: n values, one after the other */
    const uint8_t **golden; /* for each result: likewise; NULL: no golden outputs */
};
/* The i-th of those that are used, in `a`.  Thread-safe. */
int bench_data_get(const struct bench_data *d, uint32_t i, struct arena *a,
                   struct bench_sequence *ret_sequence, struct why *w);

#endif
