/* Files of waivers: rejected with file and line, or every waiver has a reason. */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "harness/check/waivers.h"
#include "tests/fuzz/common/fuzz_client.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    static const char *const names[][2] = { { "spec/V1_2/add_v1_2/add_v1_2_2", "sim:cpu" },
                                            { "random/v1/s1/i0", "lib:x.so" },
                                            { "", "" } };
    int fd = memfd_create("fuzz", MFD_CLOEXEC);
    struct waivers *v = NULL;
    struct why w = { 0 };
    char path[64];

    fuzz_must(fd >= 0 && pwrite(fd, bytes, length, 0) == (ssize_t) length);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (waivers_load(path, length % 2, &v, &w) < 0)
        fuzz_must(strstr(w.text, path) && !v);
    for (int i = 0; v && i < COUNT(names); i++) {
        const char *reason = waivers_find(v, names[i][0], names[i][1]);
        fuzz_must(!reason || *reason);
    }
    waivers_free(v);
    close(fd);
    return 0;
}
