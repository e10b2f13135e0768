/* A results database in a folder of its own, for one test. */
#ifndef TESTS_RESULTS_FILE_H
#define TESTS_RESULTS_FILE_H

#include "harness/store/results.h"

/* The folder and the database in it, after results_file_make(). */
extern char results_folder[];
extern char results_path[64];
/* A run of 1000 random graphs on two targets. */
extern const struct run_row results_file_run;
extern const struct target_row results_file_targets[2];

/* Makes the folder; removes it with the database.  A fixture of Check. */
void results_file_make(void);
void results_file_remove(void);

/* Opens the database for writing. */
struct results *results_file_open(void);
/* The first column of a query's first row, which must exist.  Has the functions of
 * reports/packed_text.h. */
int64_t results_file_int(const char *sql);
/* Runs statements, with the same functions. */
void results_file_sql(const char *sql);

/* A result with one wrong element. */
struct check_result results_file_fail(void);
/* Writes a case of random/v2/s7 with these verdicts; failing ones get a specification. */
void results_file_write_case(struct results *r, uint64_t ordinal, enum verdict first,
                             enum verdict second);
/* Writes a run that was left after case 0 and one of the two targets of case 1. */
void results_file_write_killed_run(void);

#endif
