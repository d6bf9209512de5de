# SPDX-License-Identifier: BSD-3-Clause
"""storm.Host: see python.sh. The library itself: tests/host."""
import gc
import sys
import traceback
import warnings

import numpy as np
from mpi4py import MPI

import storm
from storm.host import ENERGIES, _given

RANK, SIZE = MPI.COMM_WORLD.rank, MPI.COMM_WORLD.size


def expect(kind, word, call, *arguments, **named):
    try:
        call(*arguments, **named)
    except kind as error:
        assert word in str(error), (word, str(error))
        return error
    raise AssertionError(f"expected {kind} with {word!r}")


def describe(host):
    host.set_parameters(seed=3, max_per_cell=20.0)
    host.add_material("gas", heat=1e15, scattering=(1.0, 0, 1),
                      temperature=0.2, by_cell={"absorption": 2.0})


def open_cart(host, n=(4, 3, 2)):
    describe(host)
    for axis in range(3):
        host.set_edges(axis, np.linspace(0.0, 1.0, n[axis] + 1))
    first = n[1] * RANK // SIZE
    host.mesh_cart((0, first, 0), (n[0], n[1] * (RANK + 1) // SIZE - first,
                                   n[2]))
    host.begin()


def test_errors():
    with storm.Host() as host:
        expect(ValueError, "expected one of vacuum", host.set_wall, 0, "wood")
        error = expect(storm.StormError, "did you mean seed?",
                       host.set_parameters, sead=1)
        assert error.status == -1
        expect(storm.StormError, "before there is a mesh", host.step, 0.0, 1.0)
        open_cart(host)
        n = host.n_cells
        expect(ValueError, "expected one of", host.get, "no such field")
        expect(storm.StormError, f"expected {n} values", host.set, "density",
               np.ones(n + 1))
        expect(storm.StormError, "temperature of cell 0", host.set,
               "temperature", np.full(n, np.nan))
        expect(storm.StormError, "request", host.get, "flux")
        for bad in (np.ones(n, np.float32), np.ones(2 * n)[::2], [1.0] * n):
            expect(ValueError, "contiguous", host.get, "density", bad)
        frozen = np.ones(n)
        frozen.flags.writeable = False
        expect(ValueError, "contiguous", host.get, "density", frozen)
        expect(storm.StormError, "motion", host.momentum)
        host.step(0.0, 1e-12)
    host.close()
    expect(storm.StormError, "closed", host.step, 0.0, 1.0)
    expect(storm.StormError, "", storm.Host, options="no.such=option")


def test_arrays():
    with storm.Host(options="transport.backend=p2p") as host:
        open_cart(host)
        rho = np.arange(1.0, host.n_cells + 1.0)
        assert _given(rho) is rho  # no copy
        host["density"] = rho
        out = np.empty(host.n_cells)
        assert host.get("density", out) is out and np.array_equal(out, rho)
        host["density"] = rho.reshape(2, -1, 4)[:, :, ::-1]  # any shape
        assert np.array_equal(host["density"].reshape(2, -1, 4)[:, :, ::-1],
                              rho.reshape(2, -1, 4))
        host["temperature"] = 0.5  # all cells
        assert np.all(host["temperature"] == 0.5)
        centre = host["centre"]
        assert centre.shape == (host.n_cells, 3)
        assert np.all(np.diff(centre[:4, 0]) > 0)
        host.request("flux")
        host.add_heat(np.full(host.n_cells, 1e10))
        host.step(0.0, 1e-12)
        host.repartition()
        assert np.array_equal(host["centre"], centre)
        assert host["flux"].shape == (host.n_cells, 3)
        energy = host.energy()
        assert tuple(energy) == ENERGIES and energy["error"] < 1e-13
        assert abs(energy["declared"] - 24e10) < 1e-3
        for name in host.fields:
            if name not in ("radiation_start", "frame", "velocity", "scattering",
                            "push", "pressure", "groups"):
                host.get(name)


def points_hash(comm):
    """Points that move; dealt out to the ranks in turn."""
    points = np.random.default_rng(1).random((60, 3))
    mine = points[comm.rank::comm.size]
    with storm.Host(comm) as host:
        describe(host)
        host.set_blackbody(0, [0.1, 0.5], 100, times=[0.0, 1e-10])
        host.mesh_points((0, 0, 0), (1, 1, 1), mine)
        host.begin()
        for step in range(2):
            host.step(step * 1e-11, 1e-11)
            host.move(0.5 + 0.99 ** (step + 1) * (mine - 0.5))
        assert host.energy()["walls"] > 0.0
        return host.hash()


def given_hash(comm):
    """A row of cubes as given cells, the first of them hot."""
    n = 5
    mine = np.arange(n)[comm.rank::comm.size][::-1]
    normals = np.array([[-1, 0, 0], [1, 0, 0], [0, -1, 0], [0, 1, 0],
                        [0, 0, -1], [0, 0, 1]], float)
    centres = np.stack([mine + 0.5, 0.5 + 0 * mine, 0.5 + 0 * mine], axis=1)
    behind = np.full((mine.size, 6), -2)
    behind[:, 0] = np.where(mine == 0, -1, mine - 1)
    behind[:, 1] = np.where(mine == n - 1, -1, mine + 1)
    cells = dict(tags=mine, points=centres, volumes=np.ones(mine.size),
                 first_face=6 * np.arange(mine.size + 1),
                 normals=np.tile(normals, (mine.size, 1)),
                 on_planes=(centres[:, None, :] + 0.5 * normals),
                 areas=np.ones(6 * mine.size), behind=behind)
    with storm.Host(comm) as host:
        describe(host)
        host.set_wall(1, "reflect")
        expect(ValueError, "different lengths", host.give_cells,
               **{**cells, "areas": np.ones(1)})
        host.give_cells(**cells)
        host.mesh_given(2)
        host.begin()
        host["temperature"] = np.where(mine == 0, 1.0, 0.01)
        host["radiation_start"] = 0.01
        for step in range(2):
            host.step(step * 1e-11, 1e-11)
            host.give_cells(**cells)
            host.replace()
        assert np.all(host["volume"] == 1.0)
        return host.hash()


def motion_hash(comm):
    with storm.Host(comm) as host:
        describe(host)
        host.set_parameters(motion=True)
        host.mesh_cart((0, 0, 0), (int(comm.rank == 0), 1, 1))
        host.begin()
        host["velocity"] = np.tile([1e9, 0.0, 0.0], (host.n_cells, 1))
        host.step(0.0, 1e-11)
        momentum = host.momentum()
        assert momentum["error"] < 1e-13 and momentum["created"][0] != 0.0
        return host.hash()


def open_scattering(comm, function, tags=None):
    host = storm.Host(comm)
    host.set_parameters(max_per_cell=10)
    host.set_groups([0.01, 1.0, 10.0])
    host.add_material("gas", temperature=0.3, absorption=1.0, heat=1e15,
                      scattering=5.0, scatter="user", electrons_per_g=1e20)
    host.set_scatter(function)
    points = np.random.default_rng(2).random((30, 3))
    host.mesh_points((0, 0, 0), (1, 1, 1), points[comm.rank::comm.size],
                     None if tags is None else tags[comm.rank::comm.size])
    host.begin()
    return host


def test_restart():
    """From pieces that are dealt out anew, with a function that scatters."""
    def scatter(material, tag, temperature, density, direction, energy, random):
        assert material == 0 and temperature > 0.0 and density == 1.0
        if random()[0] < 0.5:
            return None
        return -direction, 0.9 * energy

    comm = MPI.COMM_WORLD
    with open_scattering(comm, scatter) as host:
        expect(storm.StormError, "after the first step", host.save)
        host.step(0.0, 1e-11)
        expect(storm.StormError, "after storm_host_begin", host.set_scatter,
               lambda *_: None)
        gc.collect()  # the function before is still in use
        assert host.next_dt() > 0.0
        tags = np.empty(30, np.uint64)
        for rank, part in enumerate(comm.allgather(host.tags)):
            tags[rank::comm.size] = part
        pieces = comm.allgather(host.save())
        host.step(1e-11, 1e-11)
        wanted, energy = host.hash(), host.energy()
    for other, mine in ((comm, pieces[comm.rank - 1:][:1]),
                        (MPI.COMM_SELF, pieces)):
        with open_scattering(other, scatter, tags) as host:
            expect(storm.StormError, "each piece", host.load)
            broken = [np.array(piece) for piece in mine]
            broken[0][77] ^= 1
            expect(storm.StormError, "as it was saved", host.load, *broken)
            host.load(*mine)
            host.step(1e-11, 1e-11)
            assert host.hash() == wanted and host.energy() == energy
            assert all(host.handle(name) for name in ("context", "mesh", "imc",
                                                      "engine"))
            expect(ValueError, "expected context", host.handle, "none")


def test_scatter_raises():
    def scatter(*_):
        raise KeyError("no such photon")

    with open_scattering(MPI.COMM_SELF, scatter) as host:
        expect(KeyError, "no such photon", host.step, 0.0, 1e-11)
    with open_scattering(MPI.COMM_SELF, lambda *_: ((9, 9, 9), 1.0)) as host:
        expect(storm.StormError, "", host.step, 0.0, 1e-11)


def test_meshes():
    for one in (points_hash, given_hash, motion_hash):
        assert one(MPI.COMM_WORLD) == one(MPI.COMM_SELF), one.__name__


def test_lists():
    rows = {name: preset for name, preset, text in storm.Host.parameters()
            if text}
    assert rows["light_cm_s"] == 2.99792458e10 and rows["comb"] == 1.0


def test_not_closed():
    host = storm.Host(MPI.COMM_SELF)
    copy = host._host
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        library = host._library
        del host
        gc.collect()
    assert any("not closed" in str(warning.message) for warning in caught)
    library.destroy(copy)


try:
    for name, test in list(globals().items()):
        if name.startswith("test_"):
            test()
except BaseException:
    traceback.print_exc()
    sys.stderr.flush()
    MPI.COMM_WORLD.Abort(1)
