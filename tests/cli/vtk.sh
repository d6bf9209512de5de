#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# TEST timeout: 60; label: mpi slow-asan slow-mpich
#
# VTK itself (Debian's python3-vtk9, or ParaView's pvpython) reads the files of
# boxes: the arrays are those of the other files, corners are in its order, so
# that volumes and centres are right, and fields.hdf.series has all times. Skipped
# where neither is installed.
set -u
# shellcheck source-path=SCRIPTDIR source=cli.sh
. "$(dirname "$0")/cli.sh"

modules="numpy, h5py, vtkmodules.vtkIOHDF, vtkmodules.util.numpy_support"
for python in python3 /usr/bin/python3 pvpython ""; do
    [ -n "$python" ] || {
        echo "no python3 or pvpython with $modules" >&2
        exit 77
    }
    echo "import $modules" >"$scratch/modules.py"
    command -v "$python" >/dev/null 2>&1 &&
        "$python" "$scratch/modules.py" >/dev/null 2>&1 && break
done
echo "with $python"

cat >"$scratch/look.py" <<'END'
import json, os, sys
import h5py, numpy
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkFiltersCore import vtkCellCenters
from vtkmodules.vtkFiltersVerdict import vtkCellSizeFilter
from vtkmodules.vtkIOHDF import vtkHDFReader

folder, n_dumps = sys.argv[1], int(sys.argv[2])
mesh = h5py.File(folder + "/mesh.h5")
series = json.load(open(folder + "/fields.hdf.series"))["files"]
assert len(series) == n_dumps, series
for entry in series:
    dump = h5py.File(folder + "/" + entry["name"].replace(".hdf", ".h5"))
    reader = vtkHDFReader()
    reader.SetFileName(folder + "/" + entry["name"])
    reader.Update()
    grid = reader.GetOutput()
    arrays = {grid.GetCellData().GetArrayName(i): vtk_to_numpy(grid.GetCellData().GetArray(i))
              for i in range(grid.GetCellData().GetNumberOfArrays())}
    wanted = {name: mesh[name][:] for name in ("volume", "centroid", "material")}
    wanted.update((name, values[:]) for name, values in dump.items() if name != "checksums")
    assert set(arrays) == set(wanted), (set(arrays), set(wanted))
    for name, values in wanted.items():
        assert numpy.array_equal(arrays[name], values, equal_nan=True), name
    time = grid.GetFieldData().GetArray("TimeValue").GetValue(0)
    assert time == entry["time"] == dump.attrs["time"], (time, entry)

    sizes = vtkCellSizeFilter()
    sizes.SetInputData(grid)
    sizes.Update()
    volume = vtk_to_numpy(sizes.GetOutput().GetCellData().GetArray("Volume"))
    assert numpy.allclose(volume, wanted["volume"], rtol=1e-12), "volumes"
    centres = vtkCellCenters()
    centres.SetInputData(grid)
    centres.Update()
    middle = vtk_to_numpy(centres.GetOutput().GetPoints().GetData())
    assert numpy.allclose(middle, wanted["centroid"], atol=1e-6), "centres"
print(folder, len(arrays), "arrays of", len(volume), "cells,", n_dumps, "dumps")
END

decks=$(cd "$(dirname "$0")/../../examples/decks" && pwd)
look() { # NAME DUMPS DECK OPTION...
    name=$1 dumps=$2 deck=$3
    shift 3
    run run "$decks/$deck" -n 1 --quiet --out "$scratch/$name" "$@"
    [ "$status" -eq 0 ] || fail "$name: $(cat "$scratch/err")"
    "$python" "$scratch/look.py" "$scratch/$name" "$dumps" || fail "$name"
}
look octree 3 octree.yaml --set mesh.level=2 --set time.steps=2 \
    --set output.every=1 --replicas 2
look boxes 2 crooked-pipe.yaml --set time.steps=1 \
    --set 'output.moments=[flux, events]'
finish
