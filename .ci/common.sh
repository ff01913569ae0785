# Sourced by the checks: where they run, and how they speak. Not a check itself.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export CI=true CARGO_TERM_PROGRESS_WHEN=never
exec < /dev/null

# Prints a command and runs it.
run() {
    printf '+ %s\n' "$*" >&2
    "$@"
}

# One message, and the end of the check.
fail() {
    printf '%s: %s\n' "$(basename "$0")" "$*" >&2
    exit 1
}

# What the check needs cannot be had: says so, and ends it as passed.
skip() {
    printf '%s: SKIPPED: %s\n' "$(basename "$0")" "$*" >&2
    exit 0
}

# The first line of README.md that begins with $1: what users are told to type is what is checked.
readme_command() {
    grep -m 1 "^$1" README.md || fail "README.md has no line that begins with: $1"
}
