/* Convolutions, FULLY_CONNECTED and pooling: small results computed by hand.  Random convolutions:
 * test_ops_convolve.c. */
#include <check.h>
#include <math.h>
#include <string.h>

#include "tests/support/check_main.h"
#include "tests/support/one_op_run.h"

#define I(n)  "INT32: " #n
#define NCHW  "BOOL: 1"
#define NHWC  "BOOL: 0"
#define SAME  I(1)
#define VALID I(2)

/* 1 2 3 / 4 5 6 / 7 8 9 */
#define NINE "F32[1,3,3,1]: 1 2 3 4 5 6 7 8 9"

static const struct one_op convolutions[] = {
    { "conv: valid",
      "CONV_2D",
      1,
      { NINE, "F32[1,2,2,1]: 1 1 1 1", "F32[1]: 0.5", VALID, I(1), I(1), I(0) },
      "F32[1,2,2,1]: 12.5 16.5 24.5 28.5" },
    { "conv: same, the odd padding is at the bottom and right",
      "CONV_2D",
      1,
      { NINE, "F32[1,2,2,1]: 1 1 1 1", "F32[1]: 0", SAME, I(1), I(1), I(0) },
      "F32[1,3,3,1]: 12 16 9 24 28 15 15 17 9" },
    { "conv: same with strides",
      "CONV_2D",
      1,
      { NINE, "F32[1,2,2,1]: 1 1 1 1", "F32[1]: 0", SAME, I(2), I(2), I(0) },
      "F32[1,2,2,1]: 12 9 15 9" },
    { "conv: width and height strides differ",
      "CONV_2D",
      1,
      { NINE, "F32[1,1,1,1]: 1", "F32[1]: 0", VALID, I(2), I(1), I(0) },
      "F32[1,3,2,1]: 1 3 4 6 7 9" },
    { "conv: explicit padding, left and top",
      "CONV_2D",
      1,
      { NINE, "F32[1,2,2,1]: 1 1 1 1", "F32[1]: 0", I(1), I(0), I(1), I(0), I(1), I(1), I(0) },
      "F32[1,3,3,1]: 1 3 5 5 12 16 11 24 28" },
    { "conv: explicit padding, right and bottom",
      "CONV_2D",
      1,
      { NINE, "F32[1,2,2,1]: 1 1 1 1", "F32[1]: 0", I(0), I(1), I(0), I(1), I(2), I(2), I(0) },
      "F32[1,2,2,1]: 12 9 15 9" },
    { "conv: dilation",
      "CONV_2D",
      3,
      { NINE, "F32[1,2,2,1]: 1 10 100 1000", "F32[1]: 0", VALID, I(1), I(1), I(0), NHWC, I(2),
        I(2) },
      "F32[1,1,1,1]: 9731" },
    { "conv: dilation of the width alone",
      "CONV_2D",
      3,
      { NINE, "F32[1,2,2,1]: 1 10 100 1000", "F32[1]: 0", VALID, I(1), I(1), I(0), NHWC, I(2),
        I(1) },
      "F32[1,2,1,1]: 6431 9764" },
    { "conv: dilation with explicit padding",
      "CONV_2D",
      3,
      { NINE, "F32[1,2,2,1]: 1 10 100 1000", "F32[1]: 0", I(0), I(2), I(0), I(0), I(1), I(1), I(0),
        NHWC, I(2), I(2) },
      "F32[1,1,3,1]: 9731 802 903" },
    { "conv: dilation with SAME",
      "CONV_2D",
      3,
      { NINE, "F32[1,2,2,1]: 1 10 100 1000", "F32[1]: 0", SAME, I(1), I(1), I(0), NHWC, I(2),
        I(2) },
      "F32[1,3,3,1]: 5000 6400 500 8020 9731 802 50 64 5" },
    { "conv: channels, NCHW",
      "CONV_2D",
      3,
      { "F32[1,2,2,2]: 1 2 3 4 10 20 30 40", "F32[2,1,1,2]: 1 1 1 -1", "F32[2]: 0.5 0", VALID, I(1),
        I(1), I(0), NCHW },
      "F32[1,2,2,2]: 11.5 22.5 33.5 44.5 -9 -18 -27 -36" },
    { "conv: ReLU6",
      "CONV_2D",
      1,
      { "F32[1,1,3,1]: -1 2 9", "F32[1,1,1,1]: 1", "F32[1]: 0", VALID, I(1), I(1), I(3) },
      "F32[1,1,3,1]: 0 2 6" },
    { "conv: sums are rounded once",
      "CONV_2D",
      1,
      { "F32[1,1,1,3]: 16777216 1 1", "F32[1,1,1,3]: 1 1 1", "F32[1]: 0", VALID, I(1), I(1), I(0) },
      "F32[1,1,1,1]: 16777218" },
    { "conv: sums of halves too",
      "CONV_2D",
      3,
      { "F16[1,1,1,3]: 2048 1 1", "F16[1,1,1,3]: 1 1 1", "F16[1]: 0", VALID, I(1), I(1), I(0) },
      "F16[1,1,1,1]: 2050" },
    { "conv: infinite weights over padding have no effect",
      "CONV_2D",
      1,
      { "F32[1,1,1,1]: 2", "F32[1,1,3,1]: inf 3 nan", "F32[1]: 0", SAME, I(1), I(1), I(0) },
      "F32[1,1,1,1]: 6" },
    { "conv: no batches",
      "CONV_2D",
      0,
      { "F32[0,2,2,1]:", "F32[3,2,2,1]: 1 2 3 4 5 6 7 8 9 10 11 12", "F32[3]: 1 2 3", VALID, I(1),
        I(1), I(0) },
      "F32[0,1,1,3]:" },
    /* (2*4 + -2*-2 + bias) / 8: 2, 0.5, -0.5, -1.5, 1253 */
    { "conv: quantised, ties and saturation",
      "CONV_2D",
      1,
      { "U8[1,1,1,2]*0.5@128: 130 126", "U8[5,1,1,2]*0.25@100: 104 98 104 98 104 98 104 98 104 98",
        "I32[5]*0.125: 4 -8 -16 -24 10012", VALID, I(1), I(1), I(0) },
      "U8[1,1,1,5]*1@10: 12 11 9 8 255" },
    { "conv: quantised ReLU1",
      "CONV_2D",
      1,
      { "U8[1,1,1,1]*0.5@128: 128", "U8[5,1,1,1]*0.25@100: 0 0 0 0 0",
        "I32[5]*0.125: -16 -8 0 5 16", VALID, I(1), I(1), I(2) },
      "U8[1,1,1,5]*0.5@10: 8 8 10 11 12" },
    { "conv: quantised padding is real zero",
      "CONV_2D",
      1,
      { "U8[1,1,2,1]*0.5@128: 130 132", "U8[1,1,3,1]*0.5@100: 101 102 104", "I32[1]*0.25: 0", SAME,
        I(1), I(1), I(0) },
      "U8[1,1,2,1]*1@0: 5 3" },
    { "conv: output scale below the product needs level 3",
      "CONV_2D",
      3,
      { "U8[1,1,1,1]*0.5@0: 3", "U8[1,1,1,1]*0.5@0: 5", "I32[1]*0.25: 0", VALID, I(1), I(1), I(0) },
      "U8[1,1,1,1]*0.25@0: 15" },
    { "conv: filter scale of 1 needs level 3",
      "CONV_2D",
      3,
      { "U8[1,1,1,1]*0.5@0: 3", "U8[1,1,1,1]*1@0: 5", "I32[1]*0.5: 0", VALID, I(1), I(1), I(0) },
      "U8[1,1,1,1]*0.75@0: 10" },
    /* channel 0: (3*2 + 2) * 0.5 = 4; channel 1: (3*-4 + 2) * 0.25 = -2.5 */
    { "conv: per channel",
      "CONV_2D",
      3,
      { "U8[1,1,1,1]*1@4: 7", "PC8[2,1,1,1]*0.5,0.25|0: 2 -4", "I32[2]: 2 2", VALID, I(1), I(1),
        I(0) },
      "U8[1,1,1,2]*1@100: 104 97" },
    { "conv: per channel, signed",
      "CONV_2D",
      4,
      { "S8[1,1,1,1]*1@-4: -1", "PC8[2,1,1,1]*0.5,0.25|0: 2 -4", "I32[2]: 2 2", VALID, I(1), I(1),
        I(0) },
      "S8[1,1,1,2]*1@-100: -96 -103" },
    { "conv: signed",
      "CONV_2D",
      4,
      { "S8[1,1,1,2]*0.5@0: 2 -2", "S8[1,1,1,2]*0.25@0: 4 -2", "I32[1]*0.125: 4", VALID, I(1), I(1),
        I(0) },
      "S8[1,1,1,1]*1@-128: -126" },

    { "depthwise: multiplier",
      "DEPTHWISE_CONV_2D",
      1,
      { "F32[1,1,2,2]: 1 10 2 20", "F32[1,1,2,4]: 1 2 3 4 5 6 7 8", "F32[4]: 0 0 0 1000", VALID,
        I(1), I(1), I(2), I(0) },
      "F32[1,1,1,4]: 11 14 170 1200" },
    { "depthwise: NCHW, same",
      "DEPTHWISE_CONV_2D",
      3,
      { "F32[1,2,1,2]: 1 2 10 20", "F32[1,1,2,2]: 1 3 5 7", "F32[2]: 0 0", SAME, I(1), I(1), I(1),
        I(0), NCHW },
      "F32[1,2,1,2]: 11 2 170 60" },
    { "depthwise: dilation, explicit padding",
      "DEPTHWISE_CONV_2D",
      3,
      { NINE, "F32[1,2,2,1]: 1 10 100 1000", "F32[1]: 0", I(2), I(0), I(0), I(0), I(1), I(1), I(1),
        I(0), NHWC, I(2), I(2) },
      "F32[1,1,3,1]: 7010 8020 9731" },
    { "depthwise: half",
      "DEPTHWISE_CONV_2D",
      3,
      { "F16[1,1,3,1]: 2048 1 1", "F16[1,1,3,1]: 1 1 1", "F16[1]: 0", VALID, I(1), I(1), I(1),
        I(0) },
      "F16[1,1,1,1]: 2050" },
    { "depthwise: quantised",
      "DEPTHWISE_CONV_2D",
      1,
      { "U8[1,1,1,2]*0.5@128: 130 126", "U8[1,1,1,2]*0.25@100: 104 98", "I32[2]*0.125: 4 -8", VALID,
        I(1), I(1), I(1), I(0) },
      "U8[1,1,1,2]*1@10: 12 9" },
    { "depthwise: per channel",
      "DEPTHWISE_CONV_2D",
      3,
      { "U8[1,1,1,1]*1@4: 7", "PC8[1,1,1,2]*0.5,0.25|3: 2 -4", "I32[2]: 2 2", VALID, I(1), I(1),
        I(2), I(0) },
      "U8[1,1,1,2]*1@100: 104 97" },
    { "depthwise: signed, per channel",
      "DEPTHWISE_CONV_2D",
      4,
      { "S8[1,1,1,1]*1@-4: -1", "PC8[1,1,1,2]*0.5,0.25|3: 2 -4", "I32[2]: 2 2", VALID, I(1), I(1),
        I(2), I(0) },
      "S8[1,1,1,2]*1@-100: -96 -103" },

    { "fully connected",
      "FULLY_CONNECTED",
      1,
      { "F32[2,3]: 1 2 3 4 5 6", "F32[2,3]: 1 1 1 1 0 -1", "F32[2]: 10 0", I(0) },
      "F32[2,2]: 16 -2 25 -2" },
    { "fully connected: flattened, rows of weights span dimensions",
      "FULLY_CONNECTED",
      1,
      { "F32[2,1,2,2]: 1 2 3 4 5 6 7 8", "F32[1,4]: 1 10 100 1000", "F32[1]: 0", I(0) },
      "F32[2,1]: 4321 8765" },
    { "fully connected: one batch becomes several",
      "FULLY_CONNECTED",
      1,
      { "F32[1,4]: 1 2 3 4", "F32[1,2]: 1 10", "F32[1]: 0", I(1) },
      "F32[2,1]: 21 43" },
    { "fully connected: no batches",
      "FULLY_CONNECTED",
      0,
      { "F32[0,4]:", "F32[2,4]: 1 2 3 4 5 6 7 8", "F32[2]: 0 0", I(0) },
      "F32[0,2]:" },
    { "fully connected: half",
      "FULLY_CONNECTED",
      3,
      { "F16[1,3]: 2048 1 1", "F16[1,3]: 1 1 1", "F16[1]: 0", I(0) },
      "F16[1,1]: 2050" },
    { "fully connected: quantised",
      "FULLY_CONNECTED",
      1,
      { "U8[1,2]*0.5@128: 130 126", "U8[3,2]*0.25@100: 104 98 104 98 104 98",
        "I32[3]*0.125: 4 -8 -16", I(0) },
      "U8[1,3]*1@10: 12 11 9" },
    { "fully connected: scale below the product needs level 3",
      "FULLY_CONNECTED",
      3,
      { "U8[1,1]*0.5@0: 3", "U8[1,1]*0.5@0: 5", "I32[1]*0.25: 0", I(0) },
      "U8[1,1]*0.25@0: 15" },
    { "fully connected: signed",
      "FULLY_CONNECTED",
      4,
      { "S8[1,2]*0.5@0: 2 -2", "S8[1,2]*0.25@0: 4 -2", "I32[1]*0.125: 4", I(0) },
      "S8[1,1]*1@-128: -126" },
};

static const struct one_op pools[] = {
    { "average: padding does not count",
      "AVERAGE_POOL_2D",
      1,
      { NINE, I(1), I(0), I(1), I(0), I(2), I(2), I(2), I(2), I(0) },
      "F32[1,2,2,1]: 1 2.5 5.5 7" },
    { "average: same",
      "AVERAGE_POOL_2D",
      1,
      { NINE, SAME, I(1), I(1), I(2), I(2), I(0) },
      "F32[1,3,3,1]: 3 4 4.5 6 7 7.5 7.5 8.5 9" },
    { "average: width and height differ",
      "AVERAGE_POOL_2D",
      1,
      { NINE, VALID, I(2), I(1), I(3), I(1), I(0) },
      "F32[1,3,1,1]: 2 5 8" },
    { "average: NCHW",
      "AVERAGE_POOL_2D",
      3,
      { "F32[1,2,1,2]: 1 3 10 30", VALID, I(1), I(1), I(2), I(1), I(0), NCHW },
      "F32[1,2,1,1]: 2 20" },
    { "average: half",
      "AVERAGE_POOL_2D",
      3,
      { "F16[1,1,3,1]: 2048 1 1", VALID, I(1), I(1), I(3), I(1), I(0) },
      "F16[1,1,1,1]: 683.33" },
    { "average: quantised ties go away from zero",
      "AVERAGE_POOL_2D",
      1,
      { "U8[1,1,4,1]*0.5@128: 129 130 127 126", VALID, I(2), I(1), I(2), I(1), I(0) },
      "U8[1,1,2,1]*0.5@128: 130 126" },
    { "average: signed, ReLU6",
      "AVERAGE_POOL_2D",
      4,
      { "S8[1,1,4,1]*0.5@-10: -20 -20 100 100", VALID, I(2), I(1), I(2), I(1), I(3) },
      "S8[1,1,2,1]*0.5@-10: -10 2" },
    { "average: no batches",
      "AVERAGE_POOL_2D",
      0,
      { "F32[0,3,3,2]:", VALID, I(1), I(1), I(2), I(2), I(0) },
      "F32[0,2,2,2]:" },
    { "maximum: of negative numbers, padding does not count",
      "MAX_POOL_2D",
      1,
      { "F32[1,2,2,1]: -1 -2 -3 -4", I(1), I(1), I(1), I(1), I(1), I(1), I(2), I(2), I(0) },
      "F32[1,3,3,1]: -1 -1 -2 -1 -1 -2 -3 -3 -4" },
    { "maximum: channels are independent",
      "MAX_POOL_2D",
      1,
      { "F32[1,1,3,2]: 1 9 5 2 3 4", VALID, I(1), I(1), I(2), I(1), I(0) },
      "F32[1,1,2,2]: 5 9 5 4" },
    { "maximum: NaN",
      "MAX_POOL_2D",
      1,
      { "F32[1,1,3,1]: nan 1 2", VALID, I(1), I(1), I(2), I(1), I(0) },
      "F32[1,1,2,1]: nan 2" },
    { "maximum: quantised",
      "MAX_POOL_2D",
      1,
      { "U8[1,1,3,1]*2@100: 3 200 7", VALID, I(1), I(1), I(2), I(1), I(0) },
      "U8[1,1,2,1]*2@100: 200 200" },
    { "maximum: signed, NCHW",
      "MAX_POOL_2D",
      4,
      { "S8[1,2,1,2]*2@0: -3 -2 7 1", VALID, I(1), I(1), I(2), I(1), I(0), NCHW },
      "S8[1,2,1,1]*2@0: -2 7" },
    { "maximum: half, same",
      "MAX_POOL_2D",
      3,
      { "F16[1,1,3,1]: 3 1 2", SAME, I(2), I(1), I(2), I(1), I(2) },
      "F16[1,1,2,1]: 1 1" },
    { "L2: root of the mean square",
      "L2_POOL_2D",
      1,
      { "F32[1,1,4,1]: 3 -4 0 8", SAME, I(2), I(1), I(2), I(1), I(0) },
      "F32[1,1,2,1]: 3.53553390593 5.65685424949" },
    { "L2: padding does not count",
      "L2_POOL_2D",
      1,
      { "F32[1,1,1,1]: -5", I(1), I(1), I(0), I(0), I(1), I(1), I(2), I(1), I(0) },
      "F32[1,1,2,1]: 5 5" },
    { "L2: half, NCHW",
      "L2_POOL_2D",
      3,
      { "F16[1,2,1,2]: 3 -4 300 -400", VALID, I(1), I(1), I(2), I(1), I(0), NCHW },
      "F16[1,2,1,1]: 3.53553390593 353.553390593" },
};

#define CONV_OF(image, filter) image, filter, "F32[1]: 0"
#define ONE                    "F32[1,1,1,1]: 1"
#define FOUR_OUT               "F32[1,2,2,1]: 0 0 0 0"

static const struct {
    struct one_op c;
    enum why_code code;
    const char *text;
} refusals[] = {
    { { "stride", "CONV_2D", 0, { CONV_OF(NINE, ONE), VALID, I(0), I(1), I(0) }, FOUR_OUT },
      WHY_EXECUTION,
      "stride 0" },
    { { "scheme", "CONV_2D", 0, { CONV_OF(NINE, ONE), I(3), I(1), I(1), I(0) }, FOUR_OUT },
      WHY_EXECUTION,
      "scheme 3" },
    { { "activation", "CONV_2D", 0, { CONV_OF(NINE, ONE), VALID, I(1), I(1), I(4) }, FOUR_OUT },
      WHY_EXECUTION,
      "activation 4" },
    { { "negative padding",
        "CONV_2D",
        0,
        { CONV_OF(NINE, ONE), I(0), I(0), I(-1), I(0), I(1), I(1), I(0) },
        FOUR_OUT },
      WHY_EXECUTION,
      "-1" },
    { { "windows in padding only",
        "CONV_2D",
        0,
        { CONV_OF(NINE, ONE), I(0), I(1), I(0), I(0), I(1), I(1), I(0) },
        FOUR_OUT },
      WHY_EXECUTION,
      "less than the dilated kernel" },
    { { "kernel larger than the image",
        "CONV_2D",
        0,
        { CONV_OF(ONE, "F32[1,1,2,1]: 1 1"), VALID, I(1), I(1), I(0) },
        FOUR_OUT },
      WHY_EXECUTION,
      "kernel size 2" },
    { { "dilated kernel larger than the image",
        "CONV_2D",
        0,
        { CONV_OF(NINE, "F32[1,1,2,1]: 1 1"), VALID, I(1), I(1), I(0), NHWC, I(3), I(1) },
        FOUR_OUT },
      WHY_EXECUTION,
      "kernel size 4" },
    { { "dilation",
        "CONV_2D",
        0,
        { CONV_OF(NINE, ONE), VALID, I(1), I(1), I(0), NHWC, I(1), I(0) },
        FOUR_OUT },
      WHY_EXECUTION,
      "dilation 0" },
    { { "one dilation",
        "CONV_2D",
        0,
        { CONV_OF(NINE, ONE), VALID, I(1), I(1), I(0), NHWC, I(1) },
        FOUR_OUT },
      WHY_INVALID,
      "no form takes 9" },
    { { "huge operands do not overflow",
        "CONV_2D",
        0,
        { CONV_OF(NINE, "F32[1,2,2,1]: 0 0 0 0"), VALID, I(1), I(1), I(0), NHWC, I(2147483647),
          I(2147483647) },
        FOUR_OUT },
      WHY_EXECUTION,
      "kernel size 2147483648" },
    { { "depth of the filter",
        "CONV_2D",
        0,
        { CONV_OF(NINE, "F32[1,1,1,2]: 1 1"), VALID, I(1), I(1), I(0) },
        FOUR_OUT },
      WHY_EXECUTION,
      "filter" },
    { { "rank",
        "CONV_2D",
        0,
        { CONV_OF("F32[3,3,1]: 1 2 3 4 5 6 7 8 9", ONE), VALID, I(1), I(1), I(0) },
        FOUR_OUT },
      WHY_EXECUTION,
      "rank 3" },
    { { "scale of the bias",
        "CONV_2D",
        0,
        { "U8[1,1,1,1]*0.5@0: 3", "U8[1,1,1,1]*0.5@0: 5", "I32[1]*0.5: 0", VALID, I(1), I(1),
          I(0) },
        "U8[1,1,1,1]*1@0: 0" },
      WHY_INVALID,
      "bias has scale 0.5" },
    { { "scale of a per-channel bias",
        "CONV_2D",
        0,
        { "U8[1,1,1,1]*0.5@0: 3", "PC8[1,1,1,1]*0.5|0: 5", "I32[1]*0.25: 0", VALID, I(1), I(1),
          I(0) },
        "U8[1,1,1,1]*1@0: 0" },
      WHY_INVALID,
      "bias has scale" },
    { { "channel dimension",
        "CONV_2D",
        0,
        { "U8[1,1,1,1]*0.5@0: 3", "PC8[1,1,1,1]*0.5|3: 5", "I32[1]: 0", VALID, I(1), I(1), I(0) },
        "U8[1,1,1,1]*1@0: 0" },
      WHY_EXECUTION,
      "dimension 3, must be 0" },
    { { "channel dimension",
        "DEPTHWISE_CONV_2D",
        0,
        { "U8[1,1,1,1]*0.5@0: 3", "PC8[1,1,1,1]*0.5|0: 5", "I32[1]: 0", VALID, I(1), I(1), I(1),
          I(0) },
        "U8[1,1,1,1]*1@0: 0" },
      WHY_EXECUTION,
      "dimension 0, must be 3" },
    { { "multiplier",
        "DEPTHWISE_CONV_2D",
        0,
        { CONV_OF(NINE, ONE), VALID, I(1), I(1), I(2), I(0) },
        FOUR_OUT },
      WHY_EXECUTION,
      "multiplier 2" },
    { { "no multiplier",
        "DEPTHWISE_CONV_2D",
        0,
        { CONV_OF(NINE, ONE), VALID, I(1), I(1), I(0), I(0) },
        FOUR_OUT },
      WHY_EXECUTION,
      "multiplier 0" },
    { { "input that is no multiple of the depth",
        "FULLY_CONNECTED",
        0,
        { "F32[1,3]: 1 2 3", "F32[1,2]: 1 1", "F32[1]: 0", I(0) },
        "F32[1,1]: 0" },
      WHY_EXECUTION,
      "multiple of input_size 2" },
    { { "rank 1",
        "FULLY_CONNECTED",
        0,
        { "F32[2]: 1 2", "F32[1,2]: 1 1", "F32[1]: 0", I(0) },
        "F32[1,1]: 0" },
      WHY_EXECUTION,
      "rank 1" },
    { { "scale differs from the input",
        "MAX_POOL_2D",
        0,
        { "U8[1,1,1,1]*1@0: 3", VALID, I(1), I(1), I(1), I(1), I(0) },
        "U8[1,1,1,1]*2@0: 0" },
      WHY_INVALID,
      "scale" },
    { { "window in padding",
        "AVERAGE_POOL_2D",
        0,
        { NINE, I(2), I(0), I(0), I(0), I(1), I(1), I(2), I(2), I(0) },
        FOUR_OUT },
      WHY_EXECUTION,
      "less than the dilated kernel" },
    { { "empty window",
        "AVERAGE_POOL_2D",
        0,
        { NINE, VALID, I(1), I(1), I(0), I(1), I(0) },
        FOUR_OUT },
      WHY_EXECUTION,
      "kernel is 0" },
    { { "quantised L2",
        "L2_POOL_2D",
        0,
        { "U8[1,1,1,1]*1@0: 3", VALID, I(1), I(1), I(1), I(1), I(0) },
        "U8[1,1,1,1]*1@0: 0" },
      WHY_INVALID,
      "L2_POOL_2D" },
};

START_TEST(convolution_case)
{
    one_op_check(&convolutions[_i]);
}
END_TEST

START_TEST(pool_case)
{
    one_op_check(&pools[_i]);
}
END_TEST

START_TEST(invalid_case_is_rejected)
{
    one_op_check_rejected(&refusals[_i].c, refusals[_i].code, refusals[_i].text);
}
END_TEST

/* Runs a single operation with bounds. */
static void bounds_of(const struct one_op *c, struct one_op_run *r)
{
    struct exec_options options = { .bounds = true };
    struct why w = { 0 };

    ck_assert_msg(one_op_start(r, c, &options, &w) == 0, "%s", w.text);
}

START_TEST(bounds_of_pools_are_narrow)
{
    static const struct one_op maximum = {
        "maximum", "MAX_POOL_2D", 0, { NINE, VALID, I(1), I(1), I(2), I(2), I(0) }, FOUR_OUT
    };
    static const struct one_op average = {
        "average", "AVERAGE_POOL_2D", 0, { NINE, VALID, I(1), I(1), I(2), I(2), I(0) }, FOUR_OUT
    };
    static const struct one_op l2 = {
        "L2", "L2_POOL_2D", 0, { NINE, VALID, I(1), I(1), I(2), I(2), I(0) }, FOUR_OUT
    };
    struct one_op_run r;

    bounds_of(&maximum, &r);
    for (int i = 0; i < 4; i++)
        ck_assert_double_eq(r.result.bound[0][i], 0);
    one_op_done(&r);
    bounds_of(&average, &r);
    for (int i = 0; i < 4; i++)
        ck_assert(r.result.bound[0][i] > 0 && r.result.bound[0][i] < 2e-5);
    one_op_done(&r);
    bounds_of(&l2, &r);
    for (int i = 0; i < 4; i++)
        ck_assert(r.result.bound[0][i] > 0 && r.result.bound[0][i] < 2e-5);
    one_op_done(&r);
}
END_TEST

/* Products that overflow have infinite bounds, never NaN. */
START_TEST(infinite_inputs_have_infinite_bounds)
{
    static const struct one_op c = { "infinite",
                                     "FULLY_CONNECTED",
                                     0,
                                     { "F32[1,2]: inf 1", "F32[2,2]: 0 1 1 1", "F32[2]: 0 0",
                                       I(0) },
                                     "F32[1,2]: nan inf" };
    struct one_op_run r;

    bounds_of(&c, &r);
    ck_assert(isinf(r.result.bound[0][0]) && isinf(r.result.bound[0][1]));
    one_op_done(&r);
}
END_TEST

Suite *ops_dot_suite(void)
{
    TCase *t = tcase_create("results");

    tcase_add_loop_test(t, convolution_case, 0, COUNT(convolutions));
    tcase_add_loop_test(t, pool_case, 0, COUNT(pools));
    tcase_add_loop_test(t, invalid_case_is_rejected, 0, COUNT(refusals));
    tcase_add_test(t, bounds_of_pools_are_narrow);
    tcase_add_test(t, infinite_inputs_have_infinite_bounds);
    return make_suite("ops_dot", t, NULL);
}
