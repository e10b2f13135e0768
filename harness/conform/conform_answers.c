#include "harness/conform/conform_answers.h"

#include <stdio.h>
#include <string.h>

#include "harness/conform/conform.h"

void conform_put_performance(const struct hal_capabilities *caps, struct buffer *b)
{
    const struct hal_performance p[] = { caps->relaxed_scalar, caps->relaxed_tensor,
                                         caps->if_performance, caps->while_performance };

    for (int i = 0; i < COUNT(p); i++)
        buffer_printf(b, " %g %g", (double) p[i].exec_time, (double) p[i].power_usage);
    for (uint32_t i = 0; i < caps->n_operands; i++)
        buffer_printf(b, " %d %g %g", caps->operand[i].type,
                      (double) caps->operand[i].info.exec_time,
                      (double) caps->operand[i].info.power_usage);
}

static void put_capabilities(struct hal_driver *d, enum hal_version v, struct buffer *b)
{
    struct hal_capabilities caps;

    memset(&caps, 0, sizeof caps);
    buffer_printf(b, "%s", hal_status_name(d->get_capabilities(d, v, &caps)));
    conform_put_performance(&caps, b);
}

static void put_type(struct hal_driver *d, enum hal_version v, struct buffer *b)
{
    enum hal_device_type type = HAL_DEVICE_OTHER;

    (void) v;
    buffer_printf(b, "%s", hal_status_name(d->get_type(d, &type)));
    buffer_printf(b, " %d", (int) type);
}

static void put_version_string(struct hal_driver *d, enum hal_version v, struct buffer *b)
{
    const char *text = NULL;

    (void) v;
    buffer_printf(b, "%s", hal_status_name(d->get_version_string(d, &text)));
    buffer_printf(b, " %s", text ? text : "-");
}

static void put_extensions(struct hal_driver *d, enum hal_version v, struct buffer *b)
{
    const struct hal_extension *x = NULL;
    uint32_t n = 0;

    (void) v;
    if (!d->get_supported_extensions)
        return;
    buffer_printf(b, "%s", hal_status_name(d->get_supported_extensions(d, &n, &x)));
    for (uint32_t i = 0; i < n; i++) {
        buffer_printf(b, " %s", x[i].name);
        for (uint32_t k = 0; k < x[i].n_types; k++)
            buffer_printf(b, " %u:%d:%u", x[i].type[k].type, x[i].type[k].is_tensor,
                          x[i].type[k].byte_size);
    }
}

static void put_cache_files(struct hal_driver *d, enum hal_version v, struct buffer *b)
{
    uint32_t n_model = 0, n_data = 0;

    (void) v;
    if (!d->get_number_of_cache_files_needed)
        return;
    buffer_printf(b, "%s",
                  hal_status_name(d->get_number_of_cache_files_needed(d, &n_model, &n_data)));
    buffer_printf(b, " %u %u", n_model, n_data);
}

static const struct query {
    const char *name;
    enum hal_version since;
    void (*put)(struct hal_driver *d, enum hal_version v, struct buffer *b);
} queries[CONFORM_QUERIES] = {
    { "get_capabilities", HAL_1_0, put_capabilities },
    { "get_type", HAL_1_2, put_type },
    { "get_version_string", HAL_1_2, put_version_string },
    { "get_supported_extensions", HAL_1_2, put_extensions },
    { "get_number_of_cache_files_needed", HAL_1_2, put_cache_files },
};

void conform_answers_ask(struct hal_driver *d, enum hal_version version,
                         struct conform_answers *ret_answers)
{
    memset(ret_answers, 0, sizeof *ret_answers);
    for (int i = 0; i < CONFORM_QUERIES; i++)
        if (d->hal_version >= queries[i].since)
            queries[i].put(d, version, &ret_answers->text[i]);
}

bool conform_answers_agree(struct hal_driver *d, enum hal_version version,
                           const struct conform_answers *first, char ret_text[CONFORM_TEXT])
{
    struct conform_answers now;
    bool agree = true;

    conform_answers_ask(d, version, &now);
    for (int i = 0; agree && i < CONFORM_QUERIES; i++) {
        const char *was = buffer_text(&first->text[i]), *is = buffer_text(&now.text[i]);
        agree = strcmp(was, is) == 0;
        snprintf(ret_text, CONFORM_TEXT, "%s: '%.100s', first it was '%.100s'", queries[i].name, is,
                 was);
    }
    conform_answers_done(&now);
    return agree;
}

void conform_answers_done(struct conform_answers *a)
{
    for (int i = 0; i < CONFORM_QUERIES; i++)
        buffer_done(&a->text[i]);
}
