/* The formulas of the benchmark, on values worked out by hand. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/bench/bench_metrics.h"
#include "harness/bench/bench_times.h"
#include "harness/bench/image_input.h"
#include "reports/bench_change.h"
#include "tests/support/check_main.h"

static struct bench_times times_of(uint64_t n, uint64_t (*value)(uint64_t i))
{
    struct bench_durations d = { 0 };
    struct why w;

    for (uint64_t i = 0; i < n; i++)
        ck_assert_int_eq(bench_durations_add(&d, value(i), &w), 0);
    const struct bench_times t = bench_times_of(&d);
    bench_durations_done(&d);
    return t;
}

static uint64_t falling(uint64_t i)
{
    return 1000 - i;
}

/* 1000, 999, ..., 1: the p-th percentile is 10 p. */
START_TEST(percentiles_are_of_nearest_rank)
{
    const struct bench_times t = times_of(1000, falling);

    ck_assert_uint_eq(t.n, 1000);
    ck_assert_double_eq(t.mean, 500.5);
    ck_assert_double_eq(t.median, 500.5);
    ck_assert_double_eq(t.p90, 900);
    ck_assert_double_eq(t.p99, 990);
    ck_assert_double_eq(t.least, 1);
    ck_assert_double_eq(t.most, 1000);
    ck_assert_double_eq_tol(t.deviation, sqrt((1000.0 * 1000 - 1) / 12), 1e-9);
    ck_assert_double_eq_tol(t.step, 999.0 / 31, 1e-12);
    /* Bucket 0 has 1 to 33, the last one 1000 alone. */
    ck_assert_uint_eq(t.bucket[0], 33);
    ck_assert_uint_eq(t.bucket[BENCH_BUCKETS - 1], 1);
}
END_TEST

static uint64_t same(uint64_t i)
{
    (void) i;
    return 7;
}

START_TEST(equal_times_are_in_one_bucket)
{
    const struct bench_times t = times_of(3, same), none = times_of(0, same);

    ck_assert_uint_eq(t.bucket[0], 3);
    ck_assert_double_eq(t.deviation, 0);
    ck_assert_double_eq(t.p99, 7);
    ck_assert_uint_eq(none.n, 0);
}
END_TEST

static uint64_t counting(uint64_t i)
{
    return i;
}

/* 0 to 99 in parts of ten: their medians are 4.5, 14.5, ... 94.5; four durations are four parts. */
START_TEST(noise_is_of_parts_in_their_order)
{
    const struct bench_times t = times_of(100, counting), few = times_of(4, counting);

    ck_assert_int_eq(t.parts, 10);
    ck_assert_double_eq(t.low, 4.5);
    ck_assert_double_eq(t.high, 94.5);
    ck_assert_double_eq(t.median, 49.5);
    ck_assert_int_eq(few.parts, 4);
    ck_assert_double_eq(few.low, 0);
    ck_assert_double_eq(few.high, 3);
    ck_assert_int_eq(times_of(0, counting).parts, 0);
}
END_TEST

START_TEST(changes_are_beyond_the_noise_of_both)
{
    const struct bench_median before = { 100, 95, 105, 10 };
    static const struct {
        struct bench_median now;
        enum bench_change change;
    } all[] = {
        { { 120, 106, 130, 10 }, BENCH_SLOWER }, { { 120, 105, 130, 10 }, BENCH_SAME },
        { { 200, 104, 250, 10 }, BENCH_SAME },   { { 80, 70, 94, 10 }, BENCH_FASTER },
        { { 80, 70, 95, 10 }, BENCH_SAME },      { { 120, 110, 130, 4 }, BENCH_UNKNOWN },
        { { 120, 110, 130, 0 }, BENCH_UNKNOWN }, { { 120, 110, 130, 5 }, BENCH_SLOWER },
    };
    /* Without noise it is the least change that decides. */
    const struct bench_median exact = { 1000, 1000, 1000, 10 }, near = { 1009, 1009, 1009, 10 },
                              far = { 1010, 1010, 1010, 10 };

    for (int i = 0; i < COUNT(all); i++)
        ck_assert_int_eq(bench_change_of(&before, &all[i].now), all[i].change);
    ck_assert_int_eq(bench_change_of(&exact, &near), BENCH_SAME);
    ck_assert_int_eq(bench_change_of(&exact, &far), BENCH_SLOWER);
    ck_assert_int_eq(bench_change_of(&far, &exact), BENCH_FASTER);
}
END_TEST

enum { VALUES = 196, FRAME = 49, AMPLITUDES = 40, LOG_F0 = 47, VOICING = 48 };

static void fill_speech(float golden[VALUES], double mean_std[2 * VALUES])
{
    for (int i = 0; i < VALUES; i++) {
        golden[i] = (float) (i % 5);
        mean_std[2 * i] = 1;
        mean_std[2 * i + 1] = 2;
    }
}

/* Every amplitude is 0.5 off before the standard deviation of 2, thus 1 off: the root of the mean
 * of 1 is 1.  Amplitude 0 and the aperiodicities, far off, do not count. */
START_TEST(mel_cepstral_distortion)
{
    float golden[VALUES], a[VALUES];
    double mean_std[2 * VALUES], cep, f0;

    fill_speech(golden, mean_std);
    for (int i = 0; i < VALUES; i++) {
        const int of = i % FRAME;
        a[i] = golden[i] + (of == 0 ? 100 : of < AMPLITUDES ? 0.5f : of < LOG_F0 ? 100 : 0);
    }
    bench_speech_score(a, golden, 1, mean_std, &cep, &f0);
    ck_assert_double_eq_tol(cep, 1, 1e-12);
    ck_assert_double_eq(f0, 0);
}
END_TEST

/* Frames 0 and 1 are voiced in both, 2 in one only; log F0 is 3 * 2 and 4 * 2 off, in frame 2
 * more. */
START_TEST(log_f0_counts_voiced_frames)
{
    float golden[VALUES], a[VALUES];
    double mean_std[2 * VALUES], cep, f0;

    fill_speech(golden, mean_std);
    for (int frame = 0; frame < 4; frame++)
        golden[frame * FRAME + VOICING] = frame < 3 ? 1 : -1;
    memcpy(a, golden, sizeof a);
    a[2 * FRAME + VOICING] = -1;
    a[0 * FRAME + LOG_F0] += 3;
    a[1 * FRAME + LOG_F0] -= 4;
    a[2 * FRAME + LOG_F0] += 50;
    bench_speech_score(a, golden, 1, mean_std, &cep, &f0);
    ck_assert_double_eq(cep, 0);
    ck_assert_double_eq_tol(f0, sqrt((6.0 * 6 + 8 * 8) / 2), 1e-12);
}
END_TEST

/* "kitten" to "sittin" takes two replacements; a shift by one takes an insertion and a removal. */
START_TEST(phones_are_edited)
{
    const int32_t kitten[] = { 'k', 'i', 't', 't', 'e', 'n' },
                  sittin[] = { 's', 'i', 't', 't', 'i', 'n' };
    const int32_t one[] = { 1, 2, 3, 4, 5 }, shifted[] = { 2, 3, 4, 5, 6 };

    ck_assert_double_eq(bench_phone_errors(kitten, sittin, 6), 200.0 / 6);
    ck_assert_double_eq(bench_phone_errors(one, shifted, 5), 40);
    ck_assert_double_eq(bench_phone_errors(one, one, 5), 0);
    ck_assert_double_eq(bench_phone_errors(one, one, 0), 0);
}
END_TEST

START_TEST(overlap_is_intersection_over_union)
{
    const double a[] = { 0, 0, 2, 2 }, half[] = { 0, 1, 2, 3 }, apart[] = { 2, 2, 3, 3 };

    ck_assert_double_eq(bench_overlap(a, a), 1);
    ck_assert_double_eq_tol(bench_overlap(a, half), 2.0 / 6, 1e-15);
    ck_assert_double_eq(bench_overlap(a, apart), 0);
}
END_TEST

/* Class 1 has true boxes in both images, class 2 one in the second.
 *
 *    sure   class  image   right?              recall, precision of class 1
 *    0.9    1      0       yes                 1/2, 1
 *    0.8    1      0       no: taken already   1/2, 1/2
 *    0.7    1      1       yes                 1,   2/3
 *    0.6    2      1       no: overlaps by 1/3
 *
 * Area of class 1: 1/2 * 1 + 1/2 * 2/3 = 5/6; of class 2: 0; mean 5/12. */
START_TEST(mean_precision_is_the_area_under_the_envelope)
{
    struct bench_box in_first[] = { { { 0, 0, 2, 2 }, 1 } };
    struct bench_box in_second[] = { { { 5, 5, 7, 7 }, 1 }, { { 0, 0, 2, 2 }, 2 } };
    struct bench_box found_first[] = { { { 0, 0, 2, 2 }, 1 }, { { 0, 0, 2, 2 }, 1 } };
    struct bench_box found_second[] = { { { 5, 5, 7, 7 }, 1 }, { { 0, 1, 2, 3 }, 2 } };
    double sure_first[] = { 0.9, 0.8 }, sure_second[] = { 0.7, 0.6 };
    const struct bench_boxes truth[] = { { 1, in_first }, { 2, in_second } };
    const struct bench_score score[] = { { .found = { 2, found_first }, .sure = sure_first },
                                         { .found = { 2, found_second }, .sure = sure_second } };
    struct why w;
    double precision;

    ck_assert_int_eq(bench_mean_precision(truth, score, 2, 0.5, &precision, &w), 0);
    ck_assert_double_eq_tol(precision, 5.0 / 12, 1e-15);
    ck_assert_int_eq(bench_mean_precision(truth, score, 2, 0.3, &precision, &w), 0);
    ck_assert_double_eq_tol(precision, (5.0 / 6 + 1) / 2, 1e-15);
}
END_TEST

/* Of 3 changes, 2 or more for the worse: (3 + 1) / 8. */
START_TEST(signs_are_tested)
{
    ck_assert_double_eq_tol(bench_sign_test(2, 1), 0.5, 1e-12);
    ck_assert_double_eq_tol(bench_sign_test(10, 0), 1.0 / 1024, 1e-12);
    ck_assert_double_eq(bench_sign_test(0, 0), 1);
}
END_TEST

/* Two columns, black and white, to four: centres at -1/4, 1/4, 3/4, 5/4 of the columns' distance.
 */
START_TEST(images_are_scaled_bilinearly)
{
    const uint8_t pixel[] = { 0, 0, 0, 255, 255, 255, 0, 0, 0, 255, 255, 255 };
    const struct image image = { 2, 2, pixel };
    uint8_t to[4 * 4 * 3];

    image_scale(&image, PREPROCESS_RESIZE, 4, to);
    for (int y = 0; y < 4; y++)
        for (int c = 0; c < 3; c++) {
            const uint8_t *row = to + y * 12 + c;
            ck_assert_uint_eq(row[0], 0);
            ck_assert_uint_eq(row[3], 63); /* 255 / 4, truncated */
            ck_assert_uint_eq(row[6], 191);
            ck_assert_uint_eq(row[9], 255);
        }
}
END_TEST

/* Of 16 x 8 pixels the middle 7 x 7 remain: from column 5 and row 1 on. */
START_TEST(images_are_cropped_to_the_middle)
{
    uint8_t pixel[16 * 8 * 3], to[7 * 7 * 3];
    const struct image image = { 16, 8, pixel };

    for (int i = 0; i < 16 * 8 * 3; i++)
        pixel[i] = (uint8_t) (i / 3);
    image_scale(&image, PREPROCESS_INCEPTION, 7, to);
    ck_assert_uint_eq(to[0], 1 * 16 + 5);
    ck_assert_uint_eq(to[(7 * 7 - 1) * 3], 7 * 16 + 11);
}
END_TEST

START_TEST(white_wraps_or_saturates)
{
    const uint8_t pixel[] = { 255, 254, 0 };
    uint8_t stored[3];
    float real[3];
    struct tensor t = { .dtype = DT_U8, .shape = { 1, { 3 } }, .data = stored };

    image_store(pixel, PREPROCESS_INCEPTION, 0.007812, 128, &t);
    ck_assert(stored[0] == 0 && stored[1] == 255 && stored[2] == 0);
    image_store(pixel, PREPROCESS_INCEPTION_SATURATED, 0.007812, 128, &t);
    ck_assert(stored[0] == 255 && stored[1] == 255 && stored[2] == 0);
    t.dtype = DT_F32;
    t.data = real;
    image_store(pixel, PREPROCESS_INCEPTION, 0, 0, &t);
    ck_assert(real[0] == 1 && real[2] == -1);
}
END_TEST

Suite *bench_suite(void)
{
    TCase *times = tcase_create("times"), *scores = tcase_create("scores");
    TCase *images = tcase_create("images");

    tcase_add_test(times, percentiles_are_of_nearest_rank);
    tcase_add_test(times, equal_times_are_in_one_bucket);
    tcase_add_test(times, noise_is_of_parts_in_their_order);
    tcase_add_test(times, changes_are_beyond_the_noise_of_both);
    tcase_add_test(scores, mel_cepstral_distortion);
    tcase_add_test(scores, log_f0_counts_voiced_frames);
    tcase_add_test(scores, phones_are_edited);
    tcase_add_test(scores, overlap_is_intersection_over_union);
    tcase_add_test(scores, mean_precision_is_the_area_under_the_envelope);
    tcase_add_test(scores, signs_are_tested);
    tcase_add_test(images, images_are_scaled_bilinearly);
    tcase_add_test(images, images_are_cropped_to_the_middle);
    tcase_add_test(images, white_wraps_or_saturates);
    return make_suite("bench", times, scores, images, NULL);
}
