-- The views of the results database: each answers one question of the report.  docs/database.md shows
-- their use.  "run" is in all of them; a view without a filter has the rows of every run.  An upgrade drops
-- and creates them again.  Of summaries (schema.sql) views of cases have the failures that are kept, those of counts
-- what the summary has.
--
-- A PostgreSQL server has the same views (harness/server): they are written in the SQL that both understand, with the
-- functions that harness/server/server.sql defines there.  So a condition is not a number (count it by FILTER), numbers
-- from JSON are cast, and all columns that are not in GROUP BY are aggregated, unless it has the key of their table.

-- One row per verdict with everything that belongs to it; spec may be compressed (schema.sql).
CREATE VIEW details AS
    SELECT c.run, c.case_id, c.ordinal, c.name, c.file, c.seed, c.idx, c.level, c.n_operations,
           t.ordinal AS target_ordinal, t.uri,
           v.verdict, v.was, v.why, v.judge, v.stage, v.status, v.ms, v.device_ns,
           v.checked, v.wrong, v.output, v.element, v.place, v.operation, v.type,
           v.expected, v.actual, v.bound, v.ratio, v.replay, c.spec,
           v.verdict IN (SELECT name FROM verdict_names WHERE conforming) AS conforming,
           v.confirmed, v.printed, v.backtrace, v.attempts, v.failed_attempts,
           v.blamed_operation, v.blamed_index, v.blamed_place, v.blamed_expected, v.blamed_actual, v.blamed_bound,
           v.blamed_ratio, v.blamed_count, v.blamed_graph, v.blamed_type, v.blamed_output, v.blamed_why,
           v.bucket, v.shrunk
    FROM verdicts v JOIN cases c USING (case_id) JOIN targets t USING (target);

CREATE VIEW failures AS
    SELECT * FROM details WHERE NOT conforming;

-- The verdicts of each target, counted; of summaries, too.
CREATE VIEW counted_verdicts AS
    SELECT t.run, t.target, v.verdict, count(*) AS n, sum(v.checked) AS checked, sum(v.ms) AS ms
    FROM targets t JOIN verdicts v USING (target) WHERE t.run NOT IN (SELECT run FROM summary_parts)
    GROUP BY t.target, v.verdict
    UNION ALL SELECT run, target, verdict, n, checked, us / 1000.0 FROM summary_verdicts;

CREATE VIEW totals_by_verdict AS
    SELECT run, verdict, CAST(sum(n) AS BIGINT) AS n FROM counted_verdicts GROUP BY run, verdict;

CREATE VIEW totals_by_target AS
    SELECT v.run, t.ordinal AS target_ordinal, t.uri, v.verdict, v.n, v.ms
    FROM counted_verdicts v JOIN targets t USING (target);

CREATE VIEW totals_by_operation AS
    SELECT c.run, o.operation, v.verdict, count(*) AS n
    FROM (SELECT DISTINCT case_id, operation FROM case_operations) o
    JOIN cases c USING (case_id) JOIN verdicts v USING (case_id)
    WHERE c.run NOT IN (SELECT run FROM summary_parts)
    GROUP BY c.run, o.operation, v.verdict
    UNION ALL SELECT run, operation, verdict, CAST(sum(n) AS BIGINT) FROM summary_totals WHERE type = '' GROUP BY 1, 2, 3;

CREATE VIEW totals_by_type AS
    SELECT c.run, o.type, v.verdict, count(*) AS n
    FROM (SELECT DISTINCT case_id, type FROM case_operations) o
    JOIN cases c USING (case_id) JOIN verdicts v USING (case_id)
    WHERE c.run NOT IN (SELECT run FROM summary_parts)
    GROUP BY c.run, o.type, v.verdict
    UNION ALL SELECT run, type, verdict, CAST(sum(n) AS BIGINT) FROM summary_totals WHERE operation = '' GROUP BY 1, 2, 3;

CREATE VIEW totals_by_operation_type AS
    SELECT c.run, o.operation, o.type, v.verdict, count(*) AS n
    FROM case_operations o JOIN cases c USING (case_id) JOIN verdicts v USING (case_id)
    WHERE c.run NOT IN (SELECT run FROM summary_parts)
    GROUP BY c.run, o.operation, o.type, v.verdict
    UNION ALL SELECT run, operation, type, verdict, CAST(sum(n + beside) AS BIGINT) FROM summary_operations
    GROUP BY 1, 2, 3, 4;

-- The verdicts of failures (every verdict that does not conform) without their texts: what the views below are made of.
CREATE VIEW failing AS              -- since 6
    SELECT t.run, v.case_id, v.target, t.ordinal AS target_ordinal, t.uri, v.verdict,
           CASE WHEN v.bucket IS NULL THEN 0 ELSE 1 END AS in_bucket,
           -- the operation that the failure is blamed on, else the one that wrote the worst output
           CASE WHEN v.blamed_operation IS NULL THEN v.operation
                WHEN instr(v.blamed_operation, ' ') > 0 THEN
                    substr(v.blamed_operation, 1, instr(v.blamed_operation, ' ') - 1)
                ELSE v.blamed_operation END AS operation,
           CASE WHEN v.blamed_operation IS NULL THEN v.type ELSE v.blamed_type END AS type,
           -- the bucket; of failures that were not shrunk, verdict, operation and type; of rules, the rule
           coalesce(v.bucket,
                    v.verdict || coalesce(' ' || (SELECT 'rule ' || c.suite || '/' || replace(c.name, rtrim(c.name,
                                 replace(c.name, '/', '')), '') FROM cases c
                                 WHERE c.case_id = v.case_id AND c.suite IS NOT NULL),
                                 coalesce(' ' || coalesce(v.blamed_operation, v.operation), '')
                                 || coalesce(' ' || coalesce(v.blamed_type, v.type), ''))) AS bug,
           -- the worst element, that of the blamed operation where it has one
           CASE WHEN v.blamed_output IS NULL THEN v.place ELSE v.blamed_place END AS place,
           CASE WHEN v.blamed_output IS NULL THEN v.expected ELSE v.blamed_expected END AS expected,
           CASE WHEN v.blamed_output IS NULL THEN v.actual ELSE v.blamed_actual END AS actual,
           CASE WHEN v.blamed_output IS NULL THEN v.bound ELSE v.blamed_bound END AS bound,
           CASE WHEN v.blamed_output IS NULL THEN v.ratio ELSE v.blamed_ratio END AS ratio,
           v.shrunk IS NOT NULL AS is_shrunk, length(CAST(v.shrunk AS BLOB)) AS shrunk_bytes
    FROM verdicts v JOIN targets t USING (target)
    WHERE v.verdict IN (SELECT name FROM verdict_names WHERE NOT conforming);

-- One row per run and bug: a bucket of failures that probably have one cause (shrinking.md), of rules the rule, of
-- failures that were not shrunk those of one verdict, operation and type (in_bucket 0).
CREATE VIEW bugs AS                 -- since 6
    WITH ranked AS (
        SELECT f.*, c.n_operations,
               row_number() OVER (PARTITION BY f.run, bug ORDER BY ratio IS NULL, ratio DESC, case_id, target) AS by_ratio,
               row_number() OVER (PARTITION BY f.run, bug
                                  ORDER BY NOT is_shrunk, shrunk_bytes, c.n_operations, case_id, target) AS by_size
        FROM failing f JOIN cases c USING (case_id)),
    grouped AS (
        SELECT run, bug, max(in_bucket) AS in_bucket, count(*) AS n, count(DISTINCT case_id) AS n_cases,
               count(DISTINCT target) AS n_targets,
               max(CASE WHEN by_ratio = 1 THEN place END) AS place,
               max(CASE WHEN by_ratio = 1 THEN expected END) AS expected,
               max(CASE WHEN by_ratio = 1 THEN actual END) AS actual,
               max(CASE WHEN by_ratio = 1 THEN bound END) AS bound,
               max(CASE WHEN by_ratio = 1 THEN ratio END) AS ratio,
               max(CASE WHEN by_ratio = 1 THEN case_id END) AS worst_case,
               max(CASE WHEN by_ratio = 1 THEN target END) AS worst_target,
               max(CASE WHEN by_size = 1 THEN case_id END) AS case_id,
               max(CASE WHEN by_size = 1 THEN target END) AS target,
               max(CASE WHEN by_size = 1 THEN operation END) AS operation,
               max(CASE WHEN by_size = 1 THEN type END) AS type,
               max(CASE WHEN by_size = 1 THEN verdict END) AS verdict
        FROM ranked GROUP BY run, bug)
    SELECT g.run, g.bug, g.in_bucket,
           coalesce(s.n, g.n) AS n, -- failures: verdicts, not cases
           CASE WHEN s.n IS NULL THEN g.n_cases WHEN s.n_targets = 1 THEN s.n END AS n_cases, -- NULL: a summary does not
                                    -- have how many cases fail on several targets
           coalesce(s.n_targets, g.n_targets) AS n_targets,
           g.verdict, g.operation, g.type,  -- of the smallest case: the first wrong operation
           v.blamed_index AS operation_index, v.blamed_graph AS operation_graph,
           -- the worst element of all failures, and its case
           g.place, g.expected, g.actual, g.bound, g.ratio, g.worst_case, g.worst_target,
           -- the smallest shrunk case, else that with the fewest operations
           g.case_id, g.target, c.name, t.uri, c.n_operations, v.why, v.blamed_why, v.shrunk, v.replay
    FROM grouped g JOIN verdicts v USING (case_id, target) JOIN cases c USING (case_id) JOIN targets t USING (target)
    LEFT JOIN (SELECT run, key AS bug, CAST(sum(n) AS BIGINT) AS n, count(*) AS n_targets FROM summary_buckets GROUP BY run, key) s
    ON s.run = g.run AND s.bug = g.bug;

-- On which targets a bug occurs, and how often.
CREATE VIEW bug_targets AS          -- since 6
    SELECT run, bug, target, target_ordinal, uri, count(*) AS n FROM failing
    WHERE run NOT IN (SELECT run FROM summary_parts) GROUP BY run, bug, target, target_ordinal, uri
    UNION ALL SELECT b.run, b.key, b.target, t.ordinal, t.uri, b.n FROM summary_buckets b JOIN targets t USING (target);

-- One row per run and target.
CREATE VIEW target_verdicts AS      -- since 6
    SELECT t.run, t.target, t.ordinal AS target_ordinal, t.uri, t.name, t.version, t.type, t.hal,
           CAST(sum(v.n) AS BIGINT) AS n,
           coalesce(CAST(sum(v.n) FILTER (WHERE v.verdict NOT IN (SELECT name FROM verdict_names WHERE conforming))
                         AS BIGINT), 0) AS failing,
           coalesce(CAST(sum(v.n) FILTER (WHERE v.verdict = 'pass') AS BIGINT), 0) AS pass,
           coalesce(CAST(sum(v.n) FILTER (WHERE v.verdict = 'undecided') AS BIGINT), 0) AS undecided,
           coalesce(CAST(sum(v.n) FILTER (WHERE v.verdict = 'unsupported') AS BIGINT), 0) AS unsupported,
           coalesce(CAST(sum(v.n) FILTER (WHERE v.verdict = 'waived') AS BIGINT), 0) AS waived,
           coalesce(CAST(sum(v.n) FILTER (WHERE v.verdict = 'flaky') AS BIGINT), 0) AS flaky,
           sum(v.checked) AS checked, sum(v.ms) AS ms
    FROM targets t JOIN counted_verdicts v USING (target) GROUP BY t.target;

-- Operation x type x target, by verdict.  A verdict with an operation that is blamed for it (a failure, `unsupported`)
-- counts for that operation alone in n, and for the others of its graph in beside; others count for every
-- operation of the graph in n.
CREATE VIEW operation_verdicts AS   -- since 6
    -- The few verdicts with such an operation are counted apart from the many without.
    WITH attributed AS MATERIALIZED (
        SELECT case_id, target, verdict, blamed_type,
               CASE WHEN blamed_operation IS NULL THEN operation
                    WHEN instr(blamed_operation, ' ') > 0
                    THEN substr(blamed_operation, 1, instr(blamed_operation, ' ') - 1)
                    ELSE blamed_operation END AS operation
        FROM verdicts
        WHERE target NOT IN (SELECT target FROM summary_verdicts) AND
              (blamed_operation IS NOT NULL OR operation IS NOT NULL AND
               verdict IN (SELECT name FROM verdict_names WHERE NOT conforming))),
    typed AS MATERIALIZED (         -- the type as in case_operations, where blamed_type may be that of an output
        SELECT case_id, target, verdict, operation,
               coalesce((SELECT type FROM case_operations o WHERE o.case_id = a.case_id AND
                         o.operation = a.operation AND o.type = a.blamed_type),
                        (SELECT min(type) FROM case_operations o WHERE o.case_id = a.case_id AND
                         o.operation = a.operation)) AS type
        FROM attributed a),
    plain AS (                      -- the other verdicts of a case, of which few combinations occur
        SELECT case_id, group_concat(target || ' ' || verdict || ';') AS verdicts
        FROM verdicts
        WHERE target NOT IN (SELECT target FROM summary_verdicts) AND
              blamed_operation IS NULL AND (operation IS NULL OR
              verdict IN (SELECT name FROM verdict_names WHERE conforming))
        GROUP BY case_id),
    combined AS MATERIALIZED (
        SELECT o.operation, o.type, p.verdicts, count(*) AS n, min(p.case_id) AS example
        FROM plain p CROSS JOIN case_operations o WHERE o.case_id = p.case_id
        GROUP BY 1, 2, 3),
    counted AS (
        SELECT v.target, g.operation, g.type, v.verdict, g.n, 0 AS beside
        FROM combined g CROSS JOIN verdicts v
        WHERE v.case_id = g.example AND blamed_operation IS NULL AND (v.operation IS NULL OR
              verdict IN (SELECT name FROM verdict_names WHERE conforming))
        UNION ALL
        SELECT v.target, o.operation, o.type, v.verdict,
               count(*) FILTER (WHERE o.operation = v.operation AND o.type = v.type),
               count(*) FILTER (WHERE NOT (o.operation = v.operation AND o.type = v.type))
        FROM typed v JOIN case_operations o USING (case_id)
        GROUP BY 1, 2, 3, 4
        UNION ALL
        SELECT target, operation, type, verdict, n, beside FROM summary_operations)
    SELECT t.run, t.target, t.ordinal AS target_ordinal, t.uri, c.operation, c.type, c.verdict,
           sum(c.n) AS n, sum(c.beside) AS beside
    FROM counted c JOIN targets t USING (target)
    GROUP BY t.target, c.operation, c.type, c.verdict;

-- How near to the bound, or how far beyond it, the worst elements are, by the operation that wrote them (of a
-- failure, the one that is blamed): low < ratio <= high, ratio = |actual - expected| / bound.  low NULL: the
-- ratio is 0; high NULL: the last bin.  Of summaries low and high are powers of two, and largest is NULL in the bins
-- that do not have the largest ratio of a verdict.
CREATE VIEW ratio_bins AS           -- since 6
    SELECT t.run, t.target, t.ordinal AS target_ordinal, t.uri, r.operation, r.type,
           CASE WHEN ratio <= 0 THEN NULL WHEN ratio <= 0.01 THEN 0 WHEN ratio <= 0.1 THEN 0.01 WHEN ratio <= 0.25 THEN 0.1
                WHEN ratio <= 0.5 THEN 0.25 WHEN ratio <= 0.75 THEN 0.5 WHEN ratio <= 1 THEN 0.75 WHEN ratio <= 2 THEN 1
                WHEN ratio <= 10 THEN 2 WHEN ratio <= 100 THEN 10 WHEN ratio <= 10000 THEN 100 ELSE 10000 END AS low,
           CASE WHEN ratio <= 0 THEN 0 WHEN ratio <= 0.01 THEN 0.01 WHEN ratio <= 0.1 THEN 0.1 WHEN ratio <= 0.25 THEN 0.25
                WHEN ratio <= 0.5 THEN 0.5 WHEN ratio <= 0.75 THEN 0.75 WHEN ratio <= 1 THEN 1 WHEN ratio <= 2 THEN 2
                WHEN ratio <= 10 THEN 10 WHEN ratio <= 100 THEN 100 WHEN ratio <= 10000 THEN 10000 END AS high,
           count(*) AS n, max(ratio) AS largest
    FROM (SELECT target,
                 CASE WHEN blamed_output IS NULL THEN operation
                      WHEN instr(blamed_operation, ' ') > 0
                      THEN substr(blamed_operation, 1, instr(blamed_operation, ' ') - 1)
                      ELSE blamed_operation END AS operation,
                 CASE WHEN blamed_output IS NULL THEN type ELSE blamed_type END AS type,
                 CASE WHEN blamed_output IS NULL THEN ratio ELSE blamed_ratio END AS ratio
          FROM verdicts WHERE (output IS NOT NULL OR blamed_output IS NOT NULL) AND
                              target NOT IN (SELECT target FROM summary_verdicts)) r
    JOIN targets t USING (target)
    WHERE r.ratio IS NOT NULL AND r.operation IS NOT NULL
    GROUP BY t.target, r.operation, r.type, low, high
    UNION ALL
    SELECT b.run, b.target, t.ordinal, t.uri, b.operation, b.type, b.low, b.high, CAST(sum(b.n) AS BIGINT),
           max(CASE WHEN (b.low IS NULL OR b.ratio > b.low) AND (b.high IS NULL OR b.ratio <= b.high) THEN b.ratio END)
    FROM (SELECT s.run, s.target, s.operation, s.type, s.ratio, CAST(value ->> 1 AS BIGINT) AS n,
                 CASE WHEN CAST(value ->> 0 AS INTEGER) > -60 THEN pow(2, CAST(value ->> 0 AS INTEGER) - 1) END AS low,
                 CASE WHEN CAST(value ->> 0 AS INTEGER) <= -60 THEN 0
                      WHEN CAST(value ->> 0 AS INTEGER) < 60 THEN pow(2, CAST(value ->> 0 AS INTEGER)) END AS high
          FROM summary_ratios s, json_each(s.bins)) b
    JOIN targets t USING (target)
    GROUP BY b.run, b.target, t.ordinal, t.uri, b.operation, b.type, b.low, b.high;

-- Cases that failed in some of their runs (--rerun), also those that are waived.
CREATE VIEW flaky_cases AS          -- since 6
    SELECT run, case_id, target_ordinal, uri, name, verdict, was, failed_attempts, attempts, confirmed, why,
           coalesce(blamed_operation, operation) AS operation, coalesce(blamed_type, type) AS type, replay
    FROM details WHERE verdict = 'flaky' OR verdict = 'waived' AND failed_attempts < attempts;

-- Failures that a baseline expects, with their age: since which run, and for how many days up to the newest one, they
-- have been waived.
CREATE VIEW waivers AS              -- since 6
    SELECT uri, name, max(CASE WHEN newest = 1 THEN was END) AS was, max(CASE WHEN newest = 1 THEN why END) AS why,
           count(*) AS n_runs, min(run) AS first_run, max(run) AS last_run,
           min(started) AS first_started, max(started) AS last_started,
           julianday(max(started)) - julianday(min(started)) AS days
    FROM (SELECT t.uri, c.name, v.was, v.why, c.run, r.started,
                 row_number() OVER (PARTITION BY t.uri, c.name ORDER BY c.run DESC, c.case_id DESC) AS newest
          FROM verdicts v JOIN cases c USING (case_id) JOIN targets t USING (target) JOIN runs r ON r.run = c.run
          WHERE v.verdict = 'waived') w
    GROUP BY uri, name;

-- One row per run and target, to compare runs over time.
CREATE VIEW trend AS                -- since 6
    SELECT r.run, r.kind, r.started, r.finished IS NOT NULL AS is_finished, r.version AS halcyon, r.seconds, r.n_cases,
           v.target_ordinal, v.uri, v.version AS driver, v.n, v.failing, v.pass, v.undecided, v.unsupported, v.waived,
           v.flaky, (SELECT count(DISTINCT f.bug) FROM failing f WHERE f.target = v.target) AS bugs
    FROM runs r JOIN target_verdicts v USING (run);

-- What was not compared, and why: signatures of operations that are not supported and the reasons of other models
-- that were not shown to the driver; why no element was decided; cases that a baseline skips.
CREATE VIEW not_compared AS         -- since 6
    SELECT n.*, c.name              -- of the first such case
    FROM (SELECT t.run, t.target, t.ordinal AS target_ordinal, t.uri, v.verdict,
                 v.blamed_operation AS operation, v.blamed_type AS type, coalesce(v.blamed_why, v.why) AS reason,
                 count(*) AS n, min(v.case_id) AS case_id
          FROM verdicts v JOIN targets t USING (target)
          WHERE v.verdict IN ('unsupported', 'undecided') OR v.verdict = 'waived' AND v.stage = 'none'
          GROUP BY t.target, v.verdict, v.blamed_operation, v.blamed_type, coalesce(v.blamed_why, v.why)) n
    JOIN cases c USING (case_id)
    WHERE n.run NOT IN (SELECT run FROM summary_parts)
    UNION ALL                       -- of summaries: by operation and type, with the reason of the first case
    SELECT o.run, o.target, t.ordinal, t.uri, o.verdict, nullif(o.operation, ''), nullif(o.type, ''), o.reason, o.n,
           NULL, o.name
    FROM summary_reasons o JOIN targets t USING (target);
