/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random walks in matter that moves, eq. (M10), for imc_kernel.h: the sphere
 * goes with matter, and stays in the cell.
 */
#ifndef STORM_PHYSICS_IMC_DRIFT_WALK_KERNEL_H
#define STORM_PHYSICS_IMC_DRIFT_WALK_KERNEL_H

/* A walk takes at most this part of R^2 / D: one of ten is still inside. */
static const double drift_walk_max = 0.3;
/* Room for rounding of where the sphere goes. */
static const double drift_walk_inside = 1.0 - 1e-9;

/* eq. (M10), of c / D, 1/cm: the radius of a sphere that goes with matter, and
 * the end of the walk, s of the mesh. */
static double drift_radius(const struct imc_motion *m, double light,
                           double clear, double inverse, double *until_s_out)
{
    double beta = sqrt(m->gamma * m->gamma - 1.0) / m->gamma;
    double seconds = inverse * drift_walk_max / light; /* times R^2 */
    double radius =
        2.0 * clear / (1.0 + sqrt(1.0 + 4.0 * beta * light * seconds * clear));
    *until_s_out = beta > 0.0 ? seconds * radius * radius : INFINITY;
    return radius;
}

/* Like imc_sphere_grey, in the frame of matter; with the end of the walk. */
static bool drift_sphere(const struct pass *pass, const struct lane *lane,
                         struct imc_sphere *sphere_out, double *until_s_out)
{
    const struct imc_track *track = pass->imc;
    const struct imc_motion *m = &track->motion[lane->cell];
    const struct imc_cell *cell = &track->cells[lane->cell];
    double sigma = cell->absorb + cell->scatter;
    double light = track->light_cm_s;
    if (!imc_drift_may(m) || cell->scatter < storm_walk_scatter * sigma ||
        sigma * light * lane->time_left_s < storm_walk_depth * m->gamma)
        return false;
    double clear = imc_clearance(pass, lane) * drift_walk_inside;
    double radius = drift_radius(m, light, clear, 3.0 * sigma, until_s_out);
    if (!(radius * sigma >= storm_walk_depth))
        return false;
    *sphere_out = (struct imc_sphere){
        .radius_cm = radius,
        .medium = storm_walk_grey(cell->absorb, cell->scatter),
    };
    return true;
}

/* The same for a packet that has just changed its group. The smaller sphere has
 * fewer groups: D may be less than that of its time, which then ends more walks
 * inside. */
static bool drift_sphere_groups(const struct pass *pass,
                                const struct lane *lane,
                                struct imc_sphere *sphere_out,
                                double *until_s_out)
{
    const struct imc_track *track = pass->imc;
    const struct imc_motion *m = &track->motion[lane->cell];
    double length = track->light_cm_s * lane->time_left_s / m->gamma;
    if (!imc_drift_may(m) || !imc_is_thick(track, lane, length))
        return false;
    double clear = imc_clearance(pass, lane) * drift_walk_inside;
    if (!imc_sphere_mixed(track, lane, clear, length, sphere_out))
        return false;
    double radius =
        drift_radius(m, track->light_cm_s, clear,
                     1.0 / sphere_out->medium.diffusion_cm, until_s_out);
    return imc_sphere_mixed(track, lane, radius, length, sphere_out);
}

/* By a displacement in the frame of matter, and with it; what that is in the
 * frame of the mesh is returned. */
static void drift_walk_move(const struct imc_track *track, struct lane *lane,
                            const double moved0[3], double seconds,
                            double moved_out[3])
{
    const struct imc_motion *m = &track->motion[lane->cell];
    double distance = track->light_cm_s * seconds / m->gamma;
    double shorter = drift_dot(m->u, moved0) / (m->gamma * (m->gamma + 1.0));
    geom_leave(&lane->geom, lane->packet);
    for (int d = 0; d < 3; d++) {
        moved_out[d] = moved0[d] - shorter * m->u[d];
        lane->packet->position_cm[d] += moved_out[d] + distance * m->u[d];
    }
}

static void drift_walk_count(const struct imc_track *track, struct lane *lane,
                             const struct imc_sphere *sphere, storm_exact path,
                             const double moved[3], double seconds)
{
    const struct imc_motion *m = &track->motion[lane->cell];
    double part = 4.0 / 3.0 * track->light_cm_s * seconds / imc_instant(m);
    const double all[3] = {moved[0] + part * m->u[0], moved[1] + part * m->u[1],
                           moved[2] + part * m->u[2]};
    track->methods->path[IMC_WALKED] += path;
    imc_count_walk(track, lane, sphere, path, all, seconds);
}

/* How a walk ends: at the surface, at the end of the step, in a group that does
 * not walk, or before all that, inside. */
enum drift_walk_end { DRIFT_OUT, DRIFT_CENSUS, DRIFT_LEAK, DRIFT_INSIDE };

/* A group, a direction, and the weight in it. */
static void drift_walk_turn(const struct pass *pass, struct lane *lane,
                            const struct imc_sphere *sphere,
                            enum drift_walk_end end, const double outwards[3])
{
    double v[4], n0[3];
    if (sphere->groups != NULL) {
        storm_packet_random(lane->packet, pass->imc->seed, v);
        lane->packet->group =
            storm_walk_draw(sphere->groups, pass->imc->n_groups,
                            sphere->n_thick,
                            end == DRIFT_OUT    ? STORM_WALK_OUT
                            : end == DRIFT_LEAK ? STORM_WALK_LEAK
                                                : STORM_WALK_CENSUS,
                            v);
    }
    if (end == DRIFT_CENSUS) {
        drift_rest(pass, lane);
        return;
    }
    storm_packet_random(lane->packet, pass->imc->seed, v);
    if (end == DRIFT_OUT)
        imc_outwards(outwards, v, n0);
    else
        storm_isotropic(v[0], v[1], n0);
    drift_leave(pass->imc, lane, n0);
}

/* Returns like imc_retire. */
static bool drift_walk(struct pass *pass, struct lane *lane,
                       const struct imc_sphere *sphere, double until_s,
                       bool analogue)
{
    const struct imc_track *track = pass->imc;
    const struct storm_walk_medium *medium = &sphere->medium;
    struct storm_packet *packet = lane->packet;
    double u[4], v[4], direction[3], moved[3] = {0.0};
    double light = track->light_cm_s / track->motion[lane->cell].gamma;
    imc_count_event(track, lane->cell, STORM_IMC_WALK);
    track->methods->events[IMC_WALKED]++;
    storm_packet_random(packet, track->seed, u);
    storm_packet_random(packet, track->seed, v);
    double whole = sphere->radius_cm + medium->beyond_cm;
    double scale = light * medium->diffusion_cm / (whole * whole);
    double seconds = storm_walk_exit(track->walk, u[0]) / scale;
    enum drift_walk_end end = DRIFT_OUT;
    if (!(seconds < until_s)) {
        seconds = until_s;
        end = DRIFT_INSIDE;
    }
    if (!(seconds < lane->time_left_s)) {
        seconds = lane->time_left_s;
        end = DRIFT_CENSUS;
    }
    if (medium->leak > 0.0) {
        double w[4];
        storm_packet_random(packet, track->seed, w);
        double leak_s = -storm_log(w[0]) / (medium->leak * light);
        if (leak_s < seconds) {
            seconds = leak_s;
            end = DRIFT_LEAK;
        }
    }
    drift_calm(track, lane);
    lane->imc.absorb_s = medium->absorb * light;
    double absorbed_s =
        analogue ? -storm_log(u[1]) / lane->imc.absorb_s : INFINITY;
    bool is_absorbed = absorbed_s < seconds;
    if (is_absorbed)
        seconds = absorbed_s;
    storm_exact path = imc_spend(track, lane, seconds, analogue);
    if (is_absorbed || !(lane->imc.weight > 0.0)) {
        drift_walk_count(track, lane, sphere, path, moved, seconds);
        return is_absorbed ? imc_absorb(pass, lane)
                           : imc_retire(pass, lane, STORM_FATE_ABSORBED);
    }
    double distance = sphere->radius_cm;
    if (end != DRIFT_OUT) {
        double lost_cm =
            end == DRIFT_LEAK ? medium->leak_lost_cm : medium->lost_cm;
        double theta = scale * (seconds - lost_cm / light);
        distance =
            fmin(distance, whole * storm_walk_radius(track->walk, theta, v));
    }
    storm_isotropic(u[2], u[3], direction);
    const double moved0[3] = {distance * direction[0], distance * direction[1],
                              distance * direction[2]};
    drift_walk_move(track, lane, moved0, seconds, moved);
    drift_walk_count(track, lane, sphere, path, moved, seconds);
    drift_walk_turn(pass, lane, sphere, end, direction);
    imc_count_collision(track, lane);
    imc_draw_depth(pass, packet);
    lane->imc.depth = packet->optical_depth;
    packet->cell_idx = lane->cell;
    geom_enter(&pass->geom, &lane->geom, packet);
    STORM_ASSERT(geom_holds(&pass->geom, &lane->geom, lane->cell));
    return end != DRIFT_CENSUS || imc_retire(pass, lane, STORM_FATE_CENSUS);
}

#endif /* STORM_PHYSICS_IMC_DRIFT_WALK_KERNEL_H */
