# SPDX-License-Identifier: BSD-3-Clause
"""The bundled physics for a host that has cells and matter of its own.

Names and meanings are those of storm/host.h, where all is said that is not said
here: stages, order of cells, what is collective.
"""
import ctypes
import numbers
import warnings

import numpy as np

from . import _library

LAWS = {"absorption": 0, "scattering": 1, "heat": 2}
SCATTERINGS = {"isotropic": 0, "thomson": 1, "compton": 2, "user": 3}
WALLS = {"vacuum": 0, "reflect": 1, "periodic": 2}
ENERGIES = ("matter", "radiation", "start", "walls", "others", "escaped",
            "held", "work", "host", "declared", "error")
MOMENTA = ("created", "matter", "escaped", "walls", "control", "radiation")


class StormError(RuntimeError):
    """A call has failed: `status` is its number, the text says why."""

    def __init__(self, status, text):
        super().__init__(text)
        self.status = status


def _address(array):
    return None if array is None else array.ctypes.data


def _given(values, dtype=np.float64):
    """The array itself where it is one of this type and contiguous."""
    return np.ascontiguousarray(values, dtype=dtype)


class Host:
    """Mesh, matter and radiation of a host.

    A context manager: `with storm.Host() as host:`. To close it is collective,
    so it is not left to the garbage collector.

    comm: of mpi4py; None is COMM_WORLD.
    options: of a run, such as "transport.backend=p2p".
    quiet: errors are exceptions alone, and not printed as well.
    """

    def __init__(self, comm=None, options=None, quiet=True):
        self._host = None
        try:
            from mpi4py import MPI
        except ImportError as error:
            raise ImportError(f"storm.Host needs mpi4py: {error}") from error
        self._library = _library.load()
        self._library.check_mpi()
        self.comm = MPI.COMM_WORLD if comm is None else comm
        host = ctypes.c_void_p()
        text = None if options is None else options.encode()
        status = self._library.create_f(self.comm.py2f(), text,
                                        ctypes.byref(host))
        self._check(status)
        self._host = host
        self._library.set_quiet(host, int(quiet))
        self._lent = ()  # arrays that the library uses after the call
        self._scatter = None  # and a function
        self._raised = None

    # ---- life ----

    def close(self):
        """Release all. Collective; may be called again."""
        host, self._host = self._host, None
        if host is not None:
            self._library.destroy(host)

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        self.close()

    def __del__(self):
        if getattr(self, "_host", None) is not None:
            warnings.warn("storm.Host was not closed", ResourceWarning,
                          stacklevel=2)

    def _check(self, status):
        if status >= 0:
            return
        text = self._library.problem(self._host).decode(errors="replace")
        name = self._library.status_name(status).decode()
        raise StormError(status, f"{name}: {text}" if text else name)

    def _call(self, function, *arguments):
        if self._host is None:
            raise StormError(-2, "the host is closed")
        status = getattr(self._library, function)(self._host, *arguments)
        raised, self._raised = self._raised, None
        if raised is not None:
            raise raised
        self._check(status)

    # ---- stage 2 ----

    @property
    def rank(self):
        return self._library.rank(self._host)

    @property
    def size(self):
        return self._library.size(self._host)

    @staticmethod
    def parameters():
        """(name, default, help) of each parameter of `set_parameters`."""
        return _library.load().parameters()

    def set_parameters(self, **values):
        """set_parameters(seed=3, max_per_cell=50)"""
        for name, value in values.items():
            if isinstance(value, numbers.Integral):
                self._call("set_int", name.encode(), int(value))
            else:
                self._call("set_double", name.encode(), float(value))

    def set_groups(self, edges_kev):
        edges = _given(edges_kev)
        self._call("set_groups", _address(edges), edges.size)

    def add_material(self, name, density=1.0, temperature=0.0, by_cell=None,
                     scatter="isotropic", electrons_per_g=0.0, **laws):
        """Its number. absorption, scattering, heat: a power law, as a number
        or as (coef, exponents of temperature, density and photon energy, min,
        max). by_cell: names of those that are fields instead, and their values
        at the start, such as {"absorption": 0.0}. scatter: what scattering
        does: isotropic, thomson, compton or user (set_scatter)."""
        number = ctypes.c_int()
        self._call("add_material", name.encode(), ctypes.byref(number))
        for law, values in laws.items():
            values = _given(np.atleast_1d(values))
            self._call("set_law", number, _named(LAWS, law), _address(values),
                       values.size)
        for law, start in (by_cell or {}).items():
            self._call("set_by_cell", number, _named(LAWS, law), start)
        self._call("set_start", number, density, temperature)
        self._call("set_scattering", number, _named(SCATTERINGS, scatter))
        self._call("set_electrons", number, electrons_per_g)
        return number.value

    def set_scatter(self, function):
        """function(material, tag, temperature, density, direction, energy,
        random): a collision of a photon with matter. It returns None (there was
        none), or direction and energy after it, or these and the energy of the
        packet after over before, if some is lost beside that of the photons.
        random() gives four numbers. What it raises ends the step, and is raised
        by `step`."""
        scatter = _library.SCATTER(
            lambda _, *arguments: self._collide(function, *arguments))
        self._call("set_scatter", scatter, None)
        self._scatter = scatter  # after an error the one before is in use

    def _collide(self, function, material, tag, matter, photon, draws):
        def random():
            uniform = np.empty(4)
            self._library.random(draws, _address(uniform))
            return uniform

        try:
            after = function(material, tag, matter[0], matter[1],
                             np.array(photon[:3]), photon[3], random)
            if after is None:
                return 0
            direction, energy = after[:2]
            ratio = after[2] if len(after) > 2 else energy / photon[3]
            for i in range(3):
                photon[i] = direction[i]
            photon[3], photon[4] = energy, ratio
            return 1
        except BaseException as error:  # through C there is no way for it
            self._raised = error
            return -1

    def set_wall(self, wall, kind):
        """kind: vacuum, reflect or periodic."""
        self._call("set_wall", wall, _named(WALLS, kind))

    def set_blackbody(self, wall, kev, packets, times=None):
        """kev: a number, or one for each of the times."""
        kev = _given(np.atleast_1d(kev))
        times = None if times is None else _given(np.atleast_1d(times))
        if times is not None and times.shape != kev.shape:
            raise ValueError("expected as many times as temperatures")
        self._call("set_blackbody", wall, _address(times), _address(kev),
                   kev.size, packets)

    # ---- stage 3 ----

    def set_edges(self, axis, edges_cm):
        edges = _given(edges_cm)
        self._call("set_edges", axis, _address(edges), edges.size)

    def mesh_cart(self, first, n):
        """The block of this rank; x is fastest, so an array of three
        dimensions has the shape n[::-1]."""
        first = _given(first, np.int64)
        n = _given(n, np.int64)
        if first.size != 3 or n.size != 3:
            raise ValueError("expected three numbers each")
        self._call("mesh_cart", _address(first), _address(n))

    def mesh_points(self, lo, hi, points, tags=None):
        """tags: of an earlier run that goes on (`tags` and `load`)."""
        lo, hi, points = _given(lo), _given(hi), _given(points)
        if lo.size != 3 or hi.size != 3 or points.size % 3 != 0:
            raise ValueError("expected three coordinates each")
        if tags is not None:
            tags = _given(tags, np.uint64)
            self._call("set_tags", _address(tags), tags.size)
        self._call("mesh_points", _address(lo), _address(hi), _address(points),
                   points.size // 3)

    def give_cells(self, tags, points, volumes, first_face, normals, on_planes,
                   areas, behind, centroids=None):
        """Cells and faces, for mesh_given or replace."""
        tags = _given(tags, np.uint64)
        first_face = _given(first_face, np.uint64)
        behind = _given(behind, np.int64)
        points, volumes, normals, on_planes, areas = map(
            _given, (points, volumes, normals, on_planes, areas))
        centroids = None if centroids is None else _given(centroids)
        n, n_faces = tags.size, behind.size
        if (points.size, volumes.size, first_face.size) != (3 * n, n, n + 1):
            raise ValueError("arrays of cells have different lengths")
        if centroids is not None and centroids.size != 3 * n:
            raise ValueError("expected three coordinates for each centroid")
        if (normals.size, on_planes.size, areas.size) != (
                3 * n_faces, 3 * n_faces, n_faces) or (
                    first_face[-1] != n_faces):
            raise ValueError("arrays of faces have different lengths")
        self._lent = (tags, points, volumes, centroids, first_face, normals,
                      on_planes, areas, behind)
        self._call("give_cells", n, *map(_address, self._lent[:4]))
        self._call("give_faces", *map(_address, self._lent[4:]))

    def mesh_given(self, n_boundaries):
        self._call("mesh_given", n_boundaries)
        self._lent = ()

    def begin(self):
        self._call("begin")

    # ---- stage 5 ----

    @property
    def n_cells(self):
        return self._library.n_cells(self._host)

    @property
    def tags(self):
        """What names the cells, for good."""
        tags = np.empty(self.n_cells, dtype=np.uint64)
        self._call("get_tags", _address(tags), tags.size)
        return tags

    @property
    def fields(self):
        """Names of all fields."""
        return tuple(self._library.fields)

    def _field(self, name):
        return _named(self._library.fields, name)

    def request(self, name):
        self._call("request", self._field(name))

    def set(self, name, values):
        """A field, from an array of any shape with as many values, or from one
        number for all cells."""
        if np.ndim(values) == 0:
            values = np.full(self.n_cells * self._library.n_values(
                self._host, self._field(name)), values, dtype=np.float64)
        values = _given(values)
        self._call("set", self._field(name), _address(values), values.size)

    def get(self, name, out=None):
        """A field: a new array with a row for each cell, or `out`, whose values
        are replaced without a copy."""
        per = self._library.n_values(self._host, self._field(name))
        if out is None:
            shape = (self.n_cells, per) if per > 1 else (self.n_cells,)
            out = np.empty(shape)
        elif not (isinstance(out, np.ndarray) and out.dtype == np.float64 and
                  out.flags.c_contiguous and out.flags.writeable):
            raise ValueError("out: expected a contiguous array of float64")
        self._call("get", self._field(name), _address(out), out.size)
        return out

    __setitem__ = set
    __getitem__ = get

    def add_heat(self, erg):
        erg = _given(erg)
        self._call("add_heat", _address(erg), erg.size)

    def declare_work(self, erg):
        erg = _given(erg)
        self._call("declare_work", _address(erg), erg.size)

    def step(self, time_s, dt_s):
        self._call("step", time_s, dt_s)

    def next_dt(self, target=0.0):
        """The length that the next step should have for relative changes of
        about `target` (0: 0.1). Right after a step."""
        dt = ctypes.c_double()
        self._call("next_dt", target, ctypes.byref(dt))
        return dt.value

    def energy(self):
        """Energies of the run, erg, by name; and the relative `error`."""
        values = np.empty(len(ENERGIES))
        self._call("energy", _address(values), values.size)
        return dict(zip(ENERGIES, values.tolist()))

    def momentum(self):
        """Momenta of the run, g cm/s, by name; and the relative `error`."""
        values = np.empty(3 * len(MOMENTA) + 1)
        self._call("momentum", _address(values), values.size)
        momenta = dict(zip(MOMENTA, values[:-1].reshape(-1, 3)))
        momenta["error"] = values[-1]
        return momenta

    def hash(self):
        value = ctypes.c_uint64()
        self._call("hash", ctypes.byref(value))
        return value.value

    def move(self, points):
        points = _given(points)
        self._call("move", _address(points), points.size)

    def replace(self):
        self._call("replace")
        self._lent = ()

    def repartition(self):
        self._call("repartition")

    # ---- the state ----

    def save(self):
        """The piece of this rank: an array of bytes."""
        n = ctypes.c_size_t()
        self._call("state_bytes", ctypes.byref(n))
        piece = np.empty(n.value, dtype=np.uint8)
        self._call("save", _address(piece), piece.size)
        return piece

    def load(self, *pieces):
        """All pieces that this rank has; each is on one rank."""
        bytes_ = np.concatenate([np.empty(0, np.uint8)] + [
            np.frombuffer(piece, dtype=np.uint8) for piece in pieces])
        self._call("load", _address(bytes_), bytes_.size)

    def handle(self, name):
        """Address of what is beneath (context, mesh, imc or engine), for calls
        of C; None before there is one."""
        if name not in ("context", "mesh", "imc", "engine"):
            raise ValueError(f"{name}: expected context, mesh, imc or engine")
        return getattr(self._library, name)(self._host)


def _named(table, name):
    if name not in table:
        raise ValueError(f"{name}: expected one of {', '.join(table)}")
    return table[name]
