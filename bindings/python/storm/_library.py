# SPDX-License-Identifier: BSD-3-Clause
"""libstorm by ctypes: one line for each function of storm/host.h."""
import ctypes
import os
from ctypes import (CDLL, CFUNCTYPE, POINTER, c_char_p, c_double, c_int, c_int64, c_size_t,
                    c_uint64, c_void_p)

VERSION = "0.1"  # of the library, as in the name of its file

_host = c_void_p
_reals = c_void_p  # arrays go by address, without a copy
_status = c_int

# self, material, tag, matter (2), photon (5), draws
SCATTER = CFUNCTYPE(c_int, c_void_p, c_int, c_uint64, POINTER(c_double),
                    POINTER(c_double), c_void_p)

# name: (result, arguments)
_FUNCTIONS = {
    "create_f": (_status, [c_int, c_char_p, POINTER(c_void_p)]),
    "destroy": (None, [_host]),
    "problem": (c_char_p, [_host]),
    "set_quiet": (None, [_host, c_int]),
    "rank": (c_int, [_host]),
    "size": (c_int, [_host]),
    "set_int": (_status, [_host, c_char_p, c_int64]),
    "set_double": (_status, [_host, c_char_p, c_double]),
    "parameter": (c_char_p, [c_size_t, POINTER(c_double), POINTER(c_char_p)]),
    "set_groups": (_status, [_host, _reals, c_size_t]),
    "add_material": (_status, [_host, c_char_p, POINTER(c_int)]),
    "set_law": (_status, [_host, c_int, c_int, _reals, c_size_t]),
    "set_by_cell": (_status, [_host, c_int, c_int, c_double]),
    "set_scattering": (_status, [_host, c_int, c_int]),
    "set_electrons": (_status, [_host, c_int, c_double]),
    "set_scatter": (_status, [_host, SCATTER, c_void_p]),
    "random": (None, [c_void_p, _reals]),
    "set_start": (_status, [_host, c_int, c_double, c_double]),
    "set_wall": (_status, [_host, c_int, c_int]),
    "set_blackbody": (_status, [_host, c_int, _reals, _reals, c_size_t,
                                c_int64]),
    "set_edges": (_status, [_host, c_int, _reals, c_size_t]),
    "mesh_cart": (_status, [_host, c_void_p, c_void_p]),
    "set_tags": (_status, [_host, c_void_p, c_size_t]),
    "mesh_points": (_status, [_host, _reals, _reals, _reals, c_size_t]),
    "give_cells": (_status, [_host, c_size_t, c_void_p, _reals, _reals,
                             _reals]),
    "give_faces": (_status, [_host, c_void_p, _reals, _reals, _reals,
                             c_void_p]),
    "mesh_given": (_status, [_host, c_int]),
    "begin": (_status, [_host]),
    "n_cells": (c_size_t, [_host]),
    "field_name": (c_char_p, [c_int]),
    "n_values": (c_size_t, [_host, c_int]),
    "get_tags": (_status, [_host, c_void_p, c_size_t]),
    "request": (_status, [_host, c_int]),
    "set": (_status, [_host, c_int, _reals, c_size_t]),
    "get": (_status, [_host, c_int, _reals, c_size_t]),
    "add_heat": (_status, [_host, _reals, c_size_t]),
    "declare_work": (_status, [_host, _reals, c_size_t]),
    "step": (_status, [_host, c_double, c_double]),
    "next_dt": (_status, [_host, c_double, POINTER(c_double)]),
    "energy": (_status, [_host, _reals, c_size_t]),
    "momentum": (_status, [_host, _reals, c_size_t]),
    "hash": (_status, [_host, POINTER(c_uint64)]),
    "move": (_status, [_host, _reals, c_size_t]),
    "replace": (_status, [_host]),
    "repartition": (_status, [_host]),
    "state_bytes": (_status, [_host, POINTER(c_size_t)]),
    "save": (_status, [_host, c_void_p, c_size_t]),
    "load": (_status, [_host, c_void_p, c_size_t]),
    "context": (c_void_p, [_host]),
    "mesh": (c_void_p, [_host]),
    "imc": (c_void_p, [_host]),
    "engine": (c_void_p, [_host]),
}


class Library:
    """The functions, as attributes without their prefix."""

    def __init__(self):
        name = os.environ.get("STORM_LIBRARY", "libstorm.so." + VERSION)
        try:
            library = CDLL(name)
        except OSError as error:
            raise ImportError(
                f"{error}: install libstorm, or set STORM_LIBRARY to the path "
                "of its shared library") from error
        for function, (result, arguments) in _FUNCTIONS.items():
            entry = library["storm_host_" + function]
            entry.restype = result
            entry.argtypes = arguments
            setattr(self, function, entry)
        self.status_name = library["storm_status_name"]
        self.status_name.restype = c_char_p
        self.status_name.argtypes = [c_int]
        self.fields = self._list_fields()
        self._library = library

    def check_mpi(self):
        """mpi4py and libstorm must be of one MPI: communicators of another are
        numbers without a meaning, and the first call would crash."""
        from mpi4py import MPI
        text, length = ctypes.create_string_buffer(16384), c_int()
        self._library.MPI_Get_library_version(text, ctypes.byref(length))
        ours = text.value.decode(errors="replace").strip("\0\n ")
        theirs = MPI.Get_library_version().strip("\0\n ")
        if ours != theirs:
            raise ImportError(f"libstorm is for {ours[:40]}, and mpi4py for "
                              f"{theirs[:40]}")

    def _list_fields(self):
        names = ((number, self.field_name(number)) for number in range(64))
        return {name.decode(): number for number, name in names if name}

    def parameters(self):
        """(name, default, help) of each parameter."""
        rows, default, text = [], c_double(), c_char_p()
        while True:
            name = self.parameter(len(rows), ctypes.byref(default),
                                  ctypes.byref(text))
            if name is None:
                return rows
            rows.append((name.decode(), default.value, text.value.decode()))


_loaded = []


def load():
    """The library, loaded when it is first needed."""
    if not _loaded:
        _loaded.append(Library())
    return _loaded[0]
