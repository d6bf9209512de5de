/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/sim/sim_timer.h"

#include <simgrid/kernel/Timer.hpp>

void storm_sim_timer(double date_s, void (*action)(void *data), void *data)
{
    simgrid::kernel::timer::Timer::set(date_s, [action, data] { action(data); });
}
