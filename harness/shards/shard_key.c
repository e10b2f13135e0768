#include "harness/shards/shard_key.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "golden/math/farmhash.h"
#include "harness/check/buffer.h"
#include "harness/check/json_value.h"
#include "harness/shards/canaries.h"
#include "harness/store/shard_rows.h"
#include "harness/store/summary.h"
#include "randgraph/randgraph.h"

static void put_digest(char text[SHARD_DIGEST], uint64_t digest)
{
    snprintf(text, SHARD_DIGEST, "%016" PRIx64, digest);
}

static json_t *digest_json(uint64_t digest)
{
    char text[SHARD_DIGEST];
    put_digest(text, digest);
    return json_string(text);
}

/* ---- the identity of a campaign */

static uint64_t extend(uint64_t digest, const void *bytes, size_t n)
{
    const uint64_t both[2] = { digest, farmhash64(bytes, n) };
    return farmhash64(both, sizeof both);
}

/* Of cases that the options do not decide alone: names, models, inputs and expected values. */
static uint64_t cases_digest(const struct cases *c)
{
    uint64_t digest = c->n;
    char name[CASE_NAME];
    for (uint64_t i = 0; i < c->n; i++) {
        cases_name(c, i, name);
        digest = extend(digest, name, strlen(name));
        if (!c->spec)
            continue;
        const struct example *e = &c->spec[i].example;
        const uint64_t model = randgraph_example_digest(e);
        digest = extend(digest, &model, sizeof model);
        for (uint32_t k = 0; k < e->model.graph[0].n_outputs; k++)
            if (e->expected[k].data)
                digest = extend(digest, e->expected[k].data, tensor_bytes(&e->expected[k]));
    }
    return digest;
}

static int file_digest(const char *path, uint64_t *ret_digest, struct why *w)
{
    char bytes[4096];
    FILE *file = fopen(path, "re");
    if (!file)
        return why_file(w, path, errno);
    uint64_t digest = 0;
    for (size_t n; (n = fread(bytes, 1, sizeof bytes, file)) > 0;)
        digest = extend(digest, bytes, n);
    int failed = ferror(file) ? why_file(w, path, EIO) : 0;
    fclose(file);
    *ret_digest = digest;
    return failed;
}

static int put_baselines(const struct options *o, json_t *identity, struct why *w)
{
    json_t *list = json_array();
    int failed = 0;
    for (uint32_t i = 0; !failed && i < o->n_baselines; i++) {
        uint64_t digest;
        failed = file_digest(o->baseline[i], &digest, w);
        if (!failed)
            json_array_append_new(list, digest_json(digest));
    }
    if (!failed && o->n_baselines)
        json_object_set(identity, "baselines", list);
    json_decref(list);
    return failed;
}

static int put_identity(const struct options *o, const char *recorded, const struct cases *cases,
                        json_t *identity, struct why *w)
{
    json_t *options = json_loads(recorded, 0, NULL), *targets = json_array();
    for (uint32_t t = 0; t < o->n_targets; t++)
        json_array_append_new(targets, json_value_text(o->target[t]));
    json_object_set_new(options, "shard", json_sprintf("of %u", o->n_shards));
    json_object_del(options,
                    "paths"); /* which differ between machines; the digest of the cases counts */
    json_object_set_new(identity, "command", json_string(o->command));
    json_object_set_new(identity, "version", json_string(results_program_version()));
    json_object_set_new(identity, "reference", digest_json(canaries_digest()));
    json_object_set_new(identity, "targets", targets);
    json_object_set_new(identity, "options", options);
    if (o->timeout < 10 || o->timeout > 10)
        json_object_set_new(identity, "timeout", json_real(o->timeout));
    if (!cases_are_random(cases))
        json_object_set_new(identity, "cases", digest_json(cases_digest(cases)));
    return put_baselines(o, identity, w);
}

int shard_key_make(const struct options *o, const char *recorded, const struct cases *cases,
                   struct shard_key *ret_key, struct why *w)
{
    struct shard_key k = { .shard = o->shard, .n_shards = o->n_shards };
    char text[64];
    json_t *identity = json_object();
    int failed = put_identity(o, recorded, cases, identity, w);
    if (!failed && !(k.identity = json_dumps(identity, JSON_COMPACT | JSON_SORT_KEYS)))
        failed = why_no_memory(w);
    json_decref(identity);
    TRY(failed);
    put_digest(k.campaign, farmhash64(k.identity, strlen(k.identity)));
    snprintf(text, sizeof text, "%s %u/%u", k.campaign, k.shard, k.n_shards);
    put_digest(k.key, farmhash64(text, strlen(text)));
    *ret_key = k;
    return 0;
}

void shard_key_done(struct shard_key *k)
{
    free(k->identity);
    *k = (struct shard_key){ 0 };
}

/* ---- in the database */

/* The name of the processor, as the kernel reports it. */
static void read_cpu(char *ret_name, size_t size)
{
    char line[256];
    FILE *file = fopen("/proc/cpuinfo", "re");
    snprintf(ret_name, size, "unknown");
    while (file && fgets(line, sizeof line, file)) {
        const char *at = strchr(line, ':');
        if (strncmp(line, "model name", 10) != 0 || !at)
            continue;
        line[strcspn(line, "\n")] = 0;
        snprintf(ret_name, size, "%s", at + 1 + strspn(at + 1, " "));
        break;
    }
    if (file)
        fclose(file);
}

int shard_key_record(const struct shard_key *k, struct results *r, bool atomic, struct why *w)
{
    char cpu[200];
    read_cpu(cpu, sizeof cpu);
    const struct shard_row row = { .key = k->key,
                                   .campaign = k->campaign,
                                   .identity = k->identity,
                                   .shard = k->shard,
                                   .n_shards = k->n_shards,
                                   .atomic = atomic,
                                   .cpu = cpu,
                                   .built_with = HALCYON_BUILT_WITH };
    return results_add_shard(r, &row, w);
}

/* ---- what differs */

static void put_value(struct buffer *b, json_t *value)
{
    char *text = value ? json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY) : NULL;
    buffer_printf(b, "%.60s", text ? text : "absent");
    free(text);
}

/* "seed is 1, expected 2" for each member that differs; those of `options` as their own. */
static void put_differences(struct buffer *b, json_t *found, json_t *expected)
{
    json_t *all = json_copy(found), *value;
    const char *name;
    json_object_update_missing(all, expected);
    json_object_foreach(all, name, value)
    {
        json_t *x = json_object_get(found, name), *y = json_object_get(expected, name);
        if (x && y && json_equal(x, y))
            continue;
        if (json_is_object(x) && json_is_object(y)) {
            put_differences(b, x, y);
            continue;
        }
        buffer_printf(b, "%s%s is ", b->length ? "; " : "", name);
        put_value(b, x);
        buffer_puts(b, ", expected ");
        put_value(b, y);
    }
    json_decref(all);
}

static int refuse(const struct shard_key *k, const char *path, const struct shard_row *row,
                  struct why *w)
{
    struct buffer b = { 0 };
    json_t *found = json_loads(row->identity, 0, NULL),
           *expected = json_loads(k->identity, 0, NULL);
    put_differences(&b, found, expected);
    if (row->shard != k->shard || row->n_shards != k->n_shards)
        buffer_printf(&b, "%sit is shard %u/%u, expected %u/%u", b.length ? "; " : "", row->shard,
                      row->n_shards, k->shard, k->n_shards);
    json_decref(found);
    json_decref(expected);
    why_fail(w, WHY_INVALID, "%s: exists and is another shard: %.350s", path, buffer_text(&b));
    buffer_done(&b);
    return -1;
}

static int check_form(struct results *r, const char *path, bool summary, struct why *w)
{
    static const char *const form[] = { "all rows", "a summary" };
    bool is_summary = false;
    TRY(results_is_summary(r, &is_summary, w));
    REQUIRE(w, is_summary == summary, "%s: exists and is this shard as %s, expected %s", path,
            form[is_summary], form[summary]);
    return 0;
}

int shard_key_open(const struct shard_key *k, const char *path, bool summary,
                   struct results **ret_results, struct why *w)
{
    struct results *r;
    struct shard_row row = { 0 };
    TRY(results_open(path, RESULTS_READ, &r, w));
    int found = results_only_shard(r, &row, w);
    if (found == 0)
        found = why_fail(w, WHY_INVALID,
                         "%s: exists and is not a complete shard that --atomic has written; choose "
                         "another file",
                         path);
    else if (found > 0 && strcmp(row.key, k->key) != 0)
        found = refuse(k, path, &row, w);
    else if (found > 0)
        found = check_form(r, path, summary, w);
    shard_row_done(&row);
    if (found < 0) {
        results_close(r);
        return -1;
    }
    *ret_results = r;
    return 0;
}
