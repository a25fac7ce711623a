#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs fuzz targets one after another and prints what came of each. `make fuzz` calls it.
#
#   fuzz.sh run BINARY WORK SECONDS [TARGET...]   SECONDS of CPU time for each; all targets where none is named
#   fuzz.sh keep BINARY WORK [TARGET...]          takes the fewest inputs that reach everything into the repository
#
# WORK gets corpus/TARGET (all inputs that reached something new), log/TARGET, found/ (inputs that broke something) and
# table.txt. Exit code 1 where anything was found.
set -u
what=$1 binary=$2 work=$3
shift 3
if [ "$what" = run ]; then seconds=$1; shift; fi
kept=$(dirname "$0")/Corpus
[ $# -gt 0 ] || set -- $("$binary")
mkdir -p "$work/log" "$work/found" "$work/rows"
# Swift's own report of a crash reads the stack in a way that address sanitizer takes for another one. A small
# quarantine, so that the peak of memory is the parser's and not that of what it has freed.
export SWIFT_BACKTRACE=enable=no ASAN_OPTIONS=quarantine_size_mb=16

# A figure of -print_final_stats, empty where the run broke off.
figure() { sed -n "s/^stat::$1: *//p" "$2" | tail -1; }

row() { printf '%-18s %12s %9s %7s %7s %9s %8s %7s %6s\n' "$@"; }

if [ "$what" = keep ]; then
    for target; do
        mkdir -p "$work/corpus/$target" "$work/kept/$target"
        rm -f "$work/kept/$target"/*
        # Edges alone (-use_counters=0): a hundred inputs, not thousands. What once broke something is kept by its name.
        "$binary" "$target" -merge=1 -use_counters=0 -max_len=4096 -rss_limit_mb=2048 "$work/kept/$target" \
            "$kept/$target" "$work/corpus/$target" > "$work/log/$target.merge" 2>&1 || { tail -3 "$work/log/$target.merge"; exit 1; }
        # Nothing kept is a merge that did not run: the repository's inputs stay as they are.
        [ -n "$(ls "$work/kept/$target")" ] || { echo "$target: nothing was kept; see $work/log/$target.merge"; exit 1; }
        mkdir -p "$kept/$target"
        find "$kept/$target" -type f ! -name 'found-*' -delete
        cp "$work/kept/$target"/* "$kept/$target/"
        echo "$target: $(ls "$kept/$target" | wc -l) inputs, $(cat "$kept/$target"/* | wc -c) bytes"
    done
    exit 0
fi

status=0
for target; do
    mkdir -p "$work/corpus/$target"
    log=$work/log/$target
    began=$(date +%s)
    (
        ulimit -S -t "$seconds"
        exec "$binary" "$target" -print_final_stats=1 -timeout=25 -rss_limit_mb=2048 -max_len=4096 \
            -artifact_prefix="$work/found/$target-" "$work/corpus/$target" "$kept/$target"
    ) > "$log" 2>&1
    code=$?
    crashes=0 hangs=0
    case $code in
        0) ;;
        70) hangs=1 status=1 ;;
        *) crashes=1 status=1 ;;
    esac
    edges=$(sed -n 's/.* cov: \([0-9]*\) .*/\1/p' "$log" | tail -1)
    runs=$(figure number_of_executed_units "$log")
    row "$target" "${runs:-?}" "$(( ${runs:-0} / seconds ))" "${edges:-?}" "$(ls "$work/corpus/$target" | wc -l)" \
        "$(figure peak_rss_mb "$log")" "$(figure slowest_unit_time_sec "$log") s" "$crashes" "$hangs" > "$work/rows/$target"
    echo "$target: $(( $(date +%s) - began )) s, exit $code"
    [ $code = 0 ] || grep -m1 -E 'Fatal error|SUMMARY|ERROR:' "$log" | cut -c1-300
done
{ row target executions "per sec" edges inputs "peak MB" slowest crashes hangs; cat "$work"/rows/*; } > "$work/table.txt"
cat "$work/table.txt"
exit $status
