# SPDX-License-Identifier: BSD-3-Clause
"""What `storm run` has written: docs/output.md says what is in each file."""
import json
import os
import re

import numpy as np

PACKET = np.dtype([
    ("id", "<u8", 2), ("position_cm", "<f8", 3), ("direction", "<f8", 3),
    ("time_left_s", "<f8"), ("weight_erg", "<f8"), ("cell", "<u8"),
    ("draws", "<u8"), ("birth_weight_erg", "<f8"), ("optical_depth", "<f8"),
    ("cell_idx", "<i4"), ("group", "<i4"), ("spawns", "<u4"), ("face", "<u4")])
PHOTON = np.dtype(PACKET.descr + [("energy_kev", "<f8"), ("reserved", "<u8")])


def _open(path):
    try:
        import h5py
    except ImportError as error:
        raise ImportError(f"{path}: to read it takes h5py: {error}") from error
    return h5py.File(path, "r")


def _table(path, skip=0):
    """Columns of a CSV file with a header, by name."""
    rows = np.genfromtxt(path, delimiter=",", names=True, skip_header=skip,
                         deletechars="", encoding="utf-8")
    rows = np.atleast_1d(rows)
    return {name: rows[name] for name in rows.dtype.names}


class Run:
    """A run directory.

    >>> run = storm.Run("out/marshak")
    >>> run.steps
    >>> run.field("material_temperature", run.steps[-1])
    """

    def __init__(self, path):
        self.path = os.fspath(path)
        if not os.path.isdir(self.path):
            raise FileNotFoundError(f"{self.path}: there is no such run")

    def __repr__(self):
        return f"Run({self.path!r})"

    def _file(self, name):
        return os.path.join(self.path, name)

    def _steps(self, kind, ending):
        pattern = re.compile(rf"{kind}-(\d+)\.{ending}$")
        found = map(pattern.match, os.listdir(self.path))
        return sorted(int(match.group(1)) for match in found if match)

    def _dump(self, step):
        if step not in self.steps:
            raise ValueError(f"{self.path}: there is no dump of step {step}; "
                             f"there are {self.steps}")
        return _open(self._file(f"fields-{step}.h5"))

    @property
    def steps(self):
        """Steps with a dump of fields."""
        return self._steps("fields", "h5")

    @property
    def summary(self):
        with open(self._file("summary.json"), encoding="utf-8") as file:
            return json.load(file)

    @property
    def status(self):
        with open(self._file("status.json"), encoding="utf-8") as file:
            return json.load(file)

    def time(self, step):
        """Seconds at the end of the step of a dump."""
        with self._dump(step) as file:
            return float(np.ravel(file.attrs["time"])[0])

    def field_names(self, step):
        import h5py
        with self._dump(step) as file:
            return [name for name, entry in file.items()
                    if isinstance(entry, h5py.Dataset)]

    def field(self, name, step):
        """One value per cell, in the order of `mesh`."""
        with self._dump(step) as file:
            if name not in file:
                raise ValueError(f"{file.filename}: there is no field {name}")
            return file[name][...]

    def mesh(self, step=None):
        """Arrays of the mesh, as it was at the dump of a step: volume,
        material, box, corners and points of the cells, and what else its file
        has."""
        import h5py
        name = "mesh.h5"
        if step is not None:
            with self._dump(step) as file:
                if "mesh_step" in file.attrs:
                    changed = int(np.ravel(file.attrs["mesh_step"])[0])
                    name = f"mesh-{changed}.h5"
        if not os.path.exists(self._file(name)):
            name = "mesh.h5"
        with _open(self._file(name)) as file:
            return {key: entry[...] for key, entry in file.items()
                    if isinstance(entry, h5py.Dataset)}

    @property
    def profile_steps(self):
        return self._steps("profile", "csv")

    def profile(self, step):
        """Columns of a profile, by name."""
        return _table(self._file(f"profile-{step}.csv"), skip=1)

    def history(self):
        """Columns of the history, by name: a row for each step."""
        return _table(self._file("history.csv"))

    @property
    def checkpoint_steps(self):
        return self._steps("checkpoint", "h5")

    def packets(self, step):
        """The packets of a checkpoint: an array of records. Their order is that
        of the ranks; np.sort(packets, order="id") is the same on any number."""
        with _open(self._file(f"checkpoint-{step}.h5")) as file:
            rows = np.ascontiguousarray(file["packets"][...])
        for kind in (PACKET, PHOTON):
            if rows.shape[1] * rows.itemsize == kind.itemsize:
                return rows.view(kind).reshape(-1)
        raise ValueError(f"checkpoint-{step}.h5: records of "
                         f"{rows.shape[1] * rows.itemsize} bytes are unknown")
