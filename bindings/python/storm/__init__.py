# SPDX-License-Identifier: BSD-3-Clause
"""STORM in Python.

Host couples the bundled physics to a program that has cells and matter of its
own (storm/host.h; needs libstorm and mpi4py). Run reads what `storm run` has
written (needs h5py, and neither of the two).
"""
from .host import Host, StormError
from .run import Run

__all__ = ["Host", "Run", "StormError"]
