#!/usr/bin/env bash
# Lets a recalld program remember a little of every kind, stops it, and packs its store:
#   make.sh PROGRAM STORE.tar.gz
# All versions of the program understand the calls below; one that a version does not know
# yet is named. make store-fixture builds the program of a commit and runs this.
set -euo pipefail
program=$(realpath "$1")
out=$(realpath -m "$2")

home=$(mktemp -d)
# The store names the folder of the repository, so it has the same name for everyone.
repo=/tmp/recalld-store-fixture/shop
finish() {
  "$program" stop >/dev/null 2>&1 || true
  rm -rf "$home" "${repo%/*}"
}
trap finish EXIT
if [[ -e ${repo%/*} ]]; then
  echo "make.sh: ${repo%/*} is in the way" >&2
  trap 'rm -rf "$home"' EXIT
  exit 1
fi
export HOME=$home XDG_RUNTIME_DIR=$home XDG_CONFIG_HOME=$home/config RECALLD_DATA=$home/data RECALLD_EMBEDDING_OLLAMA_ENABLED=off
mkdir -p "$repo/cart" "$repo/agent-knowledge/logs"
git -C "$repo" init -q -b main

cat >"$repo/cart/cart.go" <<'GO'
package cart

// Total adds up the prices of all articles in the shopping cart, discounts taken off.
func Total(prices []int, discount int) int {
	sum := 0
	for _, p := range prices {
		sum += p
	}
	return sum - discount
}
GO
cat >"$repo/agent-knowledge/logs/shop.jsonl" <<'JSONL'
{"timestamp":"2026-01-15T12:00:00Z","agent_id":"a-1","repo":"shop","event_type":"error","context":"npm install","command":"npm ci","lesson":"The cache belonged to root, give it back first","success_rate":"9/10","tags":["npm"]}
JSONL
git -C "$repo" add -A
git -C "$repo" -c user.name=fixture -c user.email=fixture@example.org commit -q -m "cart: add up prices"
cd "$repo"

"$program" index --wait . >/dev/null

# call TOOL ARGUMENTS asks the bridge, which one process of an agent keeps open.
coproc bridge { "$program" mcp 2>/dev/null; }
id=0
request() {
  id=$((id + 1))
  printf '{"jsonrpc":"2.0","id":%d,"method":"%s","params":%s}\n' "$id" "$1" "$2" >&"${bridge[1]}"
  local line
  while read -r -t 60 line <&"${bridge[0]}"; do
    if [[ $line == *"\"id\":$id,"* || $line == *"\"id\":$id}"* ]]; then reply=$line; return; fi
  done
  echo "make.sh: no answer to $1 $2" >&2
  return 1
}
call() {
  request tools/call "{\"name\":\"$1\",\"arguments\":$2}"
  if [[ $reply == *'"error":'* || $reply == *'"isError":true'* ]]; then echo "left out: $1: ${reply:0:160}"; fi
}
request initialize '{"protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"fixture","version":"1"}}'
printf '{"jsonrpc":"2.0","method":"notifications/initialized"}\n' >&"${bridge[1]}"

call session_start '{"sessionId":"session-fixture","goal":"Ship the mail","flowTags":["send"],"tags":["smoke"]}'
call record_step '{"sessionId":"session-fixture","tool":{"name":"bash","input":{"command":"npm install"}},"outcome":{"ok":false,"error":{"message":"npm ERR! code EACCES: permission denied"}}}'
call record_step '{"sessionId":"session-fixture","tool":{"name":"mm_click","target":{"testId":"confirm"}},"outcome":{"ok":true},"observation":{"state":{"currentScreen":"send"},"testIds":[],"a11y":{"nodes":[]}}}'
call remember '{"lesson":"Freeze the clock before the coupon expires","context":"the test of coupons","command":"go test ./coupon","tags":["clock"],"success_rate":"2/3"}'
call remember '{"lesson":"Deliveries are counted in working days","tags":["mail"]}'
call remember '{"lesson":"Forget this lesson about the printer"}'
call recall '{"query":"coupon clock"}'
call recall '{"query":"add up the prices in the cart"}'
call session_end '{"sessionId":"session-fixture"}'
call complete_task '{"task_id":"t-1","task_type":"fix","requires_context":true,"intent":"Send the mail once","summary":"The mail is sent once","validation_report":{"valid":true}}'
call block_task '{"task_id":"t-2","reason":"The mail server is down"}'
call register_context '{"source":"fixture","entries":[{"type":"rule","name":"style","content":"Use plain words","include":"always"}]}'
exec {bridge[1]}>&-
wait "$bridge_PID" || true

"$program" import agent-knowledge/logs/shop.jsonl >/dev/null
printer=$("$program" recall --json --kinds lesson "forget this lesson about the printer" | grep -o '"id": *"l-[^"]*"' | head -1 | cut -d'"' -f4)
"$program" forget "$printer" --yes >/dev/null 2>&1 || "$program" forget "$printer" >/dev/null
"$program" stop >/dev/null

store=$(dirname "$(find "$RECALLD_DATA" -name KEYREGISTRY)")
tar -C "$store" --sort=name --owner=0 --group=0 --numeric-owner --exclude=LOCK -cf - . | gzip -9n >"$out"
echo "$out: $(stat -c %s "$out") bytes"
