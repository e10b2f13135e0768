/* CSV (RFC 4180, with lines that end in LF): a heading, then a row per case and target. */
#include <math.h>
#include <string.h>

#include "golden/base/text_escape.h"
#include "harness/store/run_export.h"

static void begin(struct export_run *x)
{
    fputs("run,case,target,verdict,was,why,judge,stage,status,ms,device_ns,checked,wrong,output,"
          "place,operation,type,expected,actual,bound,ratio,file,replay,confirmed,printed,"
          "backtrace,attempts,failed_attempts,blamed_operation,blamed_index,blamed_count,"
          "blamed_graph,blamed_type,blamed_output,blamed_place,blamed_expected,blamed_actual,"
          "blamed_bound,blamed_ratio,blamed_why\n",
          x->to);
}

static void put_text(FILE *to, const char *text)
{
    putc(',', to);
    if (!text || !*text)
        return;
    putc('"', to);
    text_put(to, TEXT_CSV, text, 0);
    putc('"', to);
}

static void put_real(FILE *to, double value)
{
    if (isnan(value))
        fputs(",NaN", to);
    else if (isinf(value))
        fputs(value < 0 ? ",-Infinity" : ",Infinity", to);
    else
        fprintf(to, ",%.17g", value);
}

static void put_output(FILE *to, const struct recorded_verdict *v)
{
    if (v->output < 0) {
        fputs(",,,,,,,,", to);
        return;
    }
    fprintf(to, ",%d", v->output);
    put_text(to, v->place);
    put_text(to, v->operation);
    put_text(to, v->type);
    put_real(to, v->expected);
    put_real(to, v->actual);
    put_real(to, v->bound);
    put_real(to, v->ratio);
}

static void put_blamed(FILE *to, const struct blamed *b)
{
    if (!b->count) {
        fputs(",,,,,,,,,,,", to);
        put_text(to, b->why);
        return;
    }
    put_text(to, b->name);
    fprintf(to, ",%u,%u,%u", b->operation, b->count, b->graph);
    put_text(to, b->type);
    if (b->output < 0) {
        fputs(",,,,,,", to);
    } else {
        fprintf(to, ",%d", b->output);
        put_text(to, b->place);
        put_real(to, b->expected);
        put_real(to, b->actual);
        put_real(to, b->bound);
        put_real(to, b->ratio);
    }
    put_text(to, b->why);
}

static void put_verdict(struct export_run *x, const struct recorded_verdict *v)
{
    FILE *to = x->to;
    fprintf(to, "%lld", (long long) v->run);
    put_text(to, v->name);
    put_text(to, v->target);
    put_text(to, verdict_name[v->verdict]);
    put_text(to, v->first != v->verdict ? verdict_name[v->first] : NULL);
    put_text(to, v->why);
    put_text(to, v->judge);
    put_text(to, v->stage);
    put_text(to, v->status);
    fprintf(to, ",%.6f,", v->ms);
    if (v->device_ns >= 0)
        fprintf(to, "%lld", (long long) v->device_ns);
    fprintf(to, ",%llu,%llu", (unsigned long long) v->checked, (unsigned long long) v->wrong);
    put_output(to, v);
    put_text(to, v->file);
    put_text(to, v->replay);
    put_text(to, v->confirmed);
    put_text(to, v->printed);
    put_text(to, v->backtrace);
    if (v->attempts)
        fprintf(to, ",%u,%u", v->attempts, v->failed_attempts);
    else
        fputs(",,", to);
    put_blamed(to, &v->blamed);
    putc('\n', to);
}

const struct export_writer export_csv = { .begin = begin, .verdict = put_verdict };
