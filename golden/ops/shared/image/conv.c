#include "golden/ops/shared/image/conv.h"

const struct role conv_out[1] = {
    { "output", "the feature map", "N??O", .slot = 3, .image = true },
};

const struct typing conv_typings[6] = {
    /*               input   filter  bias    output */
    { L1, RANK(4), { DT_F32, DT_F32, DT_F32, DT_F32 } },
    { L1, RANK(4), { DT_U8, DT_U8, DT_I32, DT_U8 } },
    { L3, RANK(4), { DT_F16, DT_F16, DT_F16, DT_F16 } },
    { L3, RANK(4), { DT_U8, DT_PC8, DT_I32, DT_U8 } },
    { L4, RANK(4), { DT_S8, DT_S8, DT_I32, DT_S8 } },
    { L4, RANK(4), { DT_S8, DT_PC8, DT_I32, DT_S8 } },
};

const struct typing conv_typings_l3[6] = {
    /*               input   filter  bias    output */
    { L3, RANK(4), { DT_F32, DT_F32, DT_F32, DT_F32 } },
    { L3, RANK(4), { DT_F16, DT_F16, DT_F16, DT_F16 } },
    { L3, RANK(4), { DT_U8, DT_U8, DT_I32, DT_U8 } },
    { L3, RANK(4), { DT_U8, DT_PC8, DT_I32, DT_U8 } },
    { L4, RANK(4), { DT_S8, DT_S8, DT_I32, DT_S8 } },
    { L4, RANK(4), { DT_S8, DT_PC8, DT_I32, DT_S8 } },
};

int conv_check_channels(const struct tensor *filter, uint32_t dim, struct why *w)
{
    REQUIRE(w, filter->dtype != DT_PC8 || filter->channel_dim == dim,
            "filter has its scales along dimension %u, must be %u", filter->channel_dim, dim);
    return 0;
}
