#include "sim/wire/wire_quota.h"

#include "sim/base/process_quota.h"

int wire_receive_counted(uint32_t client, int socket, const ProtobufCMessageDescriptor *type,
                         struct arena *a, ProtobufCMessage **ret_message,
                         struct counted_fds *ret_fds, struct why *w)
{
    struct wire_header next;
    int rc = wire_peek(socket, &next, w);

    if (rc <= 0)
        return rc;
    const uint32_t n = next.n_fds + next.is_long;
    bool ok = n == 0 || process_quota_charge(QUOTA_FILES, client, n);

    next.without_fds = !ok;
    rc = wire_receive_next(socket, &next, type, a, ret_message, &ret_fds->fds, w);
    if (rc > 0 && !ok)
        return why_fail(w, WHY_MEMORY, "%u more descriptors exceed the client's quota", n);
    ret_fds->client = client;
    ret_fds->taken = n;
    if (rc <= 0 && ok)
        wire_close_counted_fds(ret_fds);
    return rc;
}

void wire_close_counted_fds(struct counted_fds *fds)
{
    wire_close_fds(&fds->fds);
    if (fds->taken)
        process_quota_release(QUOTA_FILES, fds->client, fds->taken);
}
