-- The results database.  Reports are queries on it (views.sql).
--
--     runs 1 --- n targets
--      |1            |1
--      |n            |n
--     cases 1 ---- n verdicts        one verdict per case and target
--      |1
--      |n
--     case_operations                which operations, in which type, a case exercises
--     targets 1 --- n bench_results, bench_times, bench_noise, bench_metrics   what `halcyon bench` measured
--     runs 1 --- n unloaded_files    files of folders that could not be loaded
--     runs 1 --- n run_notes         what was noticed about a target during the whole run
--     targets 1 --- n coverage_parts how often which calls of operations were executed on it: the views coverage
--                                    and neighbours
--
-- A case is written in one transaction, with its operations, verdicts and specification, and is counted
-- in coverage_parts.
-- verdict_names is the closed list of harness/check/verdict.c, which also defines which of them conform;
-- its rows are added when a database is opened for writing.
-- Where a verdict has an output, NULL in a column of numbers is NaN.
--
-- Version 6 (a version lacks what is marked "since" a later one; opening such a database for writing
-- upgrades it).
-- Since 4 the name of a random case has the version and options of its generator; upgraded names have v0;
-- there is the verdict undecided.
-- Since 6 there is no graph (DOT) of a case, and cases.spec and verdicts.shrunk are compressed where that makes them
-- shorter: a BLOB is in the format of reports/packed_spec.h, which splits specifications into text and numbers, or has the
-- text in the zlib format (RFC 1950) with a preset dictionary (reports/packed_text.c), as other compressed columns; a TEXT
-- is the text.  `halcyon db spec CASE` prints a specification, `halcyon db export TABLE` has all of a table.

PRAGMA application_id = 1212238937; -- "HALY"
PRAGMA user_version = 6;

CREATE TABLE verdict_names (        -- since 2
    name        TEXT PRIMARY KEY,
    conforming  INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE runs (
    run         INTEGER PRIMARY KEY,
    kind        TEXT NOT NULL,      -- "run", "random", "conform"
    command     TEXT NOT NULL,      -- as typed, quoted for a shell
    options     TEXT NOT NULL,      -- JSON: all that decides which cases there are and how they are judged
    version     TEXT NOT NULL,      -- of halcyon
    judge       TEXT NOT NULL,      -- "cts", "bound": the default of the run; verdicts have the rule that was used;
                                    -- "rules": of halcyon conform
    n_cases     INTEGER NOT NULL,   -- planned
    started     TEXT NOT NULL,      -- UTC, ISO 8601
    finished    TEXT,               -- NULL: still running, killed or interrupted
    seconds     REAL NOT NULL DEFAULT 0,
    -- The process that writes the run (since 2).  All NULL: none; the run is finished or was left in order.
    owner_pid   INTEGER,
    owner_start INTEGER,            -- when that process was started, in ticks since boot
    owner_place TEXT,               -- host, boot and PID namespace, in which owner_pid has a meaning
    heartbeat   INTEGER             -- seconds since 1970, UTC: the owner was alive then
);

CREATE TABLE targets (
    target      INTEGER PRIMARY KEY,
    run         INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
    ordinal     INTEGER NOT NULL,   -- order on the command line
    uri         TEXT NOT NULL,
    name        TEXT NOT NULL,      -- as the driver reports it
    version     TEXT NOT NULL,
    type        TEXT NOT NULL,      -- "CPU", "GPU", ...
    hal         TEXT NOT NULL,      -- "1.3", "fl5", ...
    UNIQUE (run, ordinal)
);

CREATE TABLE cases (
    case_id     INTEGER PRIMARY KEY,
    run         INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
    ordinal     INTEGER NOT NULL,   -- position in the plan
    name        TEXT NOT NULL,      -- random/v2/s7/i123, spec/V1_2/add_v1_2/add_v1_2_2, conform/1.3/model/M9
    file        TEXT,               -- where a spec came from
    seed        INTEGER,            -- of a random case; 64 bits, may look negative
    idx         INTEGER,
    level       INTEGER,            -- feature level that the model needs, NULL: not known
    n_operations INTEGER NOT NULL,  -- of the main graph
    spec        TEXT,               -- compressed: .mod.py of a case that is not conforming on some target
    suite       TEXT,               -- of a rule of halcyon conform: its suite (since 2; written since 4); else NULL
    UNIQUE (run, ordinal)
);
CREATE INDEX cases_by_name ON cases (name);

CREATE TABLE case_operations (
    case_id     INTEGER NOT NULL REFERENCES cases ON DELETE CASCADE,
    operation   TEXT NOT NULL,      -- "CONV_2D"
    type        TEXT NOT NULL,      -- of its first tensor: "TENSOR_FLOAT32"
    PRIMARY KEY (case_id, operation, type)
) WITHOUT ROWID;

CREATE TABLE verdicts (
    case_id     INTEGER NOT NULL REFERENCES cases ON DELETE CASCADE,
    target      INTEGER NOT NULL REFERENCES targets ON DELETE CASCADE,
    verdict     TEXT NOT NULL REFERENCES verdict_names,
    was         TEXT,               -- of a waived or flaky case: the verdict that is replaced; NULL: it was not run
    why         TEXT NOT NULL,      -- "" for a plain pass
    judge       TEXT NOT NULL,      -- "cts", "bound", "rules"
    stage       TEXT NOT NULL,      -- how far it got: "supported", "prepare", "execute", "done"; "none": died
    status      TEXT NOT NULL,      -- HAL status of the call that ended it
    ms          REAL NOT NULL,      -- wall clock in the driver
    device_ns   INTEGER,            -- time on the device, as the driver reports it
    checked     INTEGER NOT NULL,   -- elements compared, those of operations run alone too; a pass with 0: only
                                    -- shapes, or the failure that the example requires; else it is undecided
                                    -- of a rule: its checks
    wrong       INTEGER NOT NULL,   -- elements outside their bound; of a rule: checks that do not hold
    -- The worst element, where outputs were compared: ratio = |actual - expected| / bound.
    output      INTEGER,            -- index among the model's outputs
    element     INTEGER,            -- row-major index in it
    place       TEXT,               -- the same as "[0,3,2]"
    operation   TEXT,               -- that wrote this output
    type        TEXT,               -- of this output
    expected    REAL,
    actual      REAL,
    bound       REAL,
    ratio       REAL,
    replay      TEXT,               -- command that runs this case alone; NULL when conforming
    -- Since 2, and NULL where there is none:
    confirmed   TEXT,               -- "2 of 4 runs do not conform" (--rerun); of a death: "repeats" in a fresh
                                    -- process, "does not repeat; after case NAME"
    printed     TEXT,               -- what the driver printed in a case that does not conform
    backtrace   TEXT,               -- of the driver's crash
    -- Which operation a failure comes from: the first one that is wrong alone, run on the reference's values, or
    -- several that are wrong only together; and their own worst element, judged by bound (written since 5).
    -- Of "unsupported": the first operation that is not supported.
    blamed_operation TEXT,          -- "CONV_2D"; several: "CONV_2D (3), RELU (5)"
    blamed_index INTEGER,           -- of the first one, among the operations of its graph
    blamed_place TEXT,
    blamed_expected REAL,
    blamed_actual REAL,
    blamed_bound REAL,
    blamed_ratio REAL,
    shrunk      TEXT,               -- compressed: .mod.py of the case as it was shrunk; NULL: another one of its bucket was (written since 5)
    bucket      TEXT,               -- equal for failures that probably have one cause (written since 5)
    attempts    INTEGER,            -- since 4: with --rerun, runs of a case that failed, the first one included
    failed_attempts INTEGER,        -- since 4: those of them that did not conform
    -- Since 5:
    blamed_count INTEGER,           -- operations that are blamed
    blamed_graph INTEGER,           -- that they are in; 0: the main graph
    blamed_type TEXT,               -- of their worst output, else of the first operation
    blamed_output INTEGER,          -- index of that output; NULL: none was compared
    blamed_why  TEXT,               -- how they fail; with blamed_operation NULL, why none is blamed;
                                    -- of "unsupported": the signature of the operation
    PRIMARY KEY (case_id, target)
) WITHOUT ROWID;

CREATE INDEX verdicts_by_target ON verdicts (target, verdict); -- since 6
CREATE INDEX verdicts_by_verdict ON verdicts (verdict, target); -- since 6

CREATE TABLE run_notes (            -- since 2
    run         INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
    target      INTEGER NOT NULL REFERENCES targets ON DELETE CASCADE,
    text        TEXT NOT NULL,      -- "memory grows after warm-up by 12 MB in 5,000 cases"
    PRIMARY KEY (run, target, text)
) WITHOUT ROWID;

-- What a target supports, as asked at the start of a run: graphs were drawn for it, and their names have its
-- digest.  Added to a database that lacks it when it is opened for writing.
CREATE TABLE support_sets (
    digest      TEXT PRIMARY KEY,   -- 16 hexadecimal digits
    text        TEXT NOT NULL       -- as 'halcyon probe' writes it
) WITHOUT ROWID;

-- What a driver reports of its performance, relative to the CPU (1): less is better.  Added to a database that lacks it
-- when it is opened for writing.
CREATE TABLE target_performance (
    run         INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
    target      INTEGER NOT NULL REFERENCES targets ON DELETE CASCADE,
    what        TEXT NOT NULL,      -- an operand type, "TENSOR_FLOAT32"; "relaxed scalar", "relaxed tensor", "IF", "WHILE"
    time        REAL NOT NULL,      -- of an execution
    power       REAL NOT NULL,
    PRIMARY KEY (run, target, what)
) WITHOUT ROWID;

-- The calls of all executed cases of a target, by what they are like (randgraph/coverage.h).  Each commit appends
-- what its cases add, so that counting is cheap; the end of the run replaces these parts with their sum.  The views
-- have the sums at any time.  This table and the next one are added to a database that lacks them when it is opened
-- for writing.
CREATE TABLE coverage_parts (       -- since 5
    run         INTEGER NOT NULL,
    target      INTEGER NOT NULL REFERENCES targets ON DELETE CASCADE,
    cells       TEXT NOT NULL,      -- JSON: a list for each row of coverage, of the columns from operation on
    pairs       TEXT NOT NULL       -- JSON: likewise of neighbours
);
CREATE VIEW coverage AS             -- since 5
    SELECT run, target,
           value ->> 0 AS operation,   -- "CONV_2D"
           value ->> 1 AS form,        -- "implicit padding"; "" where the operation has one form, or the call
                                       -- is not legal by the shapes that are known
           value ->> 2 AS types,       -- the typing row: "TENSOR_FLOAT32,TENSOR_FLOAT32"
           CAST(value ->> 3 AS BIGINT) AS rank, -- of the first tensor that is read; 0: unknown
           value ->> 4 AS options,     -- "padding=same stride_width=more activation=relu nchw=false"
           value ->> 5 AS value_class, -- "nonfinite", "zeros", ...; "computed": of results of other operations
           sum(CAST(value ->> 6 AS BIGINT)) AS ran, -- calls in cases that were executed, whatever the verdict
           sum(CAST(value ->> 7 AS BIGINT)) AS not_run -- calls in cases that the target does not support, or refuses
    FROM coverage_parts, json_each(cells) GROUP BY 1, 2, 3, 4, 5, 6, 7, 8;
CREATE VIEW neighbours AS           -- since 5
    SELECT run, target,
           value ->> 0 AS producer,    -- operation that writes an operand
           value ->> 1 AS consumer,    -- operation that reads it
           sum(CAST(value ->> 2 AS BIGINT)) AS ran, -- as in coverage
           sum(CAST(value ->> 3 AS BIGINT)) AS not_run
    FROM coverage_parts, json_each(pairs) GROUP BY 1, 2, 3, 4;

-- The weights that random graphs were drawn by (--steer), as support_sets.
CREATE TABLE steering_sets (        -- since 5
    digest      TEXT PRIMARY KEY,
    text        TEXT NOT NULL
) WITHOUT ROWID;

-- Campaigns of which runs are shards (docs/campaigns.md), by a digest of their identity.  This table and the next one
-- are added to a database that lacks them when it is opened for writing.
CREATE TABLE campaigns (
    digest      TEXT PRIMARY KEY,   -- 16 hexadecimal digits
    text        TEXT NOT NULL       -- JSON: all that decides the cases and their verdicts
) WITHOUT ROWID;

-- Which part of a campaign a run is, and on what machine it was computed.
CREATE TABLE shards (
    run         INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
    key         TEXT NOT NULL,      -- digest of campaign and shard: equal keys, equal cases
    campaign    TEXT NOT NULL REFERENCES campaigns,
    shard       INTEGER NOT NULL,   -- I and N of --shard I/N
    n_shards    INTEGER NOT NULL,
    atomic      INTEGER NOT NULL,   -- 1: written by --atomic, complete, its canaries were right
    cpu         TEXT NOT NULL,      -- model of the processor
    built_with  TEXT NOT NULL,      -- compiler and libraries
    PRIMARY KEY (run, key)
) WITHOUT ROWID;

-- Summaries (--summary, docs/campaigns.md): of such a run, one shard or several merged ones, cases and verdicts have only
-- the first failures of each bucket, and these tables have what all of them add up to.  They are added to a database
-- that lacks them when it is opened for writing.  Counts are sums over the shards; us: microseconds in the driver.
CREATE TABLE summary_parts (        -- one row for each shard
    run         INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
    key         TEXT NOT NULL,      -- as in shards
    n_cases     INTEGER NOT NULL,
    started     TEXT NOT NULL,
    finished    TEXT NOT NULL,
    seconds     REAL NOT NULL,
    kept        INTEGER NOT NULL,   -- most failures of a bucket and target with all columns and a specification
    listed      INTEGER NOT NULL,   -- likewise in summary_failures
    part        BLOB,               -- compressed: what the shard adds (harness/store/summary.c); NULL: the run has no other one
    PRIMARY KEY (run, key)
) WITHOUT ROWID;

CREATE TABLE summary_verdicts (
    run         INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
    target      INTEGER NOT NULL REFERENCES targets ON DELETE CASCADE,
    verdict     TEXT NOT NULL REFERENCES verdict_names,
    n           INTEGER NOT NULL,
    checked     INTEGER NOT NULL,
    us          INTEGER NOT NULL,
    PRIMARY KEY (target, verdict)
) WITHOUT ROWID;

CREATE TABLE summary_operations (   -- n and beside as in the view operation_verdicts
    run         INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
    target      INTEGER NOT NULL REFERENCES targets ON DELETE CASCADE,
    operation   TEXT NOT NULL,
    type        TEXT NOT NULL,
    verdict     TEXT NOT NULL REFERENCES verdict_names,
    n           INTEGER NOT NULL,
    beside      INTEGER NOT NULL,
    checked     INTEGER NOT NULL,   -- of all cases that have the operation in the type
    us          INTEGER NOT NULL,   -- likewise
    PRIMARY KEY (target, operation, type, verdict)
) WITHOUT ROWID;

CREATE TABLE summary_totals (       -- cases that have the operation in any type (type ""), or the type in any operation
    run         INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
    target      INTEGER NOT NULL REFERENCES targets ON DELETE CASCADE,
    operation   TEXT NOT NULL,
    type        TEXT NOT NULL,
    verdict     TEXT NOT NULL REFERENCES verdict_names,
    n           INTEGER NOT NULL,
    PRIMARY KEY (target, operation, type, verdict)
) WITHOUT ROWID;

CREATE TABLE summary_reasons (      -- why cases were not compared, as in the view not_compared
    run         INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
    target      INTEGER NOT NULL REFERENCES targets ON DELETE CASCADE,
    verdict     TEXT NOT NULL REFERENCES verdict_names,
    operation   TEXT NOT NULL,      -- that is not supported; "" where the reason names none
    type        TEXT NOT NULL,
    gist        TEXT NOT NULL,      -- without an operation: the reason, "#" for each number; else ""
    n           INTEGER NOT NULL,
    reason      TEXT NOT NULL,      -- of the first such case
    name        TEXT NOT NULL,
    first_ordinal INTEGER NOT NULL,
    PRIMARY KEY (target, verdict, operation, type, gist)
) WITHOUT ROWID;

CREATE TABLE summary_ratios (       -- worst elements, by the operation that wrote them, as in the view ratio_bins
    run         INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
    target      INTEGER NOT NULL REFERENCES targets ON DELETE CASCADE,
    operation   TEXT NOT NULL,
    type        TEXT NOT NULL,
    verdict     TEXT NOT NULL REFERENCES verdict_names,
    bins        TEXT NOT NULL,      -- JSON: [[-1,7],[0,2]], how many ratios are above 2^(bin - 1) and up to 2^bin;
                                    -- -60: 0 and all below it, 60: all above it
    ratio       REAL NOT NULL,      -- the largest one
    name        TEXT NOT NULL,      -- of its case
    PRIMARY KEY (target, operation, type, verdict)
) WITHOUT ROWID;

CREATE TABLE summary_buckets (      -- failures that are alike, also across shards and campaigns
    run         INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
    target      INTEGER NOT NULL REFERENCES targets ON DELETE CASCADE,
    bucket      TEXT NOT NULL,      -- digest of key, 16 hexadecimal digits
    key         TEXT NOT NULL,      -- "fail CONV_2D TENSOR_FLOAT32"; verdicts.bucket of the failures that are kept
    verdict     TEXT NOT NULL REFERENCES verdict_names,
    operation   TEXT NOT NULL,      -- "" where none is blamed
    type        TEXT NOT NULL,
    n           INTEGER NOT NULL,
    ratio       REAL,               -- the largest one
    name        TEXT NOT NULL,      -- of its case; of the first case where there is no ratio
    first_ordinal INTEGER NOT NULL, -- the first case
    cause       TEXT,               -- bucket that shrinking found for the first case that was shrunk in its shard
    cause_ordinal INTEGER,          -- that case
    PRIMARY KEY (target, bucket)
) WITHOUT ROWID;

CREATE TABLE summary_failures (     -- the first ones of each bucket and target
    run         INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
    target      INTEGER NOT NULL REFERENCES targets ON DELETE CASCADE,
    bucket      TEXT NOT NULL,
    ordinal     INTEGER NOT NULL,   -- of the case in the plan of the whole campaign
    name        TEXT NOT NULL,
    verdict     TEXT NOT NULL REFERENCES verdict_names,
    ratio       REAL,
    PRIMARY KEY (target, bucket, ordinal)
) WITHOUT ROWID;

CREATE TABLE summary_coverage (     -- in place of coverage_parts
    run         INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
    key         TEXT NOT NULL,      -- of the shard; "": the sum of several
    target      INTEGER NOT NULL REFERENCES targets ON DELETE CASCADE,
    items       BLOB NOT NULL,      -- compressed: lines of randgraph_coverage_write() (randgraph/coverage.h)
    PRIMARY KEY (run, key, target)
) WITHOUT ROWID;

CREATE TABLE unloaded_files (       -- since 3
    run         INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
    ordinal     INTEGER NOT NULL,   -- in the order of loading
    file        TEXT NOT NULL,      -- several rows: several of its examples are not legal
    why         TEXT NOT NULL,      -- file, place and reason; the examples before that place are in the run
    PRIMARY KEY (run, ordinal)
) WITHOUT ROWID;

-- What `halcyon bench` measured of a model on a target.  These tables are added to a database that lacks them when it
-- is opened for writing.
CREATE TABLE bench_results (
    run         INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
    target      INTEGER NOT NULL REFERENCES targets ON DELETE CASCADE,
    model       TEXT NOT NULL,      -- its name in the list
    ordinal     INTEGER NOT NULL,   -- position in the list
    verdict     TEXT NOT NULL REFERENCES verdict_names, -- "fail": accuracy is worse than it may be
    why         TEXT NOT NULL,
    sequences   INTEGER NOT NULL,   -- that accuracy was measured on, and their inferences
    inferences  INTEGER NOT NULL,
    first_compile_ns REAL,          -- wall clock of the first preparation and execution; NULL: none
    first_ns    REAL,
    cache_bytes INTEGER,            -- size of the compilation cache; NULL: none
    memory_bytes INTEGER,           -- peak of the driver's process; NULL: it has none of its own
    PRIMARY KEY (run, target, model)
) WITHOUT ROWID;

CREATE TABLE bench_times (
    run         INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
    target      INTEGER NOT NULL REFERENCES targets ON DELETE CASCADE,
    model       TEXT NOT NULL,
    what        TEXT NOT NULL,      -- "synchronous", "burst"; "compile", "save to cache", "prepare from cache"
    clock       TEXT NOT NULL,      -- "wall"; "device", "driver": as the driver reports it
    n           INTEGER NOT NULL,
    mean_ns     REAL NOT NULL,
    median_ns   REAL NOT NULL,
    p90_ns      REAL NOT NULL,      -- nearest rank
    p99_ns      REAL NOT NULL,
    deviation_ns REAL NOT NULL,     -- standard deviation of the population
    least_ns    REAL NOT NULL,
    most_ns     REAL NOT NULL,
    step_ns     REAL NOT NULL,      -- of the histogram, which begins at least_ns
    buckets     TEXT NOT NULL,      -- JSON: how many times are in each bucket
    PRIMARY KEY (run, target, model, what, clock)
) WITHOUT ROWID;

CREATE TABLE bench_noise (          -- of bench_times: the durations in their order, in parts of equal size
    run         INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
    target      INTEGER NOT NULL REFERENCES targets ON DELETE CASCADE,
    model       TEXT NOT NULL,
    what        TEXT NOT NULL,
    clock       TEXT NOT NULL,
    parts       INTEGER NOT NULL,   -- 10, or as many as there are durations
    low_ns      REAL NOT NULL,      -- least and greatest median of a part
    high_ns     REAL NOT NULL,
    PRIMARY KEY (run, target, model, what, clock)
) WITHOUT ROWID;

CREATE TABLE bench_metrics (
    run         INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
    target      INTEGER NOT NULL REFERENCES targets ON DELETE CASCADE,
    model       TEXT NOT NULL,
    key         TEXT NOT NULL,      -- "top_1", "max_mel_cep_distortion"
    more_is_better INTEGER NOT NULL,
    value       REAL,               -- NULL: NaN
    reference   REAL,               -- of the reference on the same data
    expected    REAL,               -- published
    allowed     REAL,               -- the worst value that is allowed
    worse       TEXT NOT NULL,      -- why it is worse than it may be; "": it is not
    PRIMARY KEY (run, target, model, key)
) WITHOUT ROWID;
