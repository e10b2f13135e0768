#include "harness/corrupt/cache_events.h"
#include "harness/conform/must.h"

#include <fcntl.h>
#include <unistd.h>

#include "golden/golden.h"

static bool no_change(struct files *f, uint32_t turn)
{
    (void) f;
    return turn < 1;
}

static bool earlier_contents(struct files *f, uint32_t turn)
{
    static const char junk[5000] = "earlier";

    for (uint32_t k = 0; k < f->n_model + f->n_data; k++)
        MUST(write(*files_any(f, k), junk, sizeof junk) == sizeof junk);
    return turn < 1;
}

static bool moved_offset(struct files *f, uint32_t turn)
{
    for (uint32_t k = 0; k < f->n_model + f->n_data; k++)
        MUST(lseek(*files_any(f, k), 33, SEEK_SET) == 33);
    return turn < 1;
}

static bool appending(struct files *f, uint32_t turn)
{
    for (uint32_t k = 0; k < f->n_model + f->n_data; k++)
        files_reopen(files_any(f, k), O_RDWR | O_APPEND);
    return turn < 1;
}

static bool wrong_number(struct files *f, uint32_t turn)
{
    uint32_t *n = turn < 2 ? &f->n_model : &f->n_data;

    *n = turn % 2 || !*n ? *n + 1 : *n - 1;
    return turn < 3;
}

static bool no_file(struct files *f, uint32_t turn)
{
    close(*files_any(f, turn));
    *files_any(f, turn) = -1;
    return turn + 1 < f->n_model + f->n_data;
}

static bool read_only(struct files *f, uint32_t turn)
{
    files_reopen(files_any(f, turn), O_RDONLY);
    return turn + 1 < f->n_model + f->n_data;
}

static bool write_only(struct files *f, uint32_t turn)
{
    files_reopen(files_any(f, turn), O_WRONLY);
    return turn + 1 < f->n_model + f->n_data;
}

static bool not_regular_file(struct files *f, uint32_t turn)
{
    int ends[2];

    close(*files_any(f, turn));
    MUST(pipe(ends) == 0);
    close(ends[1 - turn % 2]);
    *files_any(f, turn) = ends[turn % 2];
    return turn + 1 < f->n_model + f->n_data;
}

/* The number of seeds that the VTS uses. */
enum { SEEDS = 10 };

static uint32_t random_below(uint32_t seed, uint32_t file, uint32_t n)
{
    return (seed * 2654435761u + file * 40503u + 12345u) % n;
}

/* The files of one kind, or of the other kind if there are none. */
struct kind_of_file {
    const int *fd;
    uint32_t n;
};

static struct kind_of_file model_files(const struct files *f)
{
    return f->n_model ? (struct kind_of_file){ f->model, f->n_model }
                      : (struct kind_of_file){ f->data, f->n_data };
}

static struct kind_of_file data_files(const struct files *f)
{
    return f->n_data ? (struct kind_of_file){ f->data, f->n_data }
                     : (struct kind_of_file){ f->model, f->n_model };
}

static bool flip_each(struct kind_of_file files, uint32_t seed)
{
    for (uint32_t k = 0; k < files.n; k++)
        files_flip(files.fd[k], random_below(seed, k, (uint32_t) files_length(files.fd[k])));
    return seed + 1 < SEEDS;
}

static bool flipped_model_bit(struct files *f, uint32_t turn)
{
    return flip_each(model_files(f), turn);
}

static bool flipped_data_bit(struct files *f, uint32_t turn)
{
    return flip_each(data_files(f), turn);
}

static bool append_each(struct kind_of_file files, uint32_t seed)
{
    uint8_t bytes[256];

    for (int i = 0; i < 256; i++)
        bytes[i] = (uint8_t) (seed * 31 + (uint32_t) i);
    for (uint32_t k = 0; k < files.n; k++) {
        size_t more = 1 + random_below(seed, k, 256);
        off_t end = files_length(files.fd[k]);
        MUST(pwrite(files.fd[k], bytes, more, end) == (ssize_t) more);
    }
    return seed + 1 < SEEDS;
}

static bool longer_model(struct files *f, uint32_t turn)
{
    return append_each(model_files(f), turn);
}

static bool longer_data(struct files *f, uint32_t turn)
{
    return append_each(data_files(f), turn);
}

/* One bit in every byte of the headers (72 bytes), then in every 37th byte. */
static bool flipped_bit(struct files *f, uint32_t turn)
{
    uint32_t n = f->n_model + f->n_data, byte = turn / n;
    off_t at = byte < 72 ? byte : 72 + (off_t) (byte - 72) * 37;
    int fd = *files_any(f, turn % n);

    files_flip(fd, at % files_length(fd));
    return byte < 90;
}

static bool longer(struct files *f, uint32_t turn)
{
    static const char bytes[256];
    uint32_t n = f->n_model + f->n_data;
    int fd = *files_any(f, turn % n);
    size_t more = (size_t) 1 << turn / n;

    MUST(pwrite(fd, bytes, more, files_length(fd)) == (ssize_t) more);
    return more < 256;
}

static bool cut_each(struct kind_of_file files, uint32_t turn)
{
    off_t length = files_length(files.fd[turn % files.n]);
    off_t less[] = { length - 1, length / 2, 72, 71, 8, 1, 0 };

    MUST(ftruncate(files.fd[turn % files.n], less[turn / files.n]) == 0);
    return turn + 1 < files.n * (uint32_t) COUNT(less);
}

static bool shorter_model(struct files *f, uint32_t turn)
{
    return cut_each(model_files(f), turn);
}

static bool zeros_in_model(struct files *f, uint32_t turn)
{
    struct kind_of_file files = model_files(f);
    off_t length = files_length(files.fd[turn % files.n]);

    MUST(ftruncate(files.fd[turn % files.n], 0) == 0);
    MUST(ftruncate(files.fd[turn % files.n], length) == 0);
    return turn + 1 < files.n;
}

static bool shorter_data(struct files *f, uint32_t turn)
{
    return cut_each(data_files(f), turn);
}

static bool huge_model(struct files *f, uint32_t turn)
{
    struct kind_of_file files = model_files(f);

    MUST(ftruncate(files.fd[turn % files.n], (off_t) 1 << (turn / files.n ? 40 : 24)) == 0);
    return turn + 1 < 2 * files.n;
}

static bool other_token(struct files *f, uint32_t turn)
{
    f->token[turn / 8] ^= (uint8_t) (1 << turn % 8);
    return turn + 1 < 8 * HAL_TOKEN_BYTES;
}

static bool exchanged(struct files *f, uint32_t turn)
{
    int *a = files_any(f, 0), *b = files_any(f, f->n_model + f->n_data - 1), t = *a;

    if (a == b)
        (void) !ftruncate(t, 0);
    *a = *b;
    *b = t;
    return turn < 1;
}

const struct cache_event cache_events[] = {
    { "C1", "no change", true, no_change, HAL_NONE },
    { "C2", "earlier contents", true, earlier_contents, HAL_NONE },
    { "C2", "an offset when saving", true, moved_offset, HAL_NONE },
    { "C2", "an offset when restoring", false, moved_offset, HAL_NONE },
    { "C2", "open for appending", true, appending, HAL_NONE },
    { "C3", "wrong numbers when saving", true, wrong_number, HAL_INVALID_ARGUMENT, CACHE_FAILURE },
    { "C4", "wrong numbers when restoring", false, wrong_number, HAL_INVALID_ARGUMENT,
      CACHE_FAILURE },
    { "C5", "no file when saving", true, no_file, HAL_GENERAL_FAILURE, CACHE_FAILURE },
    { "C6", "no file when restoring", false, no_file, HAL_GENERAL_FAILURE, CACHE_FAILURE },
    { "C7", "read-only when saving", true, read_only, HAL_GENERAL_FAILURE, CACHE_FAILURE },
    { "C7", "read-only when restoring", false, read_only, HAL_GENERAL_FAILURE, CACHE_FAILURE },
    { "C8", "write-only when saving", true, write_only, HAL_GENERAL_FAILURE },
    { "C8", "write-only when restoring", false, write_only, HAL_GENERAL_FAILURE },
    { "C5", "a pipe when saving", true, not_regular_file, HAL_GENERAL_FAILURE, CACHE_FAILURE },
    { "C6", "a pipe when restoring", false, not_regular_file, HAL_GENERAL_FAILURE, CACHE_FAILURE },
    { "S1", "a bit of each model file", false, flipped_model_bit, HAL_GENERAL_FAILURE, CACHE_STATUS,
      true },
    { "S2", "more bytes of each model file", false, longer_model, HAL_GENERAL_FAILURE },
    { "S3", "a bit of each data file", false, flipped_data_bit, HAL_GENERAL_FAILURE, CACHE_ANY,
      true },
    { "S4", "more bytes of each data file", false, longer_data, HAL_GENERAL_FAILURE, CACHE_ANY },
    { "", "a flipped bit", false, flipped_bit, HAL_GENERAL_FAILURE, CACHE_STATUS, true },
    { "", "appended bytes", false, longer, HAL_GENERAL_FAILURE },
    { "shorter", "missing bytes of a model file", false, shorter_model, HAL_GENERAL_FAILURE,
      CACHE_STATUS, true },
    { "shorter", "zeros instead of a model file", false, zeros_in_model, HAL_GENERAL_FAILURE,
      CACHE_STATUS, true },
    { "shorter", "missing bytes of a data file", false, shorter_data, HAL_GENERAL_FAILURE,
      CACHE_ANY, true },
    { "S2", "a huge model file", false, huge_model, HAL_GENERAL_FAILURE },
    { "S5", "another token", false, other_token, HAL_GENERAL_FAILURE },
    { "C11", "files in another order", false, exchanged, HAL_GENERAL_FAILURE },
};
const int cache_n_events = sizeof cache_events / sizeof *cache_events;
