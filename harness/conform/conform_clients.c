#include "harness/conform/conform_clients.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "golden/base/clock.h"
#include "harness/check/buffer.h"

/* Seconds that a client may take to end. */
enum { GRACE = 20 };

/* Why a client has ended. */
struct conform_client_reason {
    bool is_done;
    char text[CONFORM_TEXT];
};

static void note(struct conform_client_reason *r, const char *text)
{
    snprintf(r->text, sizeof r->text, "%s", text ? text : "");
}

/* In the process of the client. */
static _Noreturn void be_client(struct conform *c, unsigned index, conform_client_work *work,
                                void *user, struct conform_client_reason *reason)
{
    const struct hal_driver *before = c->driver;
    struct conform_result *r = c->state->result;
    sigjmp_buf failed;
    struct why why;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    c->state->keep_alive = NULL; /* that of the parent's process */
    r->failures = r->n_findings = 0;
    conform_must_return = &failed;
    if (sigsetjmp(failed, 0) == 0)
        work(c, index, user);
    else
        note(reason, conform_must_text);
    if (!reason->text[0] && r->n_findings)
        note(reason, r->finding[0]);
    if (reason->text[0] && c->driver != before && conform_is_cut_off(c, &why))
        text_append(reason->text, sizeof reason->text, "; %s", why.text);
    reason->is_done = true;
    _exit(r->failures || reason->text[0]);
}

void conform_clients_start(struct conform *c, struct conform_clients *all,
                           conform_client_work *work, void *user)
{
    size_t size = CONFORM_MAX_CLIENTS * sizeof *all->reasons;

    conform_must(all->n <= CONFORM_MAX_CLIENTS, "too many clients");
    all->reasons = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    conform_must(all->reasons != MAP_FAILED, "no memory can be shared with clients");
    for (unsigned i = 0; i < all->n; i++) {
        struct conform_client *x = &all->client[i];
        x->end = CLIENT_RUNS;
        x->process = fork();
        if (x->process == 0)
            be_client(c, i, work, user, &all->reasons[i]);
        conform_must(x->process > 0, "no process can be started");
    }
}

static enum conform_client_end end_of(const struct conform_client *x,
                                      const struct conform_client_reason *r)
{
    if (!WIFEXITED(x->status) || !r->is_done)
        return CLIENT_CRASH;
    return WEXITSTATUS(x->status) ? CLIENT_FAILURE : CLIENT_SUCCESS;
}

bool conform_clients_run(struct conform_clients *all)
{
    uint64_t now = clock_steady_ns();
    bool any = false;

    for (unsigned i = 0; i < all->n; i++) {
        struct conform_client *x = &all->client[i];
        bool dies = x->dies && now >= x->dies;
        bool hangs = now > all->until + UINT64_C(1000000000) * GRACE;
        if (x->end != CLIENT_RUNS)
            continue;
        if (waitpid(x->process, &x->status, WNOHANG) == x->process) {
            x->end = end_of(x, &all->reasons[i]);
        } else if (dies || hangs) {
            kill(x->process, SIGKILL);
            waitpid(x->process, &x->status, 0);
            x->end = dies ? CLIENT_KILLED : CLIENT_HANG;
        } else {
            any = true;
        }
    }
    return any;
}

void conform_clients_expect(struct conform *c, struct conform_clients *all, const char *what)
{
    static const char *const name[] = { "", "SUCCESS", "FAILURE", "CRASH", "HANG", "killed" };

    for (unsigned i = 0; i < all->n; i++) {
        const struct conform_client *x = &all->client[i];
        enum conform_client_end expected = x->dies ? CLIENT_KILLED : CLIENT_SUCCESS;
        char how[64] = "";
        if (x->end == CLIENT_CRASH)
            snprintf(how, sizeof how, WIFSIGNALED(x->status) ? ": signal %d" : ": exit status %d",
                     WIFSIGNALED(x->status) ? WTERMSIG(x->status) : WEXITSTATUS(x->status));
        else if (x->end == CLIENT_HANG)
            snprintf(how, sizeof how, ": no end within %d s", GRACE);
        EXPECT(c, x->end == expected, "%s, client %u of %u: %s%s%s%s; expected %s", what, i + 1,
               all->n, name[x->end], how, all->reasons[i].text[0] ? ": " : "", all->reasons[i].text,
               name[expected]);
    }
    munmap(all->reasons, CONFORM_MAX_CLIENTS * sizeof *all->reasons);
}
