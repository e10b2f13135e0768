/* The kernel tables of devices with float and with fixed-point arithmetic. */
#include "sim/kernels/kernel.h"

const struct kernel *const float_tables[] = {
    integer_kernels,
    order_kernels,
    lookup_kernels,
    quantised_cell_kernels,
    float_elementwise_kernels,
    float_axis_kernels,
    float_matrix_kernels,
    float_window_kernels,
    float_region_kernels,
    float_recurrent_kernels,
    float_detection_kernels,
    float_keypoint_kernels,
    float_random_kernels,
    NULL,
};

const struct kernel *const fixed_tables[] = {
    integer_kernels,
    order_kernels,
    lookup_kernels,
    quantised_cell_kernels,
    fixed_elementwise_kernels,
    fixed_table_kernels,
    fixed_window_kernels,
    fixed_image_kernels,
    NULL,
};
