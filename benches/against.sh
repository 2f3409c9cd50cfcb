#!/usr/bin/env bash
# How fast this version is beside another one: builds both, runs them in turns and prints the ratios.
#
#   benches/against.sh [COMMIT [CASE…]]      without COMMIT against 8f5ba5b, without CASE all of them
#   RUNS=3 benches/against.sh HEAD~1 one-1   three turns instead of seven
#
# Times are those of the whole command in user mode, on one core. The speed of a machine drifts, so that only
# the ratio of two runs that follow each other counts: what is printed is the median of these ratios, with the
# least and the greatest. Instructions hardly drift; they are counted once where perf(1) can.
set -euo pipefail
cd "$(dirname "$0")/.."
other=${1:-8f5ba5b}
shift $(($# > 0))
runs=${RUNS:-7}
work=$PWD/target/against
tree=$work/$(git rev-parse --short "$other^{commit}")
mkdir -p "$work"
[ -d "$tree" ] || git worktree add --detach "$tree" "$other"
# Each version is built in its own directory, once.
before=$tree/target/release/ileave
[ -x "$before" ] || (cd "$tree" && CARGO_TARGET_DIR=$tree/target cargo build --release -p cli)
CARGO_TARGET_DIR=$work/now cargo build --release -p cli
now=$work/now/release/ileave

# random NAME DRIVES LEVEL OP DEPTH COUNT [KEY = VALUE…]: an experiment of one trial; the keys are of its drives.
random() {
    cat >"$work/$1.toml" <<EOF
name = "$1"
about = "Random requests of 4 KiB"
[volume]
drives = "$2"
level = "$3"
interleave = 128
[workload.random]
kind = "random"
op = "$4"
block = "4KiB"
depth = $5
count = $6
$([ $# -lt 7 ] || printf '%s\n' '[drive]' "${@:7}")
EOF
}
random one-1 1xqm39100td-sw single read 1 3000000
random one-16 1xqm39100td-sw single read 16 3000000
random stripe-8 8xqm39100td-sw stripe read 16 2000000
random stripe-96 96xqm39100td-sw stripe read 16 1000000
random raid5-write 8xqm39100td-sw raid5 write 16 300000
random raid6-write 8xqm39100td-sw raid6 write 16 200000
random sptf-256 1xqm39100td-sw single read 256 100000 'queue_discipline = "sptf"' 'queue_depth = 256'

# arguments CASE TREE: what `ileave run` is given for a case, and with experiments those of the version.
arguments() {
    case $1 in
    brownlee) echo "$2/experiments/brownlee-2005.toml --set fs.block=16KiB --set fs.version=1" ;;
    rosen) echo "$2/experiments/rosen-1999.toml --set fs.cylinders=16 --set volume.interleave=128" ;;
    *) echo "$work/$1.toml" ;;
    esac
}

# user_s COMMAND…: runs it and prints its seconds in user mode. `taskset` keeps it on one core.
user_s() {
    local TIMEFORMAT=%U
    { time taskset -c 0 "$@" >/dev/null 2>&1; } 2>&1
}

# run BINARY TREE CASE [WRAPPER…]: one run of a case.
run() {
    local binary=$1 version=$2 bench=$3
    shift 3
    rm -rf "$work/out"
    # One seed: versions differ in how many they take unless one is asked for.
    # shellcheck disable=SC2046
    "$@" "$binary" run $(arguments "$bench" "$version") --repeat 1 --out "$work/out"
}

# instructions BINARY TREE CASE: how many in user mode, or nothing.
instructions() {
    run "$@" perf stat -x, -e instructions:u -o "$work/perf" >/dev/null 2>&1 || return 0
    awk -F, '/instructions/ { print $1 }' "$work/perf"
}

cases=("$@")
[ ${#cases[@]} -gt 0 ] ||
    cases=(one-1 one-16 stripe-8 stripe-96 raid5-write raid6-write sptf-256 brownlee rosen)
echo "times as fast as $other ($(git -C "$tree" log -1 --format=%cs)), median of $runs turns, least and greatest"
printf '%-12s %8s %8s %8s   %s\n' case median least greatest 'instructions, now over before'
for bench in "${cases[@]}"; do
    # Once without the clock: what fails says why, and files are in memory.
    run "$before" "$tree" "$bench" >/dev/null
    run "$now" "$PWD" "$bench" >/dev/null
    for _ in $(seq "$runs"); do
        b=$(run "$before" "$tree" "$bench" user_s)
        n=$(run "$now" "$PWD" "$bench" user_s)
        echo "$b $n"
    done | awk '{ print $1 / ($2 > 0 ? $2 : 0.001) }' | sort -n >"$work/ratios"
    counted=$(echo "$(instructions "$before" "$tree" "$bench") $(instructions "$now" "$PWD" "$bench")" |
        awk 'NF == 2 { printf "%.3f", $2 / $1 }')
    awk -v bench="$bench" -v counted="${counted:-not counted}" '{ ratio[NR] = $1 } END {
        printf "%-12s %8.2f %8.2f %8.2f   %s\n", bench, ratio[int((NR + 1) / 2)], ratio[1], ratio[NR], counted
    }' "$work/ratios"
done
