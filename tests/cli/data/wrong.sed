# Makes the driver of `halcyon new-driver` wrong in the way that its arguments say.
s/^#include "kernels.h"/&\n\n#include <unistd.h>\n\nstatic char wrong[40];\n#define WRONG(x) (strcmp(wrong, x) == 0)/
/? "it takes no arguments"/d
/^    if (d)$/i \
    snprintf(wrong, sizeof(wrong), "%s", arguments);\
    if (WRONG("exit"))\
        _exit(3);\
    if (WRONG("open-crash"))\
        abort();\
    if (WRONG("open-hang"))\
        pause();
/^    callback->notify(callback, status, p/ {
i \
    if (WRONG("prepare-hang"))\
        pause();\
    if (WRONG("mute"))\
        return status;
a \
    if (WRONG("twice"))\
        callback->notify(callback, status, p ? &p->base : NULL);
}
s/^    return run_request(p, version, request, config, result);/    if (WRONG("abort"))\
        abort();\
    if (WRONG("hang"))\
        pause();\
    enum hal_status s = run_request(p, version, request, config, result);\
    uint8_t *in = request->pools[0].memory.address, *out = request->pools[1].memory.address;\
    if (WRONG("status"))\
        return 99;\
    if (WRONG("shapes"))\
        result->n_shapes = 7;\
    if (WRONG("shape"))\
        result->shapes[0].dims[0]++;\
    if (WRONG("too-small"))\
        result->shapes[0].is_sufficient = false;\
    if (WRONG("overrun"))\
        out[request->outputs[0].location.offset + request->outputs[0].location.length] ^= 1;\
    if (WRONG("input"))\
        in[request->inputs[0].location.offset] ^= 1;\
    return WRONG("too-small") ? HAL_OUTPUT_INSUFFICIENT_SIZE : s;/
