"""The recipe of Conan 2: `conan create scripts/packaging/conan` in the top folder of Oriel."""
import re
from pathlib import Path

from conan import ConanFile
from conan.tools.build import check_min_cppstd
from conan.tools.files import copy, rm
from conan.tools.gnu import PkgConfigDeps
from conan.tools.layout import basic_layout
from conan.tools.meson import Meson, MesonToolchain


class Oriel(ConanFile):
    name = "oriel"
    license = "Apache-2.0"
    description = "A lazy tensor engine: views that never copy, few fused kernels"
    topics = ("tensor", "array", "lazy", "fusion", "views")
    package_type = "library"
    settings = "os", "arch", "compiler", "build_type"
    options = {"shared": [True, False], "isa": ["all", "lowest"]}
    default_options = {"shared": True, "isa": "all"}

    @property
    def _root(self):
        return Path(self.recipe_folder).parent.parent.parent

    def set_version(self):
        self.version = re.search(r"version: '([0-9.]+)'", (self._root / "meson.build").read_text())[1]

    def export_sources(self):
        for name in ("meson.build", "meson_options.txt", "LICENSE"):
            copy(self, name, self._root, self.export_sources_folder)
        for folder in ("engine", "include", "proofs", "scripts", "tests"):
            copy(self, f"{folder}/*", self._root, self.export_sources_folder)

    def requirements(self):
        # Public headers include the standard library alone, so no user sees these headers.
        for reference in ("boost/[>=1.74]", "eigen/[>=3.4 <4]", "nlohmann_json/[>=3.11]"):
            self.requires(reference, libs=False, headers=True, visible=False)
        self.requires("fmt/[>=9]", transitive_headers=False)
        self.requires("libpng/[>=1.6]", transitive_headers=False)

    def validate(self):
        check_min_cppstd(self, 20)

    def layout(self):
        basic_layout(self)

    def generate(self):
        PkgConfigDeps(self).generate()
        toolchain = MesonToolchain(self)
        toolchain.project_options |= {
            "tests": "disabled", "examples": "disabled", "benchmarks": "disabled", "proofs": "disabled",
            "opencl": "disabled", "isa": str(self.options.isa), "unity": "on", "unity_size": 30}
        toolchain.generate()

    def build(self):
        meson = Meson(self)
        meson.configure()
        meson.build()

    def package(self):
        copy(self, "LICENSE", self.source_folder, Path(self.package_folder) / "licenses")
        Meson(self).install()
        # meson makes both libraries; the option wants one.
        unwanted = ["liboriel.a"] if self.options.shared else ["liboriel.so*", "liboriel*.dylib"]
        for pattern in unwanted:
            rm(self, pattern, Path(self.package_folder) / "lib")

    def package_info(self):
        self.cpp_info.libs = ["oriel"]
        self.cpp_info.set_property("cmake_file_name", "Oriel")
        self.cpp_info.set_property("cmake_target_name", "Oriel::oriel")
        self.cpp_info.set_property("pkg_config_name", "oriel")
        if self.settings.os == "Linux":
            self.cpp_info.system_libs = ["pthread", "dl"]
