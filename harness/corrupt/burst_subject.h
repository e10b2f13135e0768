/* Prepared models with a burst whose queues a rule uses directly, and a valid request packet. */
#ifndef HARNESS_BURST_SUBJECT_H
#define HARNESS_BURST_SUBJECT_H

#include "harness/conform/conform_models.h"
#include "harness/conform/conform_requests.h"
#include "harness/corrupt/raw_burst.h"

/* A prepared model, its burst, a valid request packet, and the expected outputs. */
struct burst_subject {
    const struct conform_model *m;
    bool has_all_dims; /* the packet gives all dimensions, or only those unknown in the model */
    struct raw_burst b;
    struct conform_request r;
    uint64_t room; /* bytes of the outputs' pool */
    void *out;
    struct request_datum datums[BURST_QUEUE_LENGTH];
    uint32_t n;
};

typedef void visit_burst(struct conform *c, struct burst_subject *s);

/* Visits one model in so many, others for each version; before and after each visit the valid
 * request must have the right results. */
void burst_subject_each(struct conform *c, visit_burst *visit);
/* Visits one small model; dimensions are given only where the model leaves them unknown. */
void burst_subject_one(struct conform *c, visit_burst *visit);

/* Sends the valid packet: its results must be those of a synchronous execution. */
void burst_subject_expect_correct(struct conform *c, struct burst_subject *s);

#endif
