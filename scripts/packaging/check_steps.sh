# The steps of scripts/packaging/check, which reads this file. A step is a function step_NAME that fails with a status;
# `needs` names the steps on which one rests.
all_steps="install pkg_config pkg_config_no_pc cmake fetchcontent subproject amalgamation debian_build debian_use
    setup_messages full_disk"
declare -A needs=([pkg_config]=install [pkg_config_no_pc]=install [cmake]=install [debian_use]=debian_build)
build_packages="build-essential ccache cmake debhelper devscripts dpkg-dev g++ git libboost-dev libeigen3-dev libfmt-dev libpng-dev
    lintian meson ninja-build nlohmann-json3-dev opencl-headers pkg-config python3"
# Debian's packages are built as they are for users. The other builds are about files and links, so they are quick ones.
quick="--unity on -Dunity_size=30 -Disa=lowest -Doptimization=0 -Dtests=disabled -Dexamples=disabled -Dbenchmarks=disabled -Dproofs=disabled"

# readme_program ROOT [OPTION...]: compiles the README's program with the README's command and further options, and runs it.
readme_program() {
    local root=$1
    shift
    sed -n '/^```cpp$/,/^```$/{/^```/!p;/^```$/q}' README.md >"$root/scratch/rows.cpp"
    local command expected said
    command=$(sed -n 's/^    \(g++ [^#]*rows\.cpp [^#]*[^# ]\) *\(#.*\)*$/\1/p' README.md)
    expected=$(sed -n 's/^    \(2 2 2 11 .*\)$/\1/p' README.md)
    [ -n "$command" ] && [ -n "$expected" ] || { echo "the README has no command g++ rows.cpp, or no result of it"; return 1; }
    inside "$root" sh -exc "cd /scratch; $command $* -o rows"
    said=$(inside "$root" /scratch/rows)
    echo "$said"
    [ "$(echo "$said" | tail -n 1 | sed 's/ *$//')" = "$expected" ]
}

# consumer ROOT COMMAND: runs a command in a new copy of tests/install/consumer.
consumer() {
    inside "$1" sh -exc "rm -rf /scratch/consumer; cp -r /src/tests/install/consumer /scratch/consumer; cd /scratch/consumer; $2"
}

# From the source to /usr/local, as the README says.
step_install() {
    fresh main build
    inside "$work/main/root" sh -exc "meson setup /scratch/build /src --prefix=/usr/local $quick; meson install -C /scratch/build; ldconfig; oriel version"
}

# What `install` installed, on a machine without the packages that building needs; with fmt and libpng of the given names.
installed_root() {
    local name=$1
    shift
    fresh "$name" user
    install_packages "$work/$name/root" "$@"
    cp -a "$work/main/upper/usr/local/." "$work/$name/root/usr/local/"
    inside "$work/$name/root" ldconfig
}

step_pkg_config() {
    installed_root pkg_config libfmt-dev libpng-dev
    readme_program "$work/pkg_config/root"
    inside "$work/pkg_config/root" sh -exc 'cd /scratch; g++ -std=c++20 rows.cpp -o static \
        $(pkg-config --static --cflags --libs oriel | sed "s/-loriel\b/-l:liboriel.a/"); ./static; ! ldd static | grep liboriel'
}

# The shared library with the runtime libraries alone; the static one with libraries that lost their .pc files.
step_pkg_config_no_pc() {
    local root=$work/no_pc/root
    installed_root no_pc libfmt9 libpng16-16
    inside "$root" sh -c '! pkg-config --exists fmt && ! pkg-config --exists libpng'
    readme_program "$root"
    install_packages "$root" libfmt-dev libpng-dev
    inside "$root" sh -c 'rm /usr/lib/*/pkgconfig/fmt.pc /usr/lib/*/pkgconfig/libpng*.pc'
    inside "$root" sh -exc 'cd /scratch; g++ -std=c++20 rows.cpp -o static \
        $(pkg-config --static --cflags --libs oriel | sed "s/-loriel\b/-l:liboriel.a/"); ./static; ! ldd static | grep liboriel'
}

step_cmake() {
    local root=$work/cmake/root
    installed_root cmake libfmt9 libpng16-16
    consumer "$root" 'cmake -B b; cmake --build b; b/consumer; ldd b/consumer | grep liboriel'
    install_packages "$root" libfmt-dev libpng-dev
    consumer "$root" 'cmake -B b -DOriel_USE_STATIC_LIBS=ON; cmake --build b; b/consumer; ! ldd b/consumer | grep liboriel'
}

# For people without meson: CMake builds the library from the source.
step_fetchcontent() {
    fresh fetchcontent build
    local root=$work/fetchcontent/root
    inside "$root" sh -c 'rm /usr/bin/meson'
    consumer "$root" 'cmake -G Ninja -B b -DORIEL_SOURCE=/src -DORIEL_ISA=lowest -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG=-O0; cmake --build b; b/consumer'
}

step_subproject() {
    fresh subproject build
    consumer "$work/subproject/root" "mkdir subprojects; ln -s /src subprojects/oriel
        meson setup b --unity subprojects -Dunity_size=30 -Doriel:isa=lowest -Ddebug=false; ninja -C b consumer; ORIEL_EIGEN=tile b/consumer"
}

# The one header and the one source that scripts/amalgamate writes.
step_amalgamation() {
    fresh amalgamation build
    local root=$work/amalgamation/root
    inside "$root" sh -exc '/src/scripts/amalgamate --out /scratch/one; cd /scratch/one
        g++ -std=c++20 -O1 -I/usr/include/eigen3 -c oriel.cpp; mkdir oriel; ln -s ../oriel.hpp oriel/oriel.hpp'
    sed -n '/^```cpp$/,/^```$/{/^```/!p;/^```$/q}' README.md >"$root/scratch/one/rows.cpp"
    inside "$root" sh -exc 'cd /scratch/one; g++ -std=c++20 -O2 -I. rows.cpp oriel.o -pthread -o rows; ./rows' | tail -n 1 | grep '^2 2 2 11 '
}

step_debian_build() {
    fresh debian_build build
    inside "$work/debian_build/root" sh -exc 'cp -r /src /scratch/src; cd /scratch/src; scripts/packaging/deb /scratch/deb'
    mkdir -p "$cache/deb"
    rm -f "$cache"/deb/*
    cp "$work"/debian_build/upper/scratch/deb/*.* "$cache/deb/"
}

# Installs the packages, uses them, and removes them without a trace.
step_debian_use() {
    fresh debian_use user
    local root=$work/debian_use/root
    # Everything but what records what apt and ldconfig did, and this script's own files.
    files='find / -xdev -path /scratch -prune -o -path /var/lib/dpkg -prune -o -path /var/lib/apt -prune -o -path /var/log -prune -o
        -path /var/cache -prune -o -print'
    install_packages "$root" libfmt9 libpng16-16
    inside "$root" $files | sort >"$work/before"
    cp "$cache"/deb/*.deb "$root/scratch/"
    inside "$root" sh -exc 'apt-get -q install -y --no-install-recommends /scratch/*.deb; rm /scratch/*.deb; oriel version; man oriel | head -n 5'
    inside "$root" sh -c 'pkg-config --exists oriel && oriel view "2,6 | reshape 3,4"'
    readme_program "$root"
    consumer "$root" 'cmake -B b; cmake --build b; b/consumer'
    inside "$root" apt-get -q purge -y oriel liboriel-dev liboriel0
    inside "$root" sh -c 'find / -xdev -path /scratch -prune -o -path /src -prune -o -path /var/log -prune -o -path /ccache -prune -o -name "*oriel*" -print' |
        grep -v -e '^/root/.cache/oriel$' -e '^/var/cache/\(apt\|man\)/' >"$work/left" || true
    inside "$root" $files | sort | comm -13 "$work/before" - | grep -v '^/root/.cache' >>"$work/left" || true
    cat "$work/left"
    [ ! -s "$work/left" ]
}

# scripts/setup on a machine without a network, without root, and with a full disk.
step_setup_messages() {
    fresh setup plain
    local root=$work/setup/root said
    said=$(env -i PATH="$PATH" unshare --net chroot "$root" /src/scripts/setup 2>&1) && return 1
    echo "$said"
    echo "$said" | grep -F 'the network' >/dev/null
    said=$(inside "$root" setpriv --reuid=65534 --regid=65534 --clear-groups /src/scripts/setup 2>&1) && return 1
    echo "$said"
    echo "$said" | grep -F 'needs root or sudo' >/dev/null
    mount -t tmpfs -o size=1m tmpfs "$root/var/cache/apt/archives"
    said=$(inside "$root" /src/scripts/setup 2>&1) && return 1
    umount "$root/var/cache/apt/archives"
    echo "$said"
    echo "$said" | grep -F 'the disk is full' >/dev/null
}

# The disk is full while meson configures, then while ninja compiles. The same commands go on when there is space.
step_full_disk() {
    fresh full_disk build
    local root=$work/full_disk/root
    mkdir "$root/small"
    mount -t tmpfs -o size=128k tmpfs "$root/small"
    setup="/src/scripts/configure /small/build $quick"
    if inside "$root" $setup; then echo "this was to fail"; return 1; fi
    mount -o remount,size=60m "$root/small"
    inside "$root" $setup
    # Room for no object.
    mount -o remount,size=$(($(du -sk "$root/small" | cut -f1) + 256))k "$root/small"
    if inside "$root" ninja -C /small/build engine/view/liboriel_view.a; then echo "this was to fail"; return 1; fi
    mount -o remount,size=1g "$root/small"
    # An interruption leaves no half-made file either.
    inside "$root" timeout --signal=KILL 5 ninja -C /small/build engine/view/liboriel_view.a || true
    inside "$root" ninja -C /small/build engine/view/liboriel_view.a
}
