#!/bin/sh
# log_memory.sh: part of recalld. It keeps a lesson: through the daemon where
# recalld is installed and works, else by appending a line to the log itself.
# It needs a POSIX shell with its usual tools (awk, dd, tr, find), no others.

usage() {
	cat <<'END'
Usage: log_memory.sh --lesson TEXT [options]

  --lesson TEXT         what was learned
  --type TYPE           error, success or pattern (default: pattern)
  --event-type TYPE     the same as --type
  --context TEXT        what was being attempted
  --command TEXT        the exact command, if there is one
  --repo NAME           repository it speaks of (default: the folder's name)
  --tags A,B            a few words to group by
  --success-rate X/Y    successes of attempts: 9/10
  --agent-id NAME       who writes it (default: $AGENT_ID, else user@host)
  --supersedes ID,ID    lessons that this one replaces
  --retracts ID,ID      lessons that were found wrong
  --help                this text

Environment:
  RECALLD               the recalld binary (default: recalld); empty: never call it
  AGENT_KNOWLEDGE_LOGS  folder of the logs that this script writes (default: ../logs
                        beside it); recalld writes where its own settings say

Exit codes: 0 kept, 1 failed, 2 wrong usage or a value outside its limits; 3 and 6
are recalld's, which did not find or not allow something.
END
}

# Bytes are bytes: ranges and lengths must not depend on the user's language.
LC_ALL=C
export LC_ALL
set -u

max_line=65536 # bytes, line end included
lock_stale=100 # pauses of a tenth of a second for which a lock may stay the same
lock_rounds=6  # such times that a lock which does change hands is waited for

lock='' mark=''
# Ends held locks whatever ends the script.
cleanup() {
	[ -z "$mark" ] || rmdir "$mark" 2>/dev/null
	[ -z "$lock" ] || rmdir "$lock" 2>/dev/null
	mark='' lock=''
}
trap cleanup EXIT
trap 'exit 1' HUP INT TERM

fail() { # fail CODE MESSAGE
	printf 'log_memory.sh: %s\n' "$2" >&2
	exit "$1"
}

# bytes TEXT: its length in bytes. Some shells count characters whatever LC_ALL.
bytes() { printf '%s' "$1" | wc -c | tr -d ' \t'; }

# characters TEXT: its length in code points. Continuation bytes of UTF-8 do not count.
characters() { printf '%s' "$1" | tr -d '\200-\277' | wc -c | tr -d ' \t'; }

check_length() { # check_length NAME TEXT MAX
	[ "${#2}" -le "$3" ] && return
	length=$(characters "$2")
	[ "$length" -le "$3" ] || fail 2 "--$1: $length characters are too many (limit: at most $3 characters)"
}

check_type() {
	[ -z "$as_type" ] || [ -z "$as_event_type" ] || [ "$as_type" = "$as_event_type" ] ||
		fail 2 "--type: is \"${as_type#x}\", and --event-type is \"${as_event_type#x}\" (limit: one of --type and --event-type, which are one field)"
	case $type in
	error | success | pattern) ;;
	*) fail 2 "--type: unknown type \"$type\" (limit: error, success, pattern)" ;;
	esac
}

check_rate() {
	[ -n "$rate" ] || return 0
	good=no
	case $rate in
	*[!0-9/]* | */*/* | /* | */ | ????????*/* | */????????*) ;;
	*/*) [ "${rate%/*}" -le "${rate#*/}" ] && good=yes ;;
	esac
	[ "$good" = yes ] || fail 2 "--success-rate: \"$rate\" is not a rate (limit: X/Y with 0 <= X <= Y)"
}

# check_list NAME LIST MOST LONGEST: the limits of a list that commas separate.
check_list() {
	rest=$2, number=0 # a comma ends the last one too
	while [ -n "$rest" ]; do
		item=${rest%%,*}
		rest=${rest#*,}
		[ -n "$item" ] || continue
		number=$((number + 1))
		check_length "$1" "$item" "$4"
	done
	[ "$number" -le "$3" ] || fail 2 "--$1: $number are too many (limit: at most $3)"
}

# fits TEXT BYTES: whether it has at most so many. A character has at most four, so that a short
# text need not be counted.
fits() { [ "${#1}" -le $(($2 / 4)) ] || [ "$(bytes "$1")" -le "$2" ]; }

# file_name REPO: sets name to that of its log, the same that recalld gives it.
file_name() {
	name=$1
	case $name in
	*[!A-Za-z0-9._-]*) name=$(printf '%s' "$1" | tr -c 'A-Za-z0-9._\200-\377-' '_') ;;
	esac
	fits "$name" 80 || name=$(printf '%s' "$name" | tr -c 'A-Za-z0-9._-' '_' | cut -c 1-80)
	case $name in
	[.-]*) name=_${name#?} ;;
	esac
	case ${name%%.*} in
	[Cc][Oo][Nn] | [Pp][Rr][Nn] | [Aa][Uu][Xx] | [Nn][Uu][Ll] | [Cc][Oo][Mm][0-9] | [Ll][Pp][Tt][0-9]) name=_$name ;;
	esac
	if [ "$name" != "$1" ]; then
		sum=$(printf '%s' "$1" | cksum)
		name=$name-${sum%% *}
	fi
	name=$name.jsonl
}

# through_recalld: has the daemon keep the lesson; it writes the log as well.
# Returns 1 when it could not work, so that the line is written here; what it refused
# is not kept by a side door.
through_recalld() {
	recalld=${RECALLD-recalld}
	[ -n "$recalld" ] && command -v "$recalld" >/dev/null 2>&1 || return 1
	set -- --type="$type" --lesson="$lesson" --agent-id="$agent"
	[ -z "$repo" ] || set -- "$@" --repo="$repo"
	[ -z "$context" ] || set -- "$@" --context="$context"
	[ -z "$command" ] || set -- "$@" --command="$command"
	[ -z "$rate" ] || set -- "$@" --success-rate="$rate"
	[ -z "$tags" ] || set -- "$@" --tags="$tags"
	[ -z "$supersedes" ] || set -- "$@" --supersedes="$supersedes"
	[ -z "$retracts" ] || set -- "$@" --retracts="$retracts"
	(cd "$root" && exec "$recalld" remember "$@")
	code=$?
	case $code in
	0) exit 0 ;;
	2 | 3 | 6 | 130) exit "$code" ;; # it has said what is wrong, or was interrupted
	esac
	printf 'log_memory.sh: recalld did not keep it (exit code %s): it goes to the log alone\n' "$code" >&2
	return 1
}

# encode: two lines, how many secrets were taken out and the event as JSON.
encode() {
	M_TIME=$(date -u +%Y-%m-%dT%H:%M:%SZ) M_AGENT=$agent M_REPO=$repo M_TYPE=$type M_CONTEXT=$context \
		M_COMMAND=$command M_LESSON=$lesson M_RATE=$rate M_TAGS=$tags M_SUPERSEDES=$supersedes M_RETRACTS=$retracts \
		awk '
		BEGIN {
			for (i = 1; i < 32; i++) escaped[sprintf("%c", i)] = sprintf("\\u%04x", i)
			escaped["\n"] = "\\n"; escaped["\t"] = "\\t"; escaped["\r"] = "\\r"
			escaped["\""] = "\\\""; escaped["\\"] = "\\\\"
			if (is_bare(redact(ENVIRON["M_LESSON"]))) exit 3
			taken = 0
			line = "{\"timestamp\":" quote(ENVIRON["M_TIME"]) field("agent_id", "M_AGENT") field("repo", "M_REPO")
			line = line field("event_type", "M_TYPE") field("context", "M_CONTEXT") field("command", "M_COMMAND")
			line = line field("lesson", "M_LESSON") field("success_rate", "M_RATE") list("tags", "M_TAGS")
			line = line list("supersedes", "M_SUPERSEDES") list("retracts", "M_RETRACTS")
			printf "%d\n%s}\n", taken, line
		}

		function quote(s,    i, c, out) {
			for (i = 1; i <= length(s); i++) {
				c = substr(s, i, 1)
				out = out (c in escaped ? escaped[c] : c)
			}
			return "\"" out "\""
		}
		function field(name, variable,    s) {
			s = trim(redact(ENVIRON[variable]))
			return s == "" ? "" : ",\"" name "\":" quote(s)
		}
		function list(name, variable,    n, i, items, s, out) {
			n = split(ENVIRON[variable], items, ",")
			for (i = 1; i <= n; i++) {
				s = trim(redact(items[i]))
				if (s != "") out = out (out == "" ? "" : ",") quote(s)
			}
			return out == "" ? "" : ",\"" name "\":[" out "]"
		}
		function trim(s) {
			sub(/^[ \t\r\n]+/, "", s)
			sub(/[ \t\r\n]+$/, "", s)
			return s
		}

		# The plainest forms of secrets; recalld itself knows more.
		function redact(s) {
			s = private_text(s)
			s = private_keys(s)
			s = url_passwords(s)
			s = behind(s, "bearer[ \t]+", "^[A-Za-z0-9._~+/=-]+", 16, "authorization")
			s = behind(s, "authorization[\"'\'']?[ \t]*[:=][ \t]*[\"'\'']?[a-z]+[ \t]+", "^[^ \t\r\n\"'\'',;]+", 8, "authorization")
			s = token(s, "(AKIA|ASIA|ABIA|ACCA)", "^[A-Z0-9]+", 16, "aws-key")
			s = token(s, "gh[pousr]_", "^[A-Za-z0-9]+", 20, "github-token")
			s = token(s, "github_pat_", "^[A-Za-z0-9_]+", 20, "github-token")
			s = token(s, "glpat-", "^[A-Za-z0-9_-]+", 20, "gitlab-token")
			s = token(s, "xox[abeoprs]-", "^[A-Za-z0-9-]+", 10, "slack-token")
			s = token(s, "sk-", "^[A-Za-z0-9_-]+", 20, "api-key")
			s = token(s, "([sr]k_(live|test)|whsec)_", "^[A-Za-z0-9]+", 16, "stripe-key")
			s = token(s, "npm_", "^[A-Za-z0-9]+", 36, "npm-token")
			s = token(s, "AIza", "^[A-Za-z0-9_-]+", 35, "google-key")
			s = token(s, "eyJ", "^[A-Za-z0-9_-]+\\.eyJ[A-Za-z0-9_-]+\\.[A-Za-z0-9_-]+", 32, "jwt")
			s = mysql_passwords(s)
			s = behind(s, "(password|passwd|passphrase|pwd|secret|token|api[_-]?key|access[_-]?key)[A-Za-z0-9_-]*[\"'\'']?=[\"'\'']?", \
				"^[^ \t\r\n\"'\''`,;&|<>(){}$*]+", 4, "secret")
			s = behind(s, "(password|passwd|passphrase|pwd|secret|token|api[_-]?key|access[_-]?key)[\"'\'']?[ \t]*[:=][ \t]*[\"'\'']", \
				"^[^\"'\''\r\n$<{]+", 4, "secret")
			return s
		}
		# mark is what stands in the place of a secret.
		function mark(what) {
			taken++
			return "[redacted:" what "]"
		}
		# is_bare says that nothing but marks is left of a text.
		function is_bare(s) {
			gsub(/\[redacted:[a-z-]+\]/, "", s)
			return s !~ /[^ \t\r\n]/
		}
		# private_text takes out what a person marked as private. Marks may be nested;
		# one that is not closed hides all that follows.
		function private_text(s,    out, depth, tag, rest) {
			while (match(tolower(s), /<\/?private([ \t\r\n][^>]*)?>/)) {
				tag = substr(s, RSTART, RLENGTH)
				rest = substr(s, RSTART + RLENGTH)
				if (depth > 0) {
					depth += tag ~ /^<\// ? -1 : 1
				} else {
					out = out substr(s, 1, RSTART - 1)
					if (tag ~ /^<\// || rest !~ /[^ \t\r\n]/) {
						out = out tag
					} else {
						out = out mark("private")
						depth = 1
					}
				}
				s = rest
			}
			return depth > 0 ? out : out s
		}
		# mysql_passwords takes out what stands at -p, on the line of mysql or mariadb.
		function mysql_passwords(s,    out, line, found, quoted) {
			while (match(tolower(s), /(mysql|mariadb)[^\r\n]*/)) {
				out = out substr(s, 1, RSTART - 1)
				line = substr(s, RSTART, RLENGTH)
				s = substr(s, RSTART + RLENGTH)
				while (match(line, /[ \t]-p("[^"]+"|'\''[^'\'']+'\''|[^ \t"'\''$<*[-][^ \t"'\''][^ \t"'\''][^ \t"'\'']+)/)) {
					found = substr(line, RSTART, RLENGTH)
					quoted = substr(found, 4, 1)
					if (quoted !~ /["'\'']/) quoted = ""
					out = out substr(line, 1, RSTART - 1) substr(found, 1, 3) quoted mark("password") quoted
					line = substr(line, RSTART + RLENGTH)
				}
				out = out line
			}
			return out s
		}
		function private_keys(s,    out, rest) {
			while (match(s, /-----BEGIN [A-Z0-9 ]*PRIVATE KEY[A-Z ]*-----/)) {
				out = out substr(s, 1, RSTART - 1) mark("private-key")
				rest = substr(s, RSTART + RLENGTH)
				if (!match(rest, /-----END [A-Z0-9 ]*PRIVATE KEY[A-Z ]*-----/)) return out
				s = substr(rest, RSTART + RLENGTH)
			}
			return out s
		}
		# url_passwords takes the password out of scheme://user:password@host.
		function url_passwords(s,    out, found, n) {
			while (match(s, /:\/\/[^ \t\r\n"`<>\/?#:@]*:[^ \t\r\n"`<>\/?#]+@/)) {
				found = substr(s, RSTART, RLENGTH)
				n = index(substr(found, 4), ":") + 3
				out = out substr(s, 1, RSTART - 1) substr(found, 1, n)
				if (substr(found, n + 1) ~ /^(\[redacted:|\$|\*)/) out = out substr(found, n + 1)
				else out = out mark("password") "@"
				s = substr(s, RSTART + RLENGTH)
			}
			return out s
		}
		# behind takes out a value of at least so many bytes behind a name, whatever
		# the case of the name.
		function behind(s, name, value, least, what,    out, rest) {
			while (match(tolower(s), name)) {
				out = out substr(s, 1, RSTART + RLENGTH - 1)
				rest = substr(s, RSTART + RLENGTH)
				if (rest !~ /^\[redacted:/ && match(rest, value) && RLENGTH >= least) {
					out = out mark(what)
					rest = substr(rest, RLENGTH + 1)
				}
				s = rest
			}
			return out s
		}
		# token takes out a secret that is known by its own beginning, with at least
		# so many bytes behind that. No letter or digit may stand before it.
		function token(s, start, value, least, what,    out, rest, head, before) {
			while (match(s, start)) {
				before = RSTART > 1 ? substr(s, RSTART - 1, 1) : ""
				out = out substr(s, 1, RSTART - 1)
				head = substr(s, RSTART, RLENGTH)
				rest = substr(s, RSTART + RLENGTH)
				if (before !~ /[A-Za-z0-9_]/ && match(rest, value) && RLENGTH >= least) {
					out = out mark(what)
					rest = substr(rest, RLENGTH + 1)
				} else {
					out = out head
				}
				s = rest
			}
			return out s
		}
		'
}

# take_lock LOG: makes the folder LOG.lock, as every writer of recalld does.
# One that stays the same for ten seconds is of a writer that was killed.
take_lock() {
	waited=0 rounds=0
	until mkdir "$1.lock" 2>/dev/null; do
		[ -e "$1.lock" ] || [ -w "$logs" ] || fail 1 "cannot write to $logs"
		if [ -z "$mark" ]; then
			mark=$1.$$.wait
			mkdir "$mark" 2>/dev/null || fail 1 "cannot write to $logs"
		fi
		sleep 0.1 2>/dev/null || {
			sleep 1
			waited=$((waited + 9))
		}
		waited=$((waited + 1))
		[ "$waited" -ge "$lock_stale" ] || continue
		waited=0 rounds=$((rounds + 1))
		[ "$rounds" -le "$lock_rounds" ] || fail 1 "$1 is locked; if no other writer is left, remove $1.lock"
		# A lock that is no newer than the mark is the one of ten seconds ago.
		[ -n "$(find "$1.lock" -prune -newer "$mark" 2>/dev/null)" ] || rmdir "$1.lock" 2>/dev/null
		touch "$mark"
	done
	lock=$1.lock
}

# append LOG LINE: adds the line by one write. Behind a line that was left torn
# it begins on a new one.
append() {
	start=''
	if [ -s "$1" ] && [ -n "$(tail -c 1 "$1" | tr '\000' x)" ]; then
		start='
'
	fi
	# A shell may write a long line in pieces; dd gathers them.
	printf '%s%s\n' "$start" "$2" | dd obs=131072 2>/dev/null >>"$1"
}

type=pattern as_type='' as_event_type='' context='' command='' lesson='' repo='' tags='' rate='' agent='' supersedes='' retracts=''
while [ $# -gt 0 ]; do
	case $1 in
	--help | -h)
		usage
		exit 0
		;;
	--*=*)
		option=${1%%=*} value=${1#*=}
		shift
		;;
	--*)
		[ $# -ge 2 ] || fail 2 "$1: has no value (--help shows the usage)"
		option=$1 value=$2
		shift 2
		;;
	*) fail 2 "unexpected argument \"$1\" (--help shows the usage)" ;;
	esac
	case $option in
	--type) type=$value as_type=x$value ;;
	--event-type) type=$value as_event_type=x$value ;;
	--context) context=$value ;;
	--command) command=$value ;;
	--lesson) lesson=$value ;;
	--repo) repo=$value ;;
	--tags) tags=$value ;;
	--success-rate) rate=$value ;;
	--agent-id) agent=$value ;;
	--supersedes) supersedes=$value ;;
	--retracts) retracts=$value ;;
	*) fail 2 "unknown option $option (--help shows the usage)" ;;
	esac
done

case $0 in
*/*) here=${0%/*}/ ;;
*) here=. ;;
esac
here=$(CDPATH='' cd -P -- "$here" && pwd -P) || fail 1 "cannot tell where this script lies"
root=${here%/agent-knowledge/scripts}
logs=${AGENT_KNOWLEDGE_LOGS-${here%/*}/logs}
[ -n "$agent" ] || agent=${AGENT_ID-}
[ -n "$agent" ] || agent=$(id -un 2>/dev/null || echo unknown)@$(uname -n)

case $lesson in
*[![:space:]]*) ;;
*) fail 2 "--lesson: is empty (limit: 1-4000 characters)" ;;
esac
check_type
check_rate
check_length lesson "$lesson" 4000
check_length context "$context" 2000
check_length command "$command" 2000
check_length repo "$repo" 200
check_length agent-id "$agent" 200
check_list tags "$tags" 20 64
check_list supersedes "$supersedes" 20 200
check_list retracts "$retracts" 20 200

through_recalld

[ -n "$repo" ] || repo=${root##*/}
encoded=$(encode)
case $? in
0) ;;
3) fail 2 "--lesson: nothing is left of it without what is private" ;;
*) fail 1 "awk failed to write the event" ;;
esac
line=${encoded#*
}
[ "${encoded%%
*}" = 0 ] || printf 'log_memory.sh: a secret was taken out of the text\n' >&2
fits "$line" $((max_line - 1)) || fail 2 "the line is too long (limit: less than $max_line bytes)"

[ -d "$logs" ] || mkdir -p "$logs" || fail 1 "cannot make $logs"
if [ -z "${AGENT_KNOWLEDGE_LOGS-}" ]; then
	# No link leads out of the repository.
	real=$(CDPATH='' cd -P -- "$logs" && pwd -P) || fail 1 "cannot open $logs"
	case $real/ in
	"${root%/}"/*) ;;
	*) fail 1 "$logs leads out of $root" ;;
	esac
fi
file_name "$repo"
log=$logs/$name
take_lock "$log"
if [ -h "$log" ] || { [ -e "$log" ] && [ ! -f "$log" ]; }; then
	fail 1 "$log is not a plain file"
fi
append "$log" "$line" || fail 1 "cannot append to $log"
cleanup
printf 'Logged to %s\n' "$log"
