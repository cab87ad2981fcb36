#!/bin/sh
# Bring a leaderboard up to date and publish it; for a schedule, which may run it as often as it likes.
#
#   refresh.sh RUN CONFIG SITE ENDPOINT [ENDPOINT ...]
#
# Adds every ENDPOINT of CONFIG that the board does not have yet. CONFIG's [budget] is the cap of all calls of the run.
# What is finished is never asked again, so a night that ended early is gone on with in the next one.
set -u
run=$1 config=$2 site=$3
shift 3

for endpoint in "$@"; do
    cut -d, -f4 "$run/leaderboard.csv" | grep -qxF "$endpoint" && continue
    tutor-arena refresh "$run" --config "$config" --add "$endpoint"
    code=$?
    case $code in
    0) echo "$endpoint: added" ;;
    1) echo "$endpoint: added, but something failed or could not be read; the site says so at its top" ;;
    3 | 130) echo "$endpoint: stopped at the cap or interrupted; the site stays as it was, the next night goes on" && exit 0 ;;
    *) echo "$endpoint: refused (exit code $code), nothing was called" >&2 && exit "$code" ;;
    esac
done

tutor-arena report "$run" --site "$site"
code=$?
[ "$code" -le 1 ] || exit "$code" # 1: published, and incomplete, as the site says
tutor-arena verify "$run" > verify.txt || { cat verify.txt >&2 && exit 1; }
