/* Seeds of the targets that read what the harness reads: profiles, baselines, traces, messages of a
 * worker, and the actions of a driver in a process of its own. */
#define _GNU_SOURCE
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "harness/run/campaign_internal.h"
#include "harness/trace/trace_export.h"
#include "reports/packed_spec.h"
#include "sim/device/profile.h"
#include "sim/sim.h"
#include "specs/specs.h"
#include "tests/fuzz/seeds/seeds.h"

static struct seed seed;

static void write_text(const char *target, const char *name, const char *text)
{
    seed_begin(&seed);
    seed_put(&seed, text, strlen(text));
    seed_write(&seed, target, name);
}

/* A trace as `halcyon trace --export` writes it. */
static void write_exported(const char *name, const char *text)
{
    struct trace_sections s = { 0 };
    struct why w;
    char path[64], *exported = NULL;
    size_t length = 0;
    const int fd = memfd_create("seed", MFD_CLOEXEC);

    ck_assert_int_eq(pwrite(fd, text, strlen(text), 0), (ssize_t) strlen(text));
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    ck_assert_msg(trace_sections_read(&s, path, &w) == 0 && trace_sections_close(&s, &w) == 0,
                  "%s: %s", name, w.text);
    FILE *to = open_memstream(&exported, &length);
    ck_assert(to && trace_export(&s, to, &w) == 0 && fclose(to) == 0);
    write_text("fuzz_trace", name, exported);
    free(exported);
    trace_sections_done(&s);
    close(fd);
}

static void write_traces(void)
{
    static const char rows[] =
        "     app.name-10    (   10) [000] ...1     1.000000: tracing_mark_write: "
        "B|10|[NN_LA_PO]a\n"
        "     app.name-10    (   10) [001] ...1     1.000100: tracing_mark_write: "
        "B|10|[NN_LA_PWU]w\n"
        "     app.name-10    (   10) [001] ...1     1.000200: tracing_mark_write: "
        "B|10|[NN_LR_PE]ANeuralNetworksExecution_startCompute\n"
        "     app.name-10    (   10) [001] ...1     1.000300: tracing_mark_write: E|10\n"
        "        <...>-20    (-----) [000] ...1     1.000310: tracing_mark_write: "
        "B|20|HIDL::IDevice::getCapabilities::server\n"
        "        <...>-20    (-----) [000] ...1     1.000320: tracing_mark_write: E|20\n"
        "     kworker-7     (-----) [000] d..2     1.000330: sched_switch: prev_comm=swapper\n"
        "     app.name-10    (   10) [001] ...1     1.000400: tracing_mark_write: "
        "B|10|[NN_LR_PE]ANeuralNetworksEvent_wait\n"
        "     app.name-10    (   10) [001] ...1     1.000500: tracing_mark_write: E|10\n"
        "     app.name-10    (   10) [001] ...1     1.000600: tracing_mark_write: E\n"
        "     app.name-10    (   10) [001] ...1     1.000700: tracing_mark_write: E|10\n";
    char text[4096];

    snprintf(
        text, sizeof text,
        "# tracer: nop\n#\n#           TASK-PID    TGID   CPU#  ||||    TIMESTAMP  FUNCTION\n%s",
        rows);
    write_text("fuzz_trace", "ftrace", text);
    write_exported("ftrace_exported", text);
    snprintf(text, sizeof text,
             "<!DOCTYPE html>\n<script class=\"trace-data\">\n#           TASK-PID   CPU#  ||||    "
             "TIMESTAMP  FUNCTION\n%s</script>\n",
             rows);
    write_text("fuzz_trace", "page", text);
    write_text("fuzz_trace", "lines",
               "{\"name\":\"[NN_LR_PE]ANeuralNetworksExecution_compute\",\"ph\":\"B\",\"pid\":1,"
               "\"tid\":1,\"ts\":1.0}\n"
               "{\"name\":\"[NN_LD_PE]execute\",\"ph\":\"B\",\"pid\":2,\"tid\":2,\"ts\":1.5}\n"
               "{\"ph\":\"E\",\"pid\":2,\"tid\":2,\"ts\":2.5}\n"
               "{\"ph\":\"E\",\"pid\":1,\"tid\":1,\"ts\":3.0}\n");
    write_text("fuzz_trace", "lost",
               "# tracer: nop\n# entries-in-buffer/entries-written: 3/90   #P:4\n"
               "#           TASK-PID   CPU#  ||||    TIMESTAMP  FUNCTION\n"
               "      driver-20    [000] ...1     1.000100: tracing_mark_write: "
               "B|20|[NN_LD_PI]getCapabilities\n"
               "      driver-20    [000] ...1     1.000200: tracing_mark_write: "
               "B|20|[SW][NN_LD_PC]prepareModel\n"
               "      driver-20    [000] ...1     1.000300: tracing_mark_write: E|20\n"
               "      driver-20    [000] ...1     1.000400: tracing_mark_write: E|20\n");
    write_text("fuzz_trace", "perfetto",
               "{\n  \"displayTimeUnit\": \"ns\",\n  \"traceEvents\": [\n"
               "    {\"ph\": \"X\", \"pid\": 1, \"tid\": 1, \"ts\": 2, \"dur\": 3.5,\n"
               "     \"name\": \"[NN_LR_PP]model\"},\n"
               "    {\"ph\": \"X\", \"pid\": 1, \"tid\": 1, \"ts\": 1, \"dur\": 9,\n"
               "     \"name\": \"[NN_LA_PP]build\"}\n  ]\n}\n");
}

/* One that a seed has room for. */
static void make_small(uint64_t index, struct arena *a, struct example *ret_example)
{
    struct randgraph_options o = randgraph_default;
    struct why w;

    o.max_ops = 5;
    o.max_dim = 8;
    ck_assert_int_eq(randgraph_make(&o, 1, index, a, ret_example, &w), 0);
}

/* Specifications of random graphs, as texts and as the results database stores them. */
static void write_specs(void)
{
    for (int i = 0; i < 3; i++) {
        struct arena *a = arena_new(0);
        uint8_t *packed = arena_alloc(a, sizeof seed.bytes, 1);
        char *text = NULL, name[32];
        size_t n = 0;
        struct example e;
        struct why w;
        FILE *to = open_memstream(&text, &n);
        make_small((uint64_t) i, a, &e);
        ck_assert_int_eq(specs_write_modpy(&e, NULL, to, &w), 0);
        fclose(to);
        ck_assert_uint_lt(n, sizeof seed.bytes);
        snprintf(name, sizeof name, "text_%d", i);
        write_text("fuzz_spec", name, text);
        seed_begin(&seed);
        seed_put(&seed, packed, packed_spec(text, n, packed, sizeof seed.bytes));
        snprintf(name, sizeof name, "packed_%d", i);
        seed_write(&seed, "fuzz_spec", name);
        free(text);
        arena_free(a);
    }
}

/* The JSON that the TOML of campaigns becomes. */
static void write_plans(void)
{
    write_text(
        "fuzz_plan", "random",
        "{\"targets\": [\"sim:cpu\", \"lib:npu.so\"], \"cases\": 1000000, "
        "\"cases_per_shard\": 10000, \"summary\": true, \"output\": \"out\", \"corpus\": "
        "\"known\", "
        "\"options\": {\"seed\": 20, \"ops\": \"1-20\", \"op\": [\"ADD\", \"CONV_2D\"], "
        "\"no-shrink\": true, \"baseline\": \"npu.baseline\"}, \"engine\": {\"name\": \"slurm\", "
        "\"program\": \"bin/halcyon\", \"partition\": \"cpu\"}, \"limits\": {\"jobs\": 100, "
        "\"time\": \"20m\", \"retries\": 2}, \"stop\": {\"for\": \"8h\", \"max_buckets\": 200, "
        "\"coverage\": 500}}");
    write_text(
        "fuzz_plan", "run",
        "{\"command\": \"run\", \"targets\": [\"golden\"], \"paths\": [\"specs\", \"a b.mod.py\"], "
        "\"shards\": 3, \"output\": \"run\", \"engine\": {\"name\": \"parallel\", "
        "\"hosts\": [\":\", \"two\"]}}");
    write_text(
        "fuzz_plan", "conform",
        "{\"command\": \"conform\", \"targets\": [\"sim:dsp\"], \"shards\": 4, "
        "\"output\": \"/x\", \"options\": {\"suite\": [\"model\", \"burst\"], \"stress\": 0.5}}");
    write_text("fuzz_plan", "misspelt",
               "{\"targets\": [\"sim:cpu\"], \"case\": 10, \"output\": \"x\"}");
}

/* Lists of models; fuzz_models.c has the files that they name. */
static void write_lists(void)
{
    write_text("fuzz_models", "speech",
               "{\"models\": [{\"name\": \"one\", \"testName\": \"speech\", \"baselineSec\": 0.1, "
               "\"inputSize\": [1, 392], \"dataSize\": 4, \"minSdkVersion\": 27, \"evaluator\": "
               "{\"className\": \"org.example.MelCepLogF0\", \"outputMeanStdDev\": \"z\"}, "
               "\"inputOutputs\": [{\"input\": \"x\", \"output\": \"y\"}]}]}");
    write_text(
        "fuzz_models", "images",
        "{\"models\": [{\"name\": \"a\", \"modelFile\": \"one\", \"inputScale\": 0.007812, "
        "\"inputZeroPoint\": 128, \"evaluator\": {\"className\": \"TopK\", \"expectedTop1\": 0.4}, "
        "\"dataset\": {\"inputPath\": \"images\", \"groundTruth\": \"x\", \"labels\": \"y\", "
        "\"preprocessor\": \"Inception\"}}, {\"name\": \"b\", \"modelFile\": \"two.tflite\", "
        "\"evaluator\": {\"className\": \"MeanAveragePrecision\", \"iou\": 0.6}, \"dataset\": "
        "{\"inputPath\": \"images\", \"groundTruth\": \"z\", \"preprocessor\": \"Resize\"}}]}");
    write_text(
        "fuzz_models", "outputs",
        "{\"models\": [{\"name\": \"one\", \"inputOutputs\": [{\"input\": \"x\", \"outputs\": "
        "[\"y\", \"z\"]}, {\"input\": \"gone/x\", \"outputs\": [\"y\", \"z\"]}]}, "
        "{\"name\": \"two\", \"inputOutputs\": [{\"input\": \"x\", \"output\": \"y\"}]}]}");
    write_text("fuzz_models", "unknown_key",
               "{\"models\": [{\"name\": \"one\", \"evaluater\": {}}]}");
}

void seeds_of_files(void)
{
    write_specs();
    static const char *const devices[] = { "cpu", "gpu", "dsp" };

    for (int i = 0; i < COUNT(devices); i++)
        write_text("fuzz_profile", devices[i], profile_shipped(devices[i]));
    write_text("fuzz_baseline", "valid",
               "halcyon-baseline 1\n# head\ntarget lib:*\n\n# heading\n\n"
               "# about the entry\nfail  spec/V1_2/* op=CONV_2D reason=\"two words\" "
               "link=https://x until=2027-03-31\npass|crash random/v2/s1/i0 stage=execute\n# tail"
               "\n\nviolation random/v2/*/s?/i[0-9] status=\"a\\\"b\\\\\"\n"
               "skip spec/V1_3/huge reason=x\n");
    write_text("fuzz_baseline", "older", "# case target reason\nspec/V1_2/* sim:cpu known\n");
    write_text("fuzz_baseline", "old_name", "halcyon-baseline 1\nfail random/s1/i0\n");
    write_text("fuzz_baseline", "twice", "halcyon-baseline 1\r\nfail a\r\nfail \"a\"\r\n");
    write_text("fuzz_baseline", "no_reason", "halcyon-baseline 1\nfail a until=2027-03-31\n");
    write_text(
        "fuzz_trace", "runs",
        "[\n"
        "{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":1,\"args\":{\"name\":\"worker\"}},\n"
        "{\"name\":\"[NN_LA_PO]case sim:cpu\",\"ph\":\"B\",\"pid\":1,\"tid\":1,\"ts\":1.0},\n"
        "{\"name\":\"[NN_LR_PC]compile\",\"ph\":\"B\",\"pid\":1,\"tid\":1,\"ts\":2.0},\n"
        "{\"name\":\"[SW][NN_LR_PE]execute\",\"ph\":\"B\",\"pid\":1,\"tid\":1,\"ts\":3.0},\n"
        "{\"ph\":\"E\",\"pid\":1,\"tid\":1,\"ts\":4.0},\n"
        "{\"name\":\"[SUB][NN_LI_PI]wait\",\"ph\":\"X\",\"pid\":2,\"tid\":2,\"ts\":2.5,\"dur\":1},"
        "\n"
        "{\"ph\":\"E\",\"pid\":1,\"tid\":1,\"ts\":5.0}\n"
        "]\n");
    write_traces();
    write_plans();
    write_lists();
}

/* ---- output of a child: fuzz_child.c */

static void write_output(const char *name, uint8_t end, uint8_t value, const char *trace,
                         const char *lines)
{
    seed_begin(&seed);
    seed_put(&seed, (uint8_t[]){ end, value }, 2);
    seed_length(&seed, strlen(trace));
    seed_put(&seed, trace, strlen(trace));
    seed_put(&seed, lines, strlen(lines));
    seed_write(&seed, "fuzz_child", name);
}

void seeds_of_children(void)
{
    struct arena *a = arena_new(0);
    size_t n = 0, room = sizeof seed.bytes / 2;
    char *lines = arena_alloc(a, room, 1);
    FILE *to = fmemopen(lines, room, "w");
    struct example e;
    struct why w;

    make_small(0, a, &e);
    ck_assert_int_eq(specs_write_json(&e, to, &w), 0);
    fputs("{\"end\": 1}\n", to);
    n = (size_t) ftell(to);
    fclose(to);
    ck_assert_uint_lt(n, room);
    write_output("record", 0, 77, "", lines);
    write_output("error", 0, 77, "",
                 "{\"error\": \"no Model\", \"kind\": \"invalid\", \"line\": 3}\n");
    write_output("killed", 1, 9, "Fatal Python error\n  File \"/tmp/x\", line 4 in f\n", "");
    write_output("late", 2, 0, "Timeout (0:00:01)!\n  File \"/tmp/x\", line 1 in f\n",
                 "{}\n{\"a\"");
    write_output("unstarted", 3, 11, "", "");
    arena_free(a);
}

/* ---- packets of fuzz_worker.c: kind and case, length, bytes */

enum packet_kind { OF_CASE, OF_END, COMPLETE, DEATH, KINDS };

static void packet(enum packet_kind kind, uint32_t item, const void *bytes, size_t n)
{
    seed_put(&seed, &(uint8_t){ (uint8_t) (kind + KINDS * item) }, 1);
    seed_length(&seed, n);
    seed_put(&seed, bytes, n);
}

static void packet_text(enum message_kind kind, const char *text)
{
    uint8_t bytes[128];
    uint32_t k = kind;
    size_t n = strlen(text);

    memcpy(bytes, &k, sizeof k);
    memcpy(bytes + sizeof k, text, n);
    packet(OF_CASE, 0, bytes, sizeof k + n);
}

static struct check_result result_of(enum verdict v)
{
    struct check_result r;

    memset(&r, 0, sizeof r); /* with its padding: the seed's bytes are the structure's */
    r.verdict = v;
    r.output = -1;
    snprintf(r.why, sizeof r.why, "82 of 3452 elements wrong");
    return r;
}

static void packet_verdict(uint32_t target, enum verdict v)
{
    struct verdict_message m;

    memset(&m, 0, sizeof m);
    m.kind = MESSAGE_VERDICT;
    m.target = target;
    m.result = result_of(v);
    packet(OF_CASE, 0, &m, sizeof m);
}

static void packet_case(void)
{
    static const char lines[] = "ADD\tTENSOR_FLOAT32\n";
    struct case_message head = { MESSAGE_CASE, 3, 1 };
    uint8_t bytes[sizeof head + sizeof lines - 1];

    memcpy(bytes, &head, sizeof head);
    memcpy(bytes + sizeof head, lines, sizeof lines - 1);
    packet(OF_CASE, 0, bytes, sizeof bytes);
}

static void packet_spec(void)
{
    static const char texts[] = "model = Model()graph {}";
    struct spec_message head = { MESSAGE_SPEC, 0, 15 };
    uint8_t bytes[sizeof head + sizeof texts - 1];

    memcpy(bytes, &head, sizeof head);
    memcpy(bytes + sizeof head, texts, sizeof texts - 1);
    packet(OF_CASE, 0, bytes, sizeof bytes);
}

static void packet_amend(void)
{
    static const char texts[] = "printed#0 f+0x1\nmodelgraph";
    struct amend_message head;
    uint8_t bytes[sizeof head + sizeof texts - 1];

    memset(&head, 0, sizeof head);
    head.kind = MESSAGE_AMEND;
    head.printed_length = 7;
    head.backtrace_length = 9;
    head.spec_length = 5;
    head.result = result_of(VERDICT_VIOLATION);
    memcpy(bytes, &head, sizeof head);
    memcpy(bytes + sizeof head, texts, sizeof texts - 1);
    packet(OF_END, 0, bytes, sizeof bytes);
}

void seeds_of_workers(void)
{
    const uint32_t mark = mark_of(PHASE_TARGET, 1);
    const uint8_t death[] = { (uint8_t) mark, (uint8_t) (mark >> 8), 0, 0, TARGET_AT_EXECUTE, 11 };

    seed_begin(&seed);
    packet_case();
    packet_text(MESSAGE_DETAIL, "output 4: wrong\n");
    packet_verdict(0, VERDICT_PASS);
    packet_text(MESSAGE_PRINTED, "hello");
    packet_text(MESSAGE_BACKTRACE, "#0 f+0x1\n");
    packet_verdict(1, VERDICT_FAIL);
    packet_spec();
    packet(COMPLETE, 0, "", 0);
    packet_amend();
    seed_write(&seed, "fuzz_worker", "case");
    seed_begin(&seed);
    packet_case();
    packet_verdict(0, VERDICT_PASS);
    for (int i = 0; i < 2; i++)
        packet(DEATH, 0, death, sizeof death);
    packet_spec();
    packet(COMPLETE, 0, "", 0);
    seed_write(&seed, "fuzz_worker", "death");
    seed_begin(&seed);
    packet_text(MESSAGE_NOTE, "\1\0\0\0a note");
    packet_verdict(7, VERDICT_PASS);
    seed_write(&seed, "fuzz_worker", "out_of_range");
}

/* ---- actions of fuzz_hosted.c */

void seeds_of_hosts(void)
{
    /* flags, then actions: see there */
    static const struct {
        const char *name;
        uint8_t n, bytes[24];
    } all[] = {
        { "behaves", 1, { 0 } },
        { "twice", 2, { 16 | 32, 5 } },
        { "unknown_shape", 3, { 4, 5, 5 } },
        { "only_query", 3, { 1, 5, 5 } },
        { "unsupported", 12, { 0, 5, 1, 1, 0, 4, 1, 0, 0, 5, 5, 5 } },
        { "status", 9, { 0, 5, 0, 4, 4, 0, 0, 0, 5 } },
        { "stage", 9, { 0, 5, 0, 3, 9, 0, 0, 0, 5 } },
        { "n_shapes", 9, { 0, 5, 0, 7, 9, 0, 0, 0, 5 } },
        { "before_output", 9, { 0, 5, 1, 3, 0, 4, 2, 7, 7 } },
        { "unwritten", 5, { 16, 5, 2, 0xa5, 5 } },
        { "prints", 5, { 0, 5, 3, 65, 9 } },
        { "crash_input", 11, { 2, 5, 4, 5, 0, 16, 11, 2, 1, 9, 2 } },
        { "crash_output", 11, { 0, 5, 4, 6, 0, 16, 11, 2, 1, 9, 2 } },
        { "exits", 5, { 0, 5, 6, 0, 1 } },
        { "hangs", 3, { 0, 5, 7 } },
        { "dies_at_start", 4, { 0, 6, 11, 0 } },
        { "does_not_open", 8, { 0, 0, 0, 2, 0, 0, 0, 5 } },
        { "repeats", 12, { 32, 5, 1, 0, 0x90, 2, 4, 1, 2, 3, 4, 5 } },
    };

    for (int i = 0; i < COUNT(all); i++) {
        seed_begin(&seed);
        seed_put(&seed, all[i].bytes, all[i].n);
        seed_write(&seed, "fuzz_hosted", all[i].name);
    }
}
