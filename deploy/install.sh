#!/bin/sh
# Installs recalld for one user, without root:
#   curl -fsSL https://github.com/recalld/recalld/releases/latest/download/install.sh | sh
#
# It downloads the archive for this machine, compares its SHA-256 with checksums.txt, and
# puts the program into a folder. With cosign it also checks who signed checksums.txt.
# Nothing is changed before all of that is done.
#
#   RECALLD_VERSION      a version, such as 0.1.0; default: the latest one
#   RECALLD_INSTALL_DIR  the folder; default: ~/.local/bin
#   RECALLD_BASE_URL     where releases are; default: the project's page
set -eu

base=${RECALLD_BASE_URL:-https://github.com/recalld/recalld/releases}
version=${RECALLD_VERSION:-latest}
work=

fail() {
	echo "install: $1" >&2
	[ -z "${2:-}" ] || echo "         $2" >&2
	exit 1
}

have() { command -v "$1" >/dev/null 2>&1; }

# fetch URL FILE
fetch() {
	if have curl; then
		curl -fsSL --retry 2 --connect-timeout 15 -o "$2" "$1"
	elif have wget; then
		wget -q -T 15 -O "$2" "$1"
	else
		fail "neither curl nor wget is here" "install one of them, or download the archive from $base"
	fi || fail "$1 cannot be downloaded" "check the connection, and that this version exists"
}

digest() {
	if have sha256sum; then
		sha256sum "$1"
	elif have shasum; then
		shasum -a 256 "$1"
	elif have openssl; then
		openssl dgst -sha256 -r "$1"
	else
		fail "no program for SHA-256 is here" "install coreutils, perl or openssl"
	fi | cut -d' ' -f1
}

platform() {
	case "$(uname -s)" in
	Linux) system=linux ;;
	Darwin) system=darwin ;;
	*) fail "$(uname -s) is not supported by this script" "on Windows use Scoop, or the zip file from $base" ;;
	esac
	case "$(uname -m)" in
	x86_64 | amd64) arch=amd64 ;;
	aarch64 | arm64) arch=arm64 ;;
	*) fail "no release is built for the processor $(uname -m)" "build it with Go: go install github.com/recalld/recalld/cmd/recalld@latest" ;;
	esac
}

signature() {
	if ! have cosign; then
		echo "install: the signature is not checked, for want of cosign; the checksum is"
		return
	fi
	fetch "$from/checksums.txt.sigstore.json" "$work/bundle"
	cosign verify-blob --bundle "$work/bundle" \
		--certificate-identity-regexp '^https://github\.com/recalld/recalld/\.github/workflows/release\.yml@refs/tags/v' \
		--certificate-oidc-issuer https://token.actions.githubusercontent.com \
		"$work/checksums.txt" >/dev/null 2>&1 || fail "checksums.txt is not signed by the project" "nothing was installed"
}

main() {
	dir=${RECALLD_INSTALL_DIR:-${HOME:?HOME is not set; name a folder with RECALLD_INSTALL_DIR}/.local/bin}
	platform
	from=$base/latest/download
	[ "$version" = latest ] || from=$base/download/v${version#v}
	work=$(mktemp -d)
	trap 'rm -rf "$work"' EXIT
	trap 'exit 130' INT TERM

	fetch "$from/checksums.txt" "$work/checksums.txt"
	signature
	archive=$(sed -n "s/^[0-9a-f]\{64\}  \(recalld_[^/ ]*_${system}_$arch\.tar\.gz\)\$/\1/p" "$work/checksums.txt" | head -n 1)
	[ -n "$archive" ] || fail "this release has no archive for $system/$arch"
	want=$(sed -n "s/^\([0-9a-f]\{64\}\)  $archive\$/\1/p" "$work/checksums.txt" | head -n 1)
	fetch "$from/$archive" "$work/$archive"
	got=$(digest "$work/$archive")
	[ "$got" = "$want" ] || fail "the checksum of $archive is $got, and not $want" "nothing was installed; the download is damaged or not the project's"
	tar -xzf "$work/$archive" -C "$work" recalld || fail "$archive cannot be unpacked"

	mkdir -p "$dir" 2>/dev/null || fail "the folder $dir cannot be made" "name another one with RECALLD_INSTALL_DIR"
	# In the folder itself, so that the program is replaced at once or not at all.
	new=$dir/.recalld.$$
	if ! cp "$work/recalld" "$new" 2>/dev/null; then
		rm -f "$new"
		fail "the folder $dir cannot be written to" "name another one with RECALLD_INSTALL_DIR"
	fi
	chmod 755 "$new" && mv -f "$new" "$dir/recalld" || { rm -f "$new"; fail "$dir/recalld cannot be replaced"; }
	"$dir/recalld" version >/dev/null || fail "$dir/recalld does not run on this machine"
	echo "Installed $dir/recalld, from $archive."
	case ":$PATH:" in
	*":$dir:"*) echo "Next, in a repository: recalld up ." ;;
	*) printf 'It is not in PATH yet. Add this line to the profile of your shell:\n  export PATH="%s:$PATH"\nNext, in a repository: %s/recalld up .\n' "$dir" "$dir" ;;
	esac
}

main
