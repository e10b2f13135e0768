/*   run 1: sim:a (target 1)                     sim:b (target 2)
 *     case 1  CONV_2D, RELU                     fail, CONV_2D is blamed, B1
 *                                               RELU is not supported
 *     case 2  CONV_2D, CONV_2D in 8 bits, ADD   fail, CONV_2D in 8 bits, B1
 *                                               CONV_2D in 8 bits is not supported
 *     case 3  ADD                               pass, ratio 0.5; pass, ratio 0
 *     case 4  ADD, MUL                          crash; fail, both are blamed, B2
 *     case 5  MUL                               undecided; flaky
 *     case 6  ADD                               waived; waived, not run
 *   run 2: sim:a (target 3)
 *     case 7  (as 6)                            waived, flaky
 *     case 8  (as 1)                            fail, CONV_2D is blamed, B1
 *   run 3: sim:a (target 4)
 *     cases 9 and 10: one rule at two versions  fail
 */
#include "tests/harness/store/views_content.h"

#define F "TENSOR_FLOAT32"
#define Q "TENSOR_QUANT8_ASYMM"

static const char content[] =
    "INSERT INTO runs (run, kind, command, options, version, judge, n_cases, started, finished) "
    "VALUES "
    "(1, 'random', 'c', '{}', '0.4', 'bound', 6, '2026-01-01T00:00:00.000Z', "
    "'2026-01-01T00:01:00.000Z'), "
    "(2, 'random', 'c', '{}', '0.4', 'bound', 9, '2026-01-11T00:00:00.000Z', NULL), "
    "(3, 'conform', 'c', '{}', '0.4', 'rules', 2, '2026-01-12T00:00:00.000Z', "
    "'2026-01-12T00:01:00.000Z');"
    "INSERT INTO targets VALUES (1, 1, 0, 'sim:a', 'a', '1', 'CPU', '1.3'), (2, 1, 1, 'sim:b', "
    "'b', '2', "
    "'GPU', '1.2'), (3, 2, 0, 'sim:a', 'a', '1', 'CPU', '1.3'), (4, 3, 0, 'sim:a', 'a', '1', "
    "'CPU', '1.3');"
    "INSERT INTO cases (case_id, run, ordinal, name, n_operations, suite) VALUES "
    "(1, 1, 0, 'random/v2/s1/i0', 2, NULL), (2, 1, 1, 'random/v2/s1/i1', 3, NULL), "
    "(3, 1, 2, 'random/v2/s1/i2', 1, NULL), (4, 1, 3, 'random/v2/s1/i3', 2, NULL), "
    "(5, 1, 4, 'random/v2/s1/i4', 1, NULL), (6, 1, 5, 'random/v2/s1/i5', 1, NULL), "
    "(7, 2, 5, 'random/v2/s1/i5', 1, NULL), (8, 2, 0, 'random/v2/s1/i0', 2, NULL), "
    "(9, 3, 0, 'conform/1.2/model/M9', 0, 'model'), (10, 3, 1, 'conform/1.3/model/M9', 0, 'model');"
    "INSERT INTO case_operations VALUES (1, 'CONV_2D', '" F "'), (1, 'RELU', '" F "'), "
    "(2, 'CONV_2D', '" F "'), (2, 'CONV_2D', '" Q "'), (2, 'ADD', '" F "'), (3, 'ADD', '" F "'), "
    "(4, 'ADD', '" F "'), (4, 'MUL', '" F "'), (5, 'MUL', '" F "'), (6, 'ADD', '" F "'), "
    "(7, 'ADD', '" F "'), (8, 'CONV_2D', '" F "'), (8, 'RELU', '" F "');"
    "INSERT INTO verdicts (case_id, target, verdict, was, why, judge, stage, status, ms, checked, "
    "wrong) VALUES "
    "(1, 1, 'fail', NULL, 'wrong', 'bound', 'done', 'NONE', 0.5, 4, 2), "
    "(1, 2, 'unsupported', NULL, 'operation 1', 'bound', 'supported', 'NONE', 0.5, 0, 0), "
    "(2, 1, 'fail', NULL, 'wrong', 'bound', 'done', 'NONE', 0.5, 4, 1), "
    "(2, 2, 'unsupported', NULL, 'operation 0', 'bound', 'supported', 'NONE', 0.5, 0, 0), "
    "(3, 1, 'pass', NULL, '', 'bound', 'done', 'NONE', 0.5, 4, 0), "
    "(3, 2, 'pass', NULL, '', 'bound', 'done', 'NONE', 0.5, 4, 0), "
    "(4, 1, 'crash', NULL, 'signal 11', 'bound', 'execute', '', 0.5, 0, 0), "
    "(4, 2, 'fail', NULL, 'wrong', 'bound', 'done', 'NONE', 0.5, 4, 4), "
    "(5, 1, 'undecided', NULL, 'no element', 'bound', 'done', 'NONE', 0.5, 0, 0), "
    "(5, 2, 'flaky', 'fail', 'wrong', 'bound', 'done', 'NONE', 0.5, 4, 1), "
    "(6, 1, 'waived', 'fail', 'known', 'bound', 'done', 'NONE', 0.5, 4, 1), "
    "(6, 2, 'waived', NULL, 'skipped', 'bound', 'none', '', 0.5, 0, 0), "
    "(7, 3, 'waived', 'fail', 'known', 'bound', 'done', 'NONE', 0.5, 4, 1), "
    "(8, 3, 'fail', NULL, 'wrong', 'bound', 'done', 'NONE', 0.5, 4, 2), "
    "(9, 4, 'fail', NULL, 'status', 'rules', 'done', 'NONE', 0.5, 0, 1), "
    "(10, 4, 'fail', NULL, 'status', 'rules', 'done', 'NONE', 0.5, 0, 1);"
    "UPDATE verdicts SET replay = 'replay ' || case_id WHERE verdict IN ('fail', 'crash', "
    "'flaky');";

static const char measured[] =
    /* The worst outputs. */
    "UPDATE verdicts SET output = 0, type = '" F "', bound = 1, place = '[3]' "
    "WHERE checked; "
    "UPDATE verdicts SET operation = 'RELU', expected = 1, actual = 4, ratio = 3 WHERE case_id IN "
    "(1, 8) AND output = 0;"
    "UPDATE verdicts SET operation = 'ADD', expected = 0, actual = 4, ratio = 4 WHERE case_id = 2 "
    "AND target = 1;"
    "UPDATE verdicts SET operation = 'ADD', expected = 1, actual = 1.5, ratio = 0.5 WHERE case_id "
    "= 3 AND target = 1;"
    "UPDATE verdicts SET operation = 'ADD', expected = 1, actual = 1, ratio = 0 WHERE case_id = 3 "
    "AND target = 2;"
    "UPDATE verdicts SET operation = 'MUL', expected = 1, actual = 3, ratio = 2 WHERE case_id IN "
    "(4, 5) AND target = 2;"
    "UPDATE verdicts SET operation = 'ADD', expected = 1, actual = 2.5, ratio = 1.5 WHERE case_id "
    "IN (6, 7) AND output = 0;"
    /* What is blamed. */
    "UPDATE verdicts SET blamed_operation = 'CONV_2D', blamed_index = 0, blamed_count = 1, "
    "blamed_graph = 0, "
    "blamed_type = '" F
    "', blamed_output = 0, blamed_place = '[0]', blamed_expected = 1, blamed_bound = 1, "
    "blamed_actual = iif(case_id = 1, 11, 7), blamed_ratio = iif(case_id = 1, 10, 6), bucket = "
    "'B1', "
    "shrunk = iif(case_id = 1, 'ab', NULL) WHERE case_id IN (1, 8) AND verdict = 'fail';"
    "UPDATE verdicts SET blamed_operation = 'CONV_2D', blamed_index = 1, blamed_count = 1, "
    "blamed_graph = 0, "
    "blamed_type = '" Q
    "', blamed_output = 0, blamed_place = '[1]', blamed_expected = 0, blamed_actual = 4, "
    "blamed_bound = 1, blamed_ratio = 4, bucket = 'B1' WHERE case_id = 2 AND verdict = 'fail';"
    "UPDATE verdicts SET blamed_operation = 'ADD (0), MUL (1)', blamed_index = 0, blamed_count = "
    "2, "
    "blamed_graph = 0, blamed_type = '" F
    "', blamed_output = 0, blamed_place = '[2]', blamed_expected = 0, "
    "blamed_actual = 20000, blamed_bound = 1, blamed_ratio = 20000, bucket = 'B2' "
    "WHERE case_id = 4 AND verdict = 'fail';"
    "UPDATE verdicts SET blamed_operation = 'RELU', blamed_type = '" F
    "', blamed_index = 1, blamed_count = 1, "
    "blamed_why = 'RELU: float' WHERE case_id = 1 AND target = 2;"
    "UPDATE verdicts SET blamed_operation = 'CONV_2D', blamed_type = '" Q
    "', blamed_index = 1, blamed_count = 1, "
    "blamed_why = 'CONV_2D: 8 bits' WHERE case_id = 2 AND target = 2;"
    "UPDATE verdicts SET attempts = 4, failed_attempts = 2 WHERE case_id = 5 AND target = 2;"
    "UPDATE verdicts SET attempts = 3, failed_attempts = 1 WHERE case_id = 7;"
    "UPDATE verdicts SET attempts = 3, failed_attempts = 3 WHERE case_id = 8;"
    "INSERT INTO coverage_parts VALUES "
    "(1, 1, "
    "'[[\"ADD\",\"\",\"f,f\",4,\"a=b\",\"zeros\",3,1],[\"ADD\",\"\",\"f,f\",2,\"a=b\",\"zeros\",1,"
    "0]]', "
    "'[[\"ADD\",\"MUL\",2,1]]'), "
    "(1, 1, '[[\"ADD\",\"\",\"f,f\",4,\"a=b\",\"zeros\",2,0]]', "
    "'[[\"ADD\",\"MUL\",5,0],[\"MUL\",\"MUL\",1,0]]');";

const char *const views_content[2] = { content, measured };
