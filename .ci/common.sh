# Common functions, sourced by the checks. Not a check itself.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export CI=true CARGO_TERM_PROGRESS_WHEN=never
exec < /dev/null

# Prints a command and runs it.
run() {
    printf '+ %s\n' "$*" >&2
    "$@"
}

# Runs the tests whose names contain one of some filters: the command, `--`, the filters, and
# options of the tests. Fails if a filter matches no test: a test that was renamed would be left out
# without a word.
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

# Builds the `gclab` that the tests use, and sets `gclab` to its path. Features of dependencies are
# those of `cargo test --workspace`: with `-p gclab` cargo would choose others, and compile the
# programs and half of the workspace again.
build_gclab() {
    run cargo build --quiet --locked --workspace --bins --examples
    gclab=${CARGO_TARGET_DIR:-$PWD/target}/debug/gclab
}

# Prints a message and ends the check as failed.
fail() {
    printf '%s: %s\n' "$(basename "$0")" "$*" >&2
    exit 1
}

# Says that a tool for the check is missing, and ends the check as passed.
skip() {
    printf '%s: SKIPPED, NOTHING WAS CHECKED: %s\n' "$(basename "$0")" "$*" >&2
    exit 0
}

# Prints the first line of README.md that begins with $1: the check runs the command that users read.
readme_command() {
    grep -m 1 "^$1" README.md || fail "README.md has no line that begins with: $1"
}
