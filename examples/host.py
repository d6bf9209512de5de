# SPDX-License-Identifier: BSD-3-Clause
"""host.c in Python: a hydrodynamics code with matter of its own.

    mpiexec -n 3 python3 host.py

The same numbers are added and multiplied in the same order, so the hash is that
of host.c, host.cc and host.f90.
"""
import sys

import numpy as np
from mpi4py import MPI

import storm

N_X, N_Y, N_STEPS = 16, 4, 20
DX, DT = 0.05, 1e-10  # cm, s
HEAT, SPEED = 1e15, 5e7  # erg/g/keV, cm/s
VOLUME = 0.05 * 0.05 * 0.05
GAMMA_1 = 2.0 / 3.0  # of the gas, less 1


class Gas:
    """Rows of the grid that this rank has, per cm3."""

    def __init__(self, first_row, n_rows):
        rows = np.arange(first_row, first_row + n_rows)[:, None]
        columns = np.arange(N_X)[None, :]
        self.rho = np.where(rows < N_Y / 2, 10.0, 13.0) + 0.0 * columns
        self.mom = np.where(columns < N_X / 2, self.rho * SPEED,
                            -(self.rho * SPEED))
        self.ene = HEAT * self.rho * 0.3 + self.motion()

    def motion(self):
        return 0.5 * (self.mom * self.mom / self.rho)

    def side(self, columns, sign):
        """States beside faces, what they carry towards +x, and the speed of
        their waves; beyond the ends there is a mirror."""
        rho, ene = self.rho[:, columns], self.ene[:, columns]
        m = sign * self.mom[:, columns]
        v = m / rho
        p = GAMMA_1 * (ene - self.motion()[:, columns])
        wave = np.abs(v) + np.sqrt((GAMMA_1 + 1.0) * p / rho)
        return (rho, m, ene), (m, m * v + p, (ene + p) * v), wave

    def move(self):
        """Rusanov's flux through the N_X + 1 faces of each row."""
        faces = np.arange(N_X + 1)
        u_a, flow_a, wave_a = self.side(np.maximum(faces - 1, 0),
                                        np.where(faces == 0, -1.0, 1.0))
        u_b, flow_b, wave_b = self.side(np.minimum(faces, N_X - 1),
                                        np.where(faces == N_X, -1.0, 1.0))
        wave = np.maximum(wave_a, wave_b)
        for q, values in enumerate((self.rho, self.mom, self.ene)):
            flux = 0.5 * ((flow_a[q] + flow_b[q]) - wave * (u_b[q] - u_a[q]))
            values -= DT / DX * (flux[:, 1:] - flux[:, :-1])


def describe(host):
    """What there is: a grid of which each rank gives its rows, a gas,
    mirrors."""
    host.set_parameters(emit_per_cell=50, max_per_cell=200)
    host.add_material("gas", heat=(HEAT, 0, 1), scattering=(0.1, 0, 1),
                      by_cell={"absorption": 0.0})
    for wall in range(6):
        host.set_wall(wall, "reflect")
    host.set_edges(0, DX * np.arange(N_X + 1))
    host.set_edges(1, DX * np.arange(N_Y + 1))
    host.set_edges(2, [0.0, 0.05])
    first = N_Y * host.rank // host.size
    n = N_Y * (host.rank + 1) // host.size - first
    host.mesh_cart((0, first, 0), (N_X, n, 1))
    host.begin()
    host.request("push")
    return Gas(first, n)


def give(host, gas):
    """Density, heat and opacity to the library."""
    heat = gas.ene - gas.motion()
    t = heat / (HEAT * gas.rho)
    host["density"] = gas.rho
    host["heat"] = heat
    host["absorption"] = 0.2 * gas.rho * gas.rho / (0.2 + t * np.sqrt(t))


def step(host, gas, number):
    """A step of radiation, and then one of the gas with the heat that is left
    and the push. What becomes of the heat then is the host's own work."""
    host.step(number * DT, DT)
    heat = host["heat"].reshape(gas.ene.shape)
    push = host["push"][:, 0].reshape(gas.ene.shape)
    gas.ene = heat + gas.motion()
    gas.mom += push / VOLUME
    gas.move()
    host.declare_work(((gas.ene - gas.motion()) - heat) * VOLUME)
    give(host, gas)


def main():
    error = [0.0, 0.0]
    start = None
    with storm.Host() as host:
        gas = describe(host)
        give(host, gas)
        for number in range(N_STEPS):
            step(host, gas, number)
            e = host.energy()
            motion = host.comm.allreduce(np.sum(gas.motion() * VOLUME))
            total = e["matter"] + e["radiation"] + motion
            start = total if start is None else start
            error[0] = max(error[0], abs(total - start) / start, e["error"])
            error[1] = max(error[1], abs(e["host"] - e["declared"]) / start)
            if host.rank == 0:
                print(f"{number + 1:3d}  heat {e['matter']:.6e}  motion "
                      f"{motion:.6e}  radiation {e['radiation']:.6e}  total "
                      f"{total:.9e} erg")
        value = host.hash()
        if host.rank == 0:
            print(f"energy closes to {error[0]:.1e}, the host's work to "
                  f"{error[1]:.1e}\nhash {value:016x}")
    return max(error) > 1e-13


if __name__ == "__main__":
    try:
        sys.exit(int(main()))
    except storm.StormError as problem:
        print(f"host.py: {problem}", file=sys.stderr, flush=True)
        MPI.COMM_WORLD.Abort(1)
