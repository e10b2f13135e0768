#include "harness/conform/conform.h"

const struct conform_suite conform_suites[] = {
    { "basic", "status, capabilities, names, numbers of cache files" },
    { "model", "invalid models are rejected: mutations of every model, numbers out of range" },
    { "request", "invalid requests are rejected" },
    { "burst", "bursts: corrupted packets in their queues, results, memories of slots" },
    { "generated", "every model through every kind of execution, with every kind of output" },
    { "quant-coupling", "signed and unsigned 8-bit results agree" },
    { "cache", "compilation caching, and changed cache files" },
    { "deadline", "deadlines of preparations and executions" },
    { "priority", "priorities of models" },
    { "memory-domain", "buffers of the driver: allocation, copies, executions" },
    { "fenced", "fenced executions: chains, status and durations" },
    { "loop-timeout", "loops that exceed their time-out" },
    { "extension", "extensions and hints" },
    { "concurrency", "threads, clients and models at the same time; callbacks" },
    { "consistency", "answers and results that depend on nothing but the question" },
    { "random", "random graphs of what the driver supports, judged against the reference" },
    { "version", "what each HAL version has" },
    /* Last: they slow down what other workers check on the same service. */
    { "stress", "long runs, many models, clients that are killed" },
    { "crash",
      "threads, processes that die, models that need much memory; the driver stays alive" },
};
const int conform_n_suites = COUNT(conform_suites);

#define FILES                                                                                      \
    FILE_OF(basic)                                                                                 \
    FILE_OF(model)                                                                                 \
    FILE_OF(request)                                                                               \
    FILE_OF(omitted)                                                                               \
    FILE_OF(burst)                                                                                 \
    FILE_OF(queues)                                                                                \
    FILE_OF(generated)                                                                             \
    FILE_OF(memories)                                                                              \
    FILE_OF(arithmetic)                                                                            \
    FILE_OF(cache)                                                                                 \
    FILE_OF(deadline)                                                                              \
    FILE_OF(memory_domain)                                                                         \
    FILE_OF(buffers)                                                                               \
    FILE_OF(calls)                                                                                 \
    FILE_OF(fences)                                                                                \
    FILE_OF(times)                                                                                 \
    FILE_OF(judged)                                                                                \
    FILE_OF(attributes)                                                                            \
    FILE_OF(random)                                                                                \
    FILE_OF(extension)                                                                             \
    FILE_OF(stress)                                                                                \
    FILE_OF(crash)                                                                                 \
    FILE_OF(threads)                                                                               \
    FILE_OF(together)                                                                              \
    FILE_OF(variants)                                                                              \
    FILE_OF(consistency)                                                                           \
    FILE_OF(repeats)                                                                               \
    FILE_OF(kinds)                                                                                 \
    FILE_OF(levels)                                                                                \
    FILE_OF(ranges)                                                                                \
    FILE_OF(many_runs)                                                                             \
    FILE_OF(sequences)                                                                             \
    FILE_OF(buffer_sequences)                                                                      \
    FILE_OF(burst_sequences)                                                                       \
    FILE_OF(versions)

#define FILE_OF(name) extern const struct conform_rules conform_rules_##name;
FILES
#undef FILE_OF

#define FILE_OF(name) &conform_rules_##name,
const struct conform_rules *const conform_rules[] = { FILES };
#undef FILE_OF
const int conform_n_rules = COUNT(conform_rules);
