# Common functions, which the checks source. Not a check itself.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export CI=true CARGO_TERM_PROGRESS_WHEN=never
exec < /dev/null

# Prints a command and runs it.
run() {
    printf '+ %s\n' "$*" >&2
    "$@"
}

# run_tests_named COMMAND... -- FILTER... [OPTION...]: runs the tests whose names contain a filter. Fails
# if a filter matches no test: otherwise a renamed test would silently be left out.
run_tests_named() {
    local command=() names word
    while [ "$1" != -- ]; do
        command+=("$1")
        shift
    done
    shift
    names=$("${command[@]}" -- --list | sed -n 's/: test$//p')
    for word; do
        [[ $word == -* ]] || grep -qF -- "$word" <<< "$names" || fail "no test has '$word' in its name: ${command[*]}"
    done
    run "${command[@]}" -- "$@"
}

# What all checks of the debug build pass to cargo. With other features, or for a single package, cargo
# would recompile half of the workspace.
readonly workspace=(--workspace --locked --features gclab/bench)

# Builds the `gclab` that the tests use, and sets `gclab` to its path.
build_gclab() {
    run cargo build --quiet "${workspace[@]}" --bins --examples
    gclab=$(realpath "${CARGO_TARGET_DIR:-target}")/debug/gclab
}

# Builds the `gclab` that users have, but with its symbols, which some checks look up, and sets `gclab`
# to its path.
build_release() {
    run cargo build --quiet --locked --release --package gclab --config profile.release.strip=false
    gclab=$(realpath "${CARGO_TARGET_DIR:-target}")/release/gclab
}

# Prints a message and ends the check as failed.
fail() {
    printf '%s: %s\n' "$(basename "$0")" "$*" >&2
    exit 1
}

# Says why the check cannot run here, and ends it as passed.
skip() {
    printf '%s: SKIPPED: %s\n' "$(basename "$0")" "$*" >&2
    exit 0
}

# Installs Debian packages, for one check at a time.
install_packages() {
    local root=()
    [ "$(id -u)" = 0 ] || root=(sudo -n)
    (
        flock 9
        export DEBIAN_FRONTEND=noninteractive
        # A fresh machine has no package lists yet.
        for update in false true; do
            ! $update || run "${root[@]}" apt-get update -qq || true
            ! run "${root[@]}" apt-get install -qq -y --no-install-recommends "$@" || exit 0
        done
    ) 9> "${TMPDIR:-/tmp}/gclab-packages.lock" > /dev/null 2>&1 || true
}

# need PROGRAM [PACKAGE...]: installs a program's Debian packages (by default the one of the same name)
# if it is missing. Skips the check if they cannot be installed.
need() {
    local program=$1
    shift
    command -v "$program" > /dev/null || install_packages "${@:-$program}"
    command -v "$program" > /dev/null || skip "$program is missing, and apt-get cannot install it"
}

# Prints the first line of README.md that starts with $1: checks run the commands that users read.
readme_command() {
    grep -m 1 "^$1" README.md || fail "README.md has no line that begins with: $1"
}
