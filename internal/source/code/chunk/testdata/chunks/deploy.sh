#!/usr/bin/env bash
#don't stop here
set -euo pipefail

readonly VERSION=1.2
TARGET="${1:-prod}"
export PATH="$HOME/bin:$PATH"
alias ll='ls -l'

usage() { echo "usage: $0"; }

function build-image() {
  local tag=$1
  cat > Dockerfile <<EOT
fake() {
EOT
  cat <<-'END'
	other() {
	END
  if [[ ${#tag} -gt 0 ]]; then
    docker build -t "app:$(git rev-parse --short "HEAD")" .
  fi
}

deploy()
{
  case "$TARGET" in
    prod) echo "it's prod" ;;
    *) echo 'no' ;;
  esac
}

main "$@"
