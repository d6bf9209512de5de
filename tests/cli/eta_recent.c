/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST timeout: 20 */
/* ETA-1, ETA-2: the time that is left follows from recent steps, and from
 * nothing before there are some. */
#include <math.h>

#include "../../tools/storm/eta.h"
#include "support/check.h"

static int close_to(double value, double want)
{
    return fabs(value - want) <= 1e-9 * want;
}

/* 100 steps of 1 s, then 100 of 10 s: after the first slow ones the mean of
 * all steps is far off. */
static void check_slower(void)
{
    struct eta eta = {.n = 0};
    double now = 0.0;
    eta_add(&eta, now, 0.0);
    CHECK(eta_left_s(&eta) < 0.0);
    for (int step = 1; step <= 150; step++) {
        now += step <= 100 ? 1.0 : 10.0;
        eta_add(&eta, now, step / 200.0);
        CHECK(eta.n <= ETA_SAMPLES + 1);
        if (step == 100)
            CHECK(close_to(eta_left_s(&eta), 100.0));
        if (step == 116) /* all that are looked at are slow */
            CHECK(close_to(eta_left_s(&eta), 840.0));
    }
    CHECK(close_to(eta_left_s(&eta), 500.0));
}

/* A restart: half is done before the first report. */
static void check_restart(void)
{
    struct eta eta = {.n = 0};
    eta_add(&eta, 1000.0, 0.5);
    eta_add(&eta, 1000.9, 0.51);
    CHECK(eta_left_s(&eta) < 0.0);
    eta_add(&eta, 1002.0, 0.52);
    CHECK(close_to(eta_left_s(&eta), 48.0));
    eta_add(&eta, 1003.0, 0.1); /* something else begins */
    CHECK(eta_left_s(&eta) < 0.0);
}

/* A thousand steps a second: 8 s of them count, not 16 steps. */
static void check_quick(void)
{
    struct eta eta = {.n = 0};
    for (int step = 0; step <= 20000; step++) {
        double now = 1e-3 * step;
        double fraction =
            step <= 10000 ? 0.2e-4 * step : 0.2 + 0.4e-4 * (step - 10000);
        eta_add(&eta, now, fraction);
    }
    CHECK(close_to(eta_left_s(&eta), 10.0));
    CHECK(eta.n == ETA_SAMPLES + 1);
}

/* No progress at all, and all of it. */
static void check_ends(void)
{
    struct eta eta = {.n = 0};
    for (int i = 0; i < 40; i++)
        eta_add(&eta, i, 0.0);
    CHECK(eta_left_s(&eta) < 0.0);
    for (int i = 0; i < 40; i++)
        eta_add(&eta, 40.0 + i, i / 39.0);
    CHECK(eta_left_s(&eta) == 0.0);
}

int main(void)
{
    check_slower();
    check_restart();
    check_quick();
    check_ends();
    return CHECK_PASS;
}
