# SPDX-License-Identifier: BSD-3-Clause
"""storm.Run of a directory: see python.sh, which has the deck."""
import sys

import h5py
import numpy as np

import storm


def main(path):
    run = storm.Run(path)
    assert run.steps == [0, 2, 4], run.steps
    assert run.status["state"] == "done"
    assert abs(run.time(4) - 0.4) < 1e-12
    assert "material_temperature" in run.field_names(4)
    mesh = run.mesh(4)
    assert abs(mesh["volume"].sum() - 1.0) < 1e-12
    for step in run.steps:
        values = run.field("material_temperature", step)
        assert values.shape == mesh["volume"].shape == (12,)
        with h5py.File(f"{path}/fields-{step}.h5", "r") as file:
            assert np.array_equal(values, file["material_temperature"][...])
    assert np.all(run.field("material_temperature", 0) == 1.0)

    # The profile is made of the same cells.
    profile = run.profile(4)
    assert run.profile_steps == run.steps
    assert abs(np.sum(profile["volume"]) - 1.0) < 1e-12
    assert abs(np.sum(profile["material_energy"] * profile["volume"]) -
               np.sum(run.field("material_energy", 4) * mesh["volume"])) < 1e-9

    # Packets are those of the summary, with directions of length one.
    packets = run.packets(run.checkpoint_steps[-1])
    history = run.history()
    assert len(history["step"]) == 4 and history["step"][-1] == 4
    assert packets.size == history["packets_census"][-1] > 0
    assert abs(packets["weight_erg"].sum() - history["energy_census"][-1]) < (
        1e-6 * history["energy_census"][-1])
    assert np.allclose(np.linalg.norm(packets["direction"], axis=1), 1.0)
    assert packets["position_cm"].min() >= 0 and (
        packets["position_cm"].max() <= 1.0)

    for wrong, kind in ((lambda: run.field("none", 4), ValueError),
                        (lambda: run.field("material_energy", 3), ValueError),
                        (lambda: storm.Run(path + "/none"), FileNotFoundError)):
        try:
            wrong()
        except kind:
            continue
        raise AssertionError(f"expected {kind}")


main(sys.argv[1])
