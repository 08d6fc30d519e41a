#!/bin/sh
# Ends the daemons of this program when the package is removed. An upgrade ends none: the
# next command has the older daemon hand over. dpkg says "remove", rpm the number of
# versions that stay.
case "$1" in
remove | 0) ;;
*) exit 0 ;;
esac
for process in /proc/[0-9]*; do
	# One with another root folder, in a container for instance, has a program of its own.
	# shellcheck disable=SC3013 # dash, bash and busybox know -ef
	[ "$process/root" -ef / ] || continue
	# The link of a program whose file was replaced ends in " (deleted)".
	case "$(readlink "$process/exe" 2>/dev/null)" in
	/usr/bin/recalld | "/usr/bin/recalld (deleted)") kill -TERM "${process#/proc/}" 2>/dev/null || : ;;
	esac
done
exit 0
