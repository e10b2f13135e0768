/* Shared by the files that merge databases: runs with all rows (merge.c) and summaries
 * (merge_summaries.c). */
#ifndef HARNESS_MERGE_INTERNAL_H
#define HARNESS_MERGE_INTERNAL_H

#include "harness/store/merge.h"
#include "harness/store/results_internal.h"

enum { MERGE_DIGEST = 17 };

struct source {
    const char *path;
    sqlite3 *db; /* NULL: not open now */
};

/* Which shard a run of a source is. */
struct source_shard {
    char key[MERGE_DIGEST], campaign[MERGE_DIGEST];
    uint32_t shard, n_shards; /* n_shards 0: not known */
    bool atomic;
};

/* A run of a source; of a summary that is written, its campaign. */
struct source_run {
    struct source *source;
    int64_t run, n_cases; /* cases that are recorded */
    char *identity, *started, *finished;
    struct source_shard shard;
    bool is_repeated;  /* another copy is written instead */
    size_t first, end; /* of a summary: its parts, in merge.part; else 0 */
};

/* A shard of a summary. */
struct source_part {
    struct source *source;
    int64_t run, n_cases;
    struct source_shard shard;
    char started[32], finished[32];
    double seconds;
    int64_t kept, listed;
};

struct merge {
    struct source *source;
    size_t n_sources;
    struct source_run *run;
    size_t n_runs;
    struct source_part *part; /* once they are chosen: by campaign, source and key, each key once */
    size_t n_parts;
    struct source *open; /* the one that is closed when another one is opened; NULL: none */
    struct results *out;
};

/* A run on its way: what is added to its identifiers. */
struct copy {
    struct merge *m;
    const struct source *source;
    int64_t from, run; /* numbers of the run */
    int64_t more_targets, more_cases;
    const char *where; /* SQL: which rows of the run, such as " AND ordinal % 4 = 0"; "": all */
    bool source_is_one_of_several; /* the run may have equal rows of another source */
};

int merge_prepare(const struct source *s, const char *sql, sqlite3_stmt **ret, struct why *w);
/* The first column of the first row, 0 for none. */
int merge_query(const struct source *s, const char *sql, int64_t run, int64_t *ret, struct why *w);
bool merge_has_column(const struct source *s, const char *table, const char *column);
int merge_copy_table(const struct copy *c, const char *table, struct why *w);
/* Makes room for a run in the list. */
struct source_run *merge_add_run(struct merge *m, struct why *w);
/* Opens a source that is not open. */
int merge_open(struct merge *m, struct source *s, struct why *w);

/* Reads which shards the runs of an open source are, and the parts of its summaries. */
int merge_read_shards(struct merge *m, struct source *s, struct why *w);
/* Leaves each part once, and adds a run for each campaign of them; *ret_repeated: those left out.
 * Runs with all rows of a shard that has a part are left out, too: sums cannot be taken apart. */
int merge_choose_parts(struct merge *m, size_t *ret_repeated, struct why *w);
/* Writes the sum of a campaign's parts as a run. */
int merge_write_summary(struct merge *m, const struct source_run *campaign, int64_t run,
                        struct why *w);
/* Lines about shards that the campaigns lack, malloced; "": none does.  NULL: out of memory. */
char *merge_missing(const struct merge *m);

#endif
