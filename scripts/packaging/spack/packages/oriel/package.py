"""The recipe of Spack. Adds this folder's repository, then builds the tree that it lies in:

    spack repo add scripts/packaging/spack
    spack dev-build oriel@main
"""
from spack.package import *


class Oriel(MesonPackage):
    """A lazy tensor engine: views that never copy, few fused kernels."""

    license("Apache-2.0")
    version("main")

    variant("opencl", default=False, description="The OpenCL backend")

    depends_on("cxx", type="build")
    depends_on("meson@1.0.1:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("python@3.9:", type="build")
    depends_on("boost@1.74:", type="build")
    depends_on("eigen@3.4:3", type=("build", "run"))  # compiled kernels include it
    depends_on("nlohmann-json@3.11:", type="build")
    depends_on("opencl-c-headers", type="build", when="+opencl")
    depends_on("fmt@9:")
    depends_on("libpng@1.6:")

    conflicts("%gcc@:11", msg="Oriel needs g++ 12 or newer")
    conflicts("%clang@:13", msg="Oriel needs clang 14 or newer")

    def meson_args(self):
        off = [f"-D{part}=disabled" for part in ("tests", "examples", "benchmarks", "proofs")]
        return [*off, "-Dunity=on", "-Dunity_size=30",
                "-Dopencl=" + ("enabled" if self.spec.satisfies("+opencl") else "disabled")]
