# SPDX-License-Identifier: BSD-3-Clause
#
# A recipe for Spack: put this folder into a repository of Spack as
# packages/storm-transport. Not tested by the project: there is no Spack where
# its checks run.
from spack.package import *


class StormTransport(CMakePackage):
    """Monte Carlo transport of particles on meshes split over many
    processes."""

    license("BSD-3-Clause")

    version("main", branch="main")

    depends_on("c", type="build")
    depends_on("cmake@3.18:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("random123", type="build")
    depends_on("mpi@3.1:")
    depends_on("hdf5@1.10:~mpi")
    depends_on("libyaml")
    # Opened at run time; headers are needed to build.
    depends_on("libfabric")
    depends_on("rdma-core")

    def cmake_args(self):
        return [
            self.define("STORM_TESTS", False),
            self.define("STORM_EXAMPLES", False),
        ]
