/* SPDX-License-Identifier: BSD-3-Clause */
/* Random walks, for imc_kernel.h, which includes it among its events; what they
 * are made of is in walk.h. */
#ifndef STORM_PHYSICS_IMC_WALK_KERNEL_H
#define STORM_PHYSICS_IMC_WALK_KERNEL_H

/* Moves the packet by this distance in a random direction, which is
 * returned. */
static void imc_displace(struct lane *lane, double distance, double u0,
                         double u1, double direction_out[3])
{
    geom_leave(&lane->geom, lane->packet);
    storm_isotropic(u0, u1, direction_out);
    for (int d = 0; d < 3; d++)
        lane->packet->position_cm[d] += distance * direction_out[d];
}

/* A direction out of a thick medium, eq. (18): mu is the larger of two or the
 * largest of three numbers. */
static void imc_outwards(const double normal[3], const double u[4],
                         double direction_out[3])
{
    double mu = u[0] > u[1] ? u[0] : u[1];
    if (u[2] < 0.5) {
        double third = 2.0 * u[2];
        mu = third > mu ? third : mu;
    }
    imc_about(normal, mu, u[3], direction_out);
}

/* A sphere about a packet that has just collided, in which many collisions
 * become one event. */
struct imc_sphere {
    double radius_cm;
    struct storm_walk_medium medium;
    const struct storm_walk_group *groups; /* of the cell; NULL: grey */
    size_t n_thick;                        /* that walk */
};

/* Distance to the nearest face or plane, in any direction. */
static double imc_clearance(const struct pass *pass, const struct lane *lane)
{
    double radius = geom_clearance(&pass->geom, &lane->geom, lane->cell);
    if (STORM_LIKELY(pass->imc->n_planes == 0))
        return radius;
    struct storm_packet at;
    geom_rest(&lane->geom, &at);
    return fmin(radius, imc_plane_clearance(pass->imc, at.position_cm,
                                            lane->time_left_s));
}

/* Deep enough in a cell that scatters? */
static bool imc_sphere_grey(const struct pass *pass, const struct lane *lane,
                            struct imc_sphere *sphere_out)
{
    double light = pass->imc->light_cm_s;
    double rate = lane->imc.absorb_s + lane->imc.scatter_s; /* 1/s */
    if (lane->imc.scatter_s < storm_walk_scatter * rate ||
        rate * lane->time_left_s < storm_walk_depth)
        return false;
    double radius = imc_clearance(pass, lane);
    if (!(radius * rate >= storm_walk_depth * light))
        return false;
    *sphere_out = (struct imc_sphere){
        .radius_cm = radius,
        .medium = storm_walk_grey(lane->imc.absorb_s / light,
                                  lane->imc.scatter_s / light),
    };
    return true;
}

/* Of a packet that has just changed its group, in the frame of matter: is it
 * thick over this length? */
static bool imc_is_thick(const struct imc_track *track, const struct lane *lane,
                         double length)
{
    size_t at =
        (size_t)lane->cell * track->n_groups + (size_t)lane->packet->group;
    const struct imc_opacity *o = &track->opacity[at];
    double own =
        storm_walk_thickness(o->absorb, o->scatter,
                             imc_effective(&track->cells[lane->cell], o));
    return own * length >= storm_walk_lengths;
}

/* And would it stay among thick groups for a while, in a sphere of this
 * radius? */
static bool imc_sphere_mixed(const struct imc_track *track,
                             const struct lane *lane, double radius,
                             double length, struct imc_sphere *sphere_out)
{
    size_t n = track->n_groups;
    length = radius < length ? radius : length;
    if (!imc_is_thick(track, lane, length))
        return false;
    const struct storm_walk_group *groups =
        &track->thick[(size_t)lane->cell * n];
    size_t n_thick = storm_walk_thick(groups, n, length);
    if (n_thick == 0 ||
        groups[n_thick - 1].sum[STORM_WALK_EVENTS] <
            storm_walk_together * groups[n - 1].sum[STORM_WALK_EVENTS])
        return false;
    *sphere_out = (struct imc_sphere){
        .radius_cm = radius,
        .medium = storm_walk_ensemble(groups, n, n_thick),
        .groups = groups,
        .n_thick = n_thick,
    };
    return storm_walk_deep(&sphere_out->medium, length);
}

/* imc_sphere_grey for such a packet. */
static bool imc_sphere_groups(const struct pass *pass, const struct lane *lane,
                              struct imc_sphere *sphere_out)
{
    double length = pass->imc->light_cm_s * lane->time_left_s;
    return imc_is_thick(pass->imc, lane, length) &&
           imc_sphere_mixed(pass->imc, lane, imc_clearance(pass, lane), length,
                            sphere_out);
}

/* The group after a walk, eq. (24). */
static void imc_walk_group(const struct pass *pass, struct lane *lane,
                           const struct imc_sphere *sphere,
                           enum storm_walk_end end)
{
    double u[4];
    if (sphere->groups == NULL)
        return;
    storm_packet_random(lane->packet, pass->imc->seed, u);
    lane->packet->group = storm_walk_draw(sphere->groups, pass->imc->n_groups,
                                          sphere->n_thick, end, u);
    imc_load_cell(pass, lane, false);
}

/* What a walk adds that was `seconds` long and went this far in a direction:
 * the mean weight moves by that much; and its group is one of those inside. */
static void imc_count_walk(const struct imc_track *track,
                           const struct lane *lane,
                           const struct imc_sphere *sphere, storm_exact path,
                           const double moved_cm[3], double seconds)
{
    const struct imc_moments *moments = track->moments;
    if (moments == NULL)
        return;
    if (moments->groups != NULL) {
        size_t group = 0;
        double u[4];
        if (sphere->groups != NULL) {
            storm_random(track->seed, STORM_STREAM_TALLY, lane->packet->id,
                         lane->packet->draws, u);
            int32_t own =
                storm_walk_draw(sphere->groups, track->n_groups,
                                sphere->n_thick, STORM_WALK_CENSUS, u);
            group =
                (size_t)imc_tally_group(track, lane->cell, lane->packet, own);
        }
        on_add(&moments->groups[(size_t)lane->cell * track->n_groups + group],
               path);
    }
    if (moments->is_directed)
        imc_moments_walk(track, lane->cell, path, moved_cm, seconds);
}

/* imc_spend of a walk. */
LANES_INLINE storm_exact imc_spend_walk(const struct imc_track *track,
                                        struct lane *lane, double seconds,
                                        bool analogue)
{
    storm_exact path = imc_spend(track, lane, seconds, analogue);
    on_add(&track->methods->path[IMC_WALKED], path);
    on_count(&track->methods->events[IMC_WALKED]);
    return path;
}

/* Many collisions as one event, eqs. (15) to (24). The packet has just
 * collided: its direction does not matter. Returns like imc_retire. */
LANES_INLINE bool imc_walk_as(struct pass *pass, struct lane *lane,
                              const struct imc_sphere *sphere, bool analogue,
                              const enum imc_counts counts)
{
    const struct imc_track *track = pass->imc;
    const struct storm_walk_medium *medium = &sphere->medium;
    struct storm_packet *packet = lane->packet;
    double u[4], v[4], direction[3] = {0.0}, light = track->light_cm_s;
    storm_packet_random(packet, track->seed, u);
    storm_packet_random(packet, track->seed, v);
    double whole = sphere->radius_cm + medium->beyond_cm;
    double scale = light * medium->diffusion_cm / (whole * whole);
    double seconds = storm_walk_exit(track->walk, u[0]) / scale;
    enum storm_walk_end end = STORM_WALK_OUT;
    if (!(seconds < lane->time_left_s)) {
        seconds = lane->time_left_s;
        end = STORM_WALK_CENSUS;
    }
    lane->imc.absorb_s = medium->absorb * light;
    double absorbed_s =
        analogue ? -storm_log(u[1]) / lane->imc.absorb_s : INFINITY;
    if (medium->leak > 0.0) {
        double w[4];
        storm_packet_random(packet, track->seed, w);
        double leak_s = -storm_log(w[0]) / (medium->leak * light);
        if (leak_s < seconds) {
            seconds = leak_s;
            end = STORM_WALK_LEAK;
        }
    }
    if (absorbed_s < seconds) {
        storm_exact path = imc_spend_walk(track, lane, absorbed_s, true);
        if (counts)
            imc_count_walk(track, lane, sphere, path, direction, absorbed_s);
        return imc_absorb(pass, lane);
    }
    storm_exact path = imc_spend_walk(track, lane, seconds, analogue);
    if (!(lane->imc.weight > 0.0)) {
        if (counts)
            imc_count_walk(track, lane, sphere, path, direction, seconds);
        return imc_retire(pass, lane, STORM_FATE_ABSORBED);
    }
    double distance = sphere->radius_cm;
    if (end != STORM_WALK_OUT) {
        double lost_cm =
            end == STORM_WALK_CENSUS ? medium->lost_cm : medium->leak_lost_cm;
        double theta = scale * (seconds - lost_cm / light);
        distance =
            fmin(distance, whole * storm_walk_radius(track->walk, theta, v));
    }
    imc_displace(lane, distance, u[2], u[3], direction);
    if (counts) {
        /* Diffusion knows no speed of light. */
        double most = fmin(distance, light * seconds);
        const double moved[3] = {most * direction[0], most * direction[1],
                                 most * direction[2]};
        imc_count_walk(track, lane, sphere, path, moved, seconds);
    }
    storm_packet_random(packet, track->seed, v);
    if (end == STORM_WALK_OUT)
        imc_outwards(direction, v, packet->direction);
    else
        storm_isotropic(v[0], v[1], packet->direction);
    if (counts)
        imc_count_collision(track, lane);
    imc_walk_group(pass, lane, sphere, end);
    imc_draw_depth(pass, packet);
    lane->imc.depth = packet->optical_depth;
    packet->cell_idx = lane->cell;
    geom_enter(&pass->geom, &lane->geom, packet);
    STORM_ASSERT(geom_holds(&pass->geom, &lane->geom, lane->cell));
    return end != STORM_WALK_CENSUS ||
           imc_retire(pass, lane, STORM_FATE_CENSUS);
}

static bool imc_walk(struct pass *pass, struct lane *lane,
                     const struct imc_sphere *sphere, bool analogue,
                     bool counts)
{
    if (counts)
        imc_count_event(pass->imc, lane->cell, STORM_IMC_WALK);
    return counts
               ? imc_walk_as(pass, lane, sphere, analogue, IMC_COUNTS_ALL)
               : imc_walk_as(pass, lane, sphere, analogue, IMC_COUNTS_NOTHING);
}

#endif /* STORM_PHYSICS_IMC_WALK_KERNEL_H */
