# An overlay port, which builds the tree that it lies in. meson.build says which version that is.
get_filename_component(SOURCE_PATH "${CMAKE_CURRENT_LIST_DIR}/../../../.." ABSOLUTE)

# The CMake package finds its library beside itself, in lib/cmake/Oriel, so it stays there; it has no debug variant.
set(VCPKG_BUILD_TYPE release)
set(VCPKG_POLICY_SKIP_MISPLACED_CMAKE_FILES_CHECK enabled)
set(VCPKG_POLICY_SKIP_LIB_CMAKE_MERGE_CHECK enabled)

vcpkg_configure_meson(
  SOURCE_PATH "${SOURCE_PATH}"
  OPTIONS
    --unity=on -Dunity_size=30 -Dopencl=disabled
    -Dtests=disabled -Dexamples=disabled -Dbenchmarks=disabled -Dproofs=disabled)
vcpkg_install_meson()
vcpkg_fixup_pkgconfig()
vcpkg_copy_tools(TOOL_NAMES oriel AUTO_CLEAN)

# meson makes both libraries; the triplet wants one.
if(VCPKG_LIBRARY_LINKAGE STREQUAL "static")
  file(GLOB unwanted "${CURRENT_PACKAGES_DIR}/lib/liboriel.so*" "${CURRENT_PACKAGES_DIR}/lib/liboriel*.dylib")
else()
  set(unwanted "${CURRENT_PACKAGES_DIR}/lib/liboriel.a")
endif()
file(REMOVE ${unwanted})
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
