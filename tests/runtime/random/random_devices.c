#include "tests/runtime/random/random_devices.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/hal/hal_convert.h"

enum { TYPES = HAL_TYPE_TENSOR_QUANT8_ASYMM_SIGNED + 1 };

struct random_device {
    ANeuralNetworksDevice *device;
    struct hal_driver *driver;
    enum hal_status (*get_supported)(struct hal_driver *self, enum hal_version version,
                                     const struct hal_model *model, bool *supported,
                                     uint32_t *ret_n);
    struct target_info info;
    /* Drawn: */
    bool is_drawn, by_place; /* each operation by itself, not all of a type alike */
    uint32_t percent;
    uint64_t seed;
    struct hal_operand_performance row[TYPES];
};

static struct random_device all[RANDOM_DEVICES];
static bool is_open_up;

/* splitmix64. */
static uint64_t mixed(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/* The same for every call: the operation is known by type, type of its first input and, if
 * by_place, the number of its first output. */
static bool is_in_set(const struct random_device *d, const struct hal_model *m,
                      const struct hal_operation *o)
{
    uint64_t x = mixed(d->seed + (uint64_t) o->type);

    if (o->n_inputs)
        x = mixed(x + (uint64_t) m->main.operands[o->inputs[0]].type);
    if (d->by_place && o->n_outputs)
        x = mixed(x + o->outputs[0]);
    return x % 100 < d->percent;
}

static enum hal_status get_supported(struct hal_driver *self, enum hal_version version,
                                     const struct hal_model *model, bool *supported,
                                     uint32_t *ret_n)
{
    const struct random_device *d = all;

    while (d->driver != self)
        d++;
    enum hal_status status = d->get_supported(self, version, model, supported, ret_n);
    for (uint32_t i = 0; status == HAL_NONE && !is_open_up && i < *ret_n; i++)
        supported[i] =
            supported[i] && d->is_drawn && is_in_set(d, model, &model->main.operations[i]);
    return status;
}

void random_devices_open(void)
{
    setenv("HALCYON_DEVICES", "sim:cpu,sim:gpu,sim:dsp,golden", 1);
    const struct device_list *list = devices();

    if (list->n != RANDOM_DEVICES + 1) {
        fprintf(stderr, "random_partitions: %u devices, expected %d\n", list->n,
                RANDOM_DEVICES + 1);
        exit(EXIT_FAILURE);
    }
    for (uint32_t i = 0; i < RANDOM_DEVICES; i++) {
        struct why w;
        all[i].device = list->device[i];
        all[i].driver = list->device[i]->driver;
        all[i].get_supported = all[i].driver->get_supported_operations;
        all[i].driver->get_supported_operations = get_supported;
        if (target_info(all[i].device->target, &all[i].info, &w) < 0) {
            fprintf(stderr, "random_partitions: %s\n", w.text);
            exit(EXIT_FAILURE);
        }
    }
}

/* Few different numbers, so that some are equal; most are better than the reference's. */
static struct hal_performance draw_performance(struct rng *r)
{
    static const float numbers[] = { 0.1f, 0.3f, 0.3f, 0.5f, 0.7f, 0.9f, REFERENCE_PERFORMANCE, 2 };
    float time = numbers[rng_below(r, COUNT(numbers))];
    float power = numbers[rng_below(r, COUNT(numbers))];

    return (struct hal_performance){ time, power };
}

/* A driver may state nothing of a type. */
static void draw_rows(struct random_device *d, struct rng *r)
{
    uint32_t n = 0;

    for (int32_t type = 0; type < TYPES; type++)
        if (rng_below(r, 20))
            d->row[n++] = (struct hal_operand_performance){ type, draw_performance(r) };
    d->device->performance = (struct hal_capabilities){
        .relaxed_scalar = draw_performance(r),
        .relaxed_tensor = draw_performance(r),
        .if_performance = draw_performance(r),
        .while_performance = draw_performance(r),
        .n_operands = n,
        .operand = d->row,
    };
}

/* Usually the newest entry points that the driver has. */
static void draw_version(struct random_device *d, struct rng *r)
{
    static const enum hal_version versions[] = { HAL_1_0, HAL_1_1, HAL_1_2, HAL_1_3,
                                                 HAL_FL5, HAL_FL6, HAL_FL7, HAL_FL8 };
    enum hal_version v = versions[rng_below(r, COUNT(versions))];

    if (rng_below(r, 3) || v < d->info.lowest_version || v > d->info.hal_version)
        v = d->info.hal_version;
    d->device->entry = v;
    d->device->level = (enum level) hal_level(v);
}

void random_devices_draw(struct rng *r, const ANeuralNetworksDevice *ret[RANDOM_DEVICES],
                         uint32_t *ret_n)
{
    static const uint32_t percents[] = { 20, 40, 60, 80, 100 };
    uint32_t n = 2 + rng_below(r, RANDOM_DEVICES - 1), order[RANDOM_DEVICES];

    for (uint32_t i = 0; i < RANDOM_DEVICES; i++) { /* shuffled from the front */
        uint32_t at = rng_below(r, i + 1);
        order[i] = order[at];
        order[at] = i;
    }
    for (uint32_t i = 0; i < RANDOM_DEVICES; i++) {
        struct random_device *d = &all[order[i]];
        d->is_drawn = i < n;
        d->by_place = rng_below(r, 3) == 0;
        d->percent = percents[rng_below(r, COUNT(percents))];
        d->seed = rng_next(r);
        draw_version(d, r);
        draw_rows(d, r);
        if (i < n)
            ret[i] = d->device;
    }
    *ret_n = n;
}

void random_devices_open_up(bool everything)
{
    is_open_up = everything;
}

const char *random_devices_text(struct arena *a)
{
    const char *text = "";

    for (int i = 0; i < RANDOM_DEVICES && text; i++)
        if (all[i].is_drawn)
            text = arena_printf(a, "%s%s%s at level %d supports %u %% of %s", text,
                                *text ? "; " : "", all[i].device->name, (int) all[i].device->level,
                                all[i].percent, all[i].by_place ? "operations" : "operation types");
    return text ? text : "out of memory";
}
