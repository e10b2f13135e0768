/* harness/bench: models as `halcyon bench` runs them, and what comes of one on one target.
 *
 *     list --> entry --> model + data --> reference (golden): outputs and scores
 *                                     \-> target: times, memory, outputs and scores
 *                                            scores against the reference's --> metrics, verdict
 *
 * Times are measured with one execution at a time; scores are made with several at once, each
 * sequence by itself, and combined in the order of the data: they do not depend on their number. */
#ifndef HARNESS_BENCH_TYPES_H
#define HARNESS_BENCH_TYPES_H

#include "golden/golden.h"
#include "harness/check/verdict.h"
#include "sim/sim.h"

/* What decides whether outputs are right. */
enum bench_evaluator {
    EVALUATE_OUTPUTS, /* no evaluator: golden outputs and the reference's */
    EVALUATE_TOPK,
    EVALUATE_SPEECH,    /* mel-cepstral distortion and log F0 */
    EVALUATE_PHONES,    /* phone error rate */
    EVALUATE_DETECTION, /* mean average precision by intersection over union */
    BENCH_EVALUATORS
};
/* As a list names them: "TopK", "MelCepLogF0", ...; NULL of EVALUATE_OUTPUTS. */
extern const char *const bench_evaluator_name[BENCH_EVALUATORS];

/* How an image becomes the input: the middle 7/8 of the image, or all of it (RESIZE), scaled.
 * INCEPTION is the public benchmark's, in which 8-bit inputs wrap: with its scale 0.007812 a white
 * pixel, 255, is 256 and becomes 0; the other ones saturate.  How the published expectations were
 * measured is not known: wrapped inputs agree best with them (docs/benchmark.md). */
enum bench_preprocessor {
    PREPROCESS_INCEPTION,
    PREPROCESS_INCEPTION_SATURATED,
    PREPROCESS_RESIZE,
    BENCH_PREPROCESSORS
};
extern const char *const bench_preprocessor_name[BENCH_PREPROCESSORS];

/* A model of a list.  Strings are owned by the list; paths are found. */
struct bench_entry {
    const char *name, *path;
    double baseline_seconds; /* expected latency; 0: none */
    struct shape input;      /* of input 0; rank 0: as the model declares */
    uint32_t data_size;      /* bytes of an element; 0: not given */
    bool has_scale;
    double input_scale;
    int32_t input_zero;

    enum bench_evaluator evaluator;
    double expected_top1; /* negative: none */
    double iou;           /* of detections: least overlap of a match */
    const char *mean_std; /* of EVALUATE_SPEECH: file of 196 pairs of floats; NULL: none */

    uint32_t n_files; /* sequences, each a file of inputs */
    const char **file;
    const char ***golden; /* n_golden files for each sequence */
    uint32_t n_golden;
    const char *golden_remark; /* why golden files of the list are not used; NULL: they are */

    const char *images, *truth, *labels; /* of a data set of images; NULL: none */
    enum bench_preprocessor preprocessor;
};

enum { BENCH_BUCKETS = 32, BENCH_WHY = 400 };

/* Statistics of n durations in ns, of which none is left out. */
struct bench_times {
    uint64_t n;
    double mean, median, p90, p99, deviation, least, most, total;
    double low, high; /* of the medians of its parts (reports/bench_change.h) */
    int64_t parts;
    double start,
        step; /* of the histogram: bucket i is [start + i * step, start + (i + 1) * step) */
    uint32_t bucket[BENCH_BUCKETS];
};

enum bench_what {
    BENCH_SYNCHRONOUS, /* executions: since HAL 1.2 synchronous, else asynchronous */
    BENCH_BURST,
    BENCH_COMPILE,      /* preparing the model, without a cache */
    BENCH_COMPILE_SAVE, /* the same, writing to empty cache files */
    BENCH_COMPILE_LOAD, /* preparing it from them */
    BENCH_WHATS
};
enum bench_clock { BENCH_WALL, BENCH_DEVICE, BENCH_DRIVER, BENCH_CLOCKS };
extern const char *const bench_what_name[BENCH_WHATS]; /* "synchronous", "burst", "compile", ... */
extern const char *const bench_clock_name[BENCH_CLOCKS]; /* "wall", "device", "driver" */

/* One number that says how right the outputs are. */
struct bench_metric {
    const char *key; /* "top_1", "max_mel_cep_distortion", ... */
    bool more_is_better;
    double value;
    double reference;    /* of the reference on the same data; NaN: not known */
    double expected;     /* published; NaN: none */
    double limit;        /* that it must keep; NaN: none */
    char why[BENCH_WHY]; /* why it is worse than it may be; "": it is not */
};
enum { BENCH_METRICS = 12 };

struct bench_result {
    enum verdict
        verdict; /* pass, fail (accuracy), undecided (nothing was compared), unsupported, ... */
    char why[BENCH_WHY];
    struct bench_times times[BENCH_WHATS][BENCH_CLOCKS]; /* n 0: not measured */
    double first_compile_ns, first_ns; /* wall, of the first preparation and execution; 0: none */
    uint64_t cache_bytes;              /* 0: the driver has no cache */
    uint64_t memory_bytes;             /* peak of the driver's process; 0: it has none of its own */
    uint32_t n_sequences;              /* whose outputs were scored */
    uint64_t n_inferences;
    uint32_t n_metrics;
    struct bench_metric metric[BENCH_METRICS];
};

struct bench_options {
    double warm_up, seconds; /* of each kind of measurement */
    uint64_t iterations;     /* at most, of each kind; 0: as many as the seconds allow */
    bool no_latency, no_accuracy, no_compile, no_reference;
    bool relaxed;     /* fp32 may be computed in fp16 */
    uint32_t samples; /* sequences, spread over the data; 0: all */
    unsigned jobs;    /* executions at once while outputs are scored */
    double timeout;   /* seconds for a reply of a driver in a process of its own */
};

#endif
