/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The time that is left, from the pace of recent steps.
 *
 *   ETA-1  What counts is the pace of the last ETA_SAMPLES reports, or of the
 *          last ETA_SAMPLES * eta_apart_s seconds where these come faster. A
 *          run whose steps have become longer, or one that was restarted half
 *          way, is not judged by the mean of all steps.
 *   ETA-2  Nothing is known before the reports span a second. If the share that
 *          is done became smaller (other work has begun), it starts again.
 */
#ifndef STORM_TOOLS_ETA_H
#define STORM_TOOLS_ETA_H

#include <stddef.h>

enum { ETA_SAMPLES = 16 };
static const double eta_apart_s = 0.5;

/* All zero: there was no report. */
struct eta {
    struct eta_sample {
        double at_s, fraction;
    } sample[ETA_SAMPLES + 1]; /* oldest first */
    size_t n;
};

/* A report: at a time, this share of the work is done. The newest sample moves
 * along until it is as far from the one before as samples are apart. */
static inline void eta_add(struct eta *eta, double now_s, double fraction)
{
    struct eta_sample *s = eta->sample;
    if (eta->n > 0 && fraction < s[eta->n - 1].fraction)
        eta->n = 0;
    if (eta->n > 1 && s[eta->n - 1].at_s - s[eta->n - 2].at_s < eta_apart_s)
        eta->n--;
    if (eta->n == ETA_SAMPLES + 1) {
        for (size_t i = 0; i < ETA_SAMPLES; i++)
            s[i] = s[i + 1];
        eta->n--;
    }
    s[eta->n++] = (struct eta_sample){now_s, fraction};
}

/* Seconds; below 0: too early to tell. */
static inline double eta_left_s(const struct eta *eta)
{
    const struct eta_sample *s = eta->sample;
    if (eta->n < 2)
        return -1.0;
    double spent = s[eta->n - 1].at_s - s[0].at_s;
    double done = s[eta->n - 1].fraction - s[0].fraction;
    if (spent < 1.0 || !(done > 0.0))
        return -1.0;
    return spent / done * (1.0 - s[eta->n - 1].fraction);
}

#endif /* STORM_TOOLS_ETA_H */
