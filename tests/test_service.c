/* A service and its clients: many at once, some that are killed, a service that is. */
#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/sim.h"
#include "tests/service_lab.h"

enum { N = 4, PROCESSES = 6, ROUNDS = 4 };

static struct why w;

START_TEST(clients_that_are_killed_leave_nothing_and_hurt_nobody)
{
    struct holdings before = lab_at_rest(lab_service);
    pid_t client[PROCESSES];
    uint32_t seed = 7;
    int status;

    for (uint32_t round = 0; round < ROUNDS; round++) {
        for (uint32_t i = 0; i < PROCESSES; i++)
            client[i] = lab_start_client(round * PROCESSES + i);
        for (int i = 0; i < PROCESSES / 2; i++) {
            lab_sleep_ms(lab_random(&seed) % 60);
            kill(client[i], SIGKILL);
        }
        for (int i = 0; i < PROCESSES; i++) {
            ck_assert_int_eq(waitpid(client[i], &status, 0), client[i]);
            ck_assert_msg(status == 0 || (i < PROCESSES / 2 && WIFSIGNALED(status)),
                          "client %d of round %u ends with %x", i, round, (unsigned) status);
        }
    }
    lab_check_at_rest(lab_service, before);
    ck_assert(lab_work(99, LAB_TURNS));
}
END_TEST

START_TEST(a_service_that_is_killed_leaves_its_clients_nothing)
{
    ck_assert(lab_work(1, 1));
    struct holdings before = lab_at_rest(getpid());
    for (uint32_t round = 0; round < LAB_LIVES - 1; round++) {
        ck_assert(lab_work(round, 0));
        ck_assert_int_eq(waitpid(lab_service, NULL, 0), lab_service);
        lab_start_service();
    }
    lab_check_at_rest(getpid(), before);
    ck_assert(lab_work(99, LAB_TURNS));
}
END_TEST

START_TEST(a_dead_service_is_a_verdict_and_a_new_one_is_found)
{
    struct client_model m;
    struct client_request r;
    struct target *t;
    struct outcome o;
    char uri[100];

    client_add_model(&m, N, false);
    client_fill(&r, N);
    struct tensor in[] = { m.b.graph->operand[0].tensor, m.b.graph->operand[1].tensor };
    const struct shape shape = DIMS(N);
    in[0].data = r.x;
    in[1].data = r.y;
    snprintf(uri, sizeof uri, "unix:%s", lab_path);
    ck_assert_int_eq(target_open(uri, NULL, &t, &w), 0);
    for (int life = 0; life < LAB_LIVES - 1; life++) {
        ck_assert_int_eq(target_run(t, &m.b.model, in, &shape, NULL, &o, &w), 0);
        ck_assert(!o.died && o.status == HAL_NONE);
        outcome_done(&o);
        kill(lab_service, SIGKILL);
        ck_assert_int_eq(waitpid(lab_service, NULL, 0), lab_service);
        for (int turn = 0; turn < 2; turn++) {
            ck_assert_int_eq(target_run(t, &m.b.model, in, &shape, NULL, &o, &w), 0);
            ck_assert(o.died);
            outcome_done(&o);
        }
        lab_start_service();
    }
    target_free(t);
    client_done(&m);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("service");
    TCase *c = tcase_create("service");

    tcase_add_checked_fixture(c, lab_open, lab_close);
    tcase_add_test(c, clients_that_are_killed_leave_nothing_and_hurt_nobody);
    tcase_add_test(c, a_service_that_is_killed_leaves_its_clients_nothing);
    tcase_add_test(c, a_dead_service_is_a_verdict_and_a_new_one_is_found);
    suite_add_tcase(s, c);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
