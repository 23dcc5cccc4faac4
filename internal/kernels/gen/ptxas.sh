#!/bin/sh
# Fetches NVIDIA's assembler, ptxas, from Debian's section non-free, and puts it at $1, without
# installing anything: make build/ptxas. By using it you accept its licence, NVIDIA's End User
# License Agreement for CUDA, which is left beside it. It is a tool for developers: it is not
# committed, nor part of a package of gagg. Needs apt-get, dpkg-deb and Debian's archive keys.
#
# Its release stays the same, since devices and drivers differ in what they take of its output:
# that of 11.8 is known to every driver that gagg runs with.
set -eu
to=$1
package=nvidia-cuda-toolkit=11.8.89~11.8.0-5~deb12u1
temp=$(mktemp -d)
trap 'rm -rf "$temp"' EXIT
mkdir -p "$temp/lists/partial" "$temp/cache/archives/partial" "$temp/unpacked"
echo 'deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian bookworm non-free' >"$temp/sources.list"
apt() {
	apt-get -q -oDir::Etc::sourcelist="$temp/sources.list" -oDir::Etc::sourceparts=/dev/null \
		-oDir::State::lists="$temp/lists" -oDir::Cache="$temp/cache" -oAPT::Sandbox::User="$(id -un)" "$@"
}
apt update
(cd "$temp" && apt download "$package")
dpkg-deb --fsys-tarfile "$temp"/*.deb | tar -x -C "$temp/unpacked" ./usr/bin/ptxas ./usr/share/doc/nvidia-cuda-toolkit/copyright
mkdir -p "$(dirname "$to")"
cp "$temp/unpacked/usr/share/doc/nvidia-cuda-toolkit/copyright" "$to.licence"
cp "$temp/unpacked/usr/bin/ptxas" "$to"
