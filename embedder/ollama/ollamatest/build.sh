#!/usr/bin/env bash
# Builds what ollamatest.Start needs: a real Ollama server (CPU), from the module
# that go.mod names, and a tiny embedding model for it. It takes minutes on 2 cores.
#   build.sh OUTDIR      leaves OUTDIR/ollama, OUTDIR/tiny.gguf and OUTDIR/tiny-chat.gguf
# The module's zip lacks three headers: two come from Debian packages, the third
# (audio, unused here) is the stand-in in include/.
set -euo pipefail

out=${1:?usage: build.sh OUTDIR}
mkdir -p "$out"
out=$(cd "$out" && pwd)
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

need() { command -v "$1" >/dev/null || { echo "build.sh: $1 is needed: $2" >&2; exit 1; }; }
need go "see https://go.dev/dl"

if [[ ! -x $out/ollama ]]; then
  need apt-get "two C++ headers (nlohmann-json3-dev, libstb-dev) are taken from Debian packages; run this on Debian or Ubuntu"
  need dpkg-deb "it unpacks these packages"
  need g++ "Ollama's runner is C++"
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  headers=$work/headers
  mkdir "$headers"
  # Downloaded and unpacked beside the system, so no root is needed.
  (
    cd "$headers"
    apt-get download -qq nlohmann-json3-dev libstb-dev ||
      { apt-get update -qq && apt-get download -qq nlohmann-json3-dev libstb-dev; }
    for deb in *.deb; do dpkg-deb -x "$deb" .; done
  )
  cd "$here"
  go mod download github.com/ollama/ollama
  read -r version module < <(go list -m -f '{{.Version}} {{.Dir}}' github.com/ollama/ollama)
  cp -r "$module" "$work/ollama"
  chmod -R u+w "$work/ollama"
  cd "$work/ollama"
  # A folder with a source file for each architecture is compiled as one file, because each
  # takes over a second for the same headers.
  for models in llama/llama.cpp/src/models llama/llama.cpp/tools/mtmd/models; do
    cat "$models"/*.cpp >"$work/all"
    rm "$models"/*.cpp
    mv "$work/all" "$models/all.cpp"
  done
  GOFLAGS=-buildvcs=false CGO_ENABLED=1 \
    CGO_CPPFLAGS="-I$headers/usr/include -I$here/include" CGO_CFLAGS="-O1 -g0" CGO_CXXFLAGS="-O1 -g0" \
    go build -trimpath -ldflags "-s -w -X github.com/ollama/ollama/version.Version=${version#v}" -o "$out/ollama" .
  cd "$here"
fi
go run "$here/tinygguf" -o "$out/tiny.gguf" -syn "$here/synonyms.txt"
go run "$here/tinygguf" -chat -o "$out/tiny-chat.gguf"
echo "now: RECALLD_TEST_OLLAMA=$out go test ./..."
