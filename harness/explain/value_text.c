#include "harness/explain/value_text.h"

#include <inttypes.h>
#include <stdio.h>

#include "harness/check/buffer.h"
#include "harness/explain/subject.h"

const char *value_text(const struct tensor *t, size_t element, char text[VALUE_TEXT])
{
    if (dtype_info[t->dtype].codec->size == sizeof(int64_t))
        snprintf(text, VALUE_TEXT, "%" PRId64, ((const int64_t *) t->data)[element]);
    else if (tensor_step_of(t, element) > 0)
        snprintf(text, VALUE_TEXT, "%.0f (%.9g)", tensor_stored(t, element), tensor_at(t, element));
    else
        snprintf(text, VALUE_TEXT, "%.9g", tensor_at(t, element));
    return text;
}

const char *unrounded_text(const struct tensor *t, size_t element, double real,
                           char text[VALUE_TEXT])
{
    const double step = tensor_step_of(t, element);

    if (step > 0)
        snprintf(text, VALUE_TEXT, "%.7g (%.9g)", real / step + t->zero, real);
    else
        snprintf(text, VALUE_TEXT, "%.9g", real);
    return text;
}

const char *error_text(const struct tensor *t, size_t element, double error, char text[VALUE_TEXT])
{
    const double step = tensor_step_of(t, element);

    if (step > 0)
        snprintf(text, VALUE_TEXT, "%.4g steps (%.4g)", error / step, error);
    else
        snprintf(text, VALUE_TEXT, "%.4g", error);
    return text;
}

const char *type_text(const struct tensor *t, char text[TYPE_TEXT])
{
    const struct dtype_info *d = dtype_find((int32_t) t->dtype);
    char shape[SHAPE_TEXT];

    snprintf(text, TYPE_TEXT, "%s%s%s", d ? d->name : "?", d && d->tensor ? " " : "",
             d && d->tensor ? shape_text(&t->shape, shape) : "");
    if (t->channel_scale)
        text_append(text, TYPE_TEXT, ", %u scales along dimension %u", t->n_channels,
                    t->channel_dim);
    else if (t->scale != 0)
        text_append(text, TYPE_TEXT, ", scale %.9g, zero point %d", (double) t->scale, t->zero);
    return text;
}
