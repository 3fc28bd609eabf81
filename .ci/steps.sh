# The steps of .ci/run and .ci/all, which source this file in the root folder of the repository.
set -uo pipefail
export npm_config_loglevel=error
bun() { npx --yes bun@1.4.5 "$@"; }
logs=$(mktemp -d)
log=$logs/step failures=$logs/failures skips=$logs/skips again=$logs/again
touch "$failures" "$skips" "$again"
trap 'rm -rf "$logs"' EXIT
passed=0 failed=0 skipped=0

is_root() { [[ $(id -u) -eq 0 && $(uname) == Linux ]]; }

# last WORD: the last number before WORD in the log. bun test prints " 12 pass", other suites "12 passed, 0 failed".
last() { grep -aoE "(^|,) *[0-9]+ $1(ed|ped)?\b" "$log" | grep -oE '[0-9]+' | tail -n 1; }

# step NAME COMMAND…: runs a command and adds the tests that it counts; without a count it is one check.
step() {
  local name=$1 code p f s started=$SECONDS
  shift
  printf '\n== %s\n' "$name"
  "$@" 2>&1 | tee "$log"
  code=${PIPESTATUS[0]}
  p=$(last pass) f=$(last fail) s=$(last skip)
  [[ -z $p ]] && p=$((code == 0)) f=$((code != 0)) s=0
  [[ $code -ne 0 && ${f:-0} -eq 0 ]] && f=1
  [[ $code -ne 0 ]] && { printf '%s:\n' "$name"; grep -aE '^(\(fail\)|FAILED |error:)|: error|━ ' "$log" | sort -u | head -n 20; } >> "$failures"
  grep -aE '^(\(skip\)|skipped) ' "$log" | sed "s/^/$name: /" >> "$skips"
  grep -aE '^(\(pass\)|passed) .*\(attempt [0-9]+\)' "$log" | sed "s/^/$name: /" >> "$again"
  passed=$((passed + p)) failed=$((failed + ${f:-0})) skipped=$((skipped + ${s:-0}))
  printf '== %s: exit code %d, %d s\n' "$name" "$code" $((SECONDS - started))
}

# beside NAME COMMAND…: starts a suite that waits more than it computes; `step NAME finished NAME` prints its output.
beside() {
  local name=$1 started=$SECONDS
  shift
  {
    "$@" > "$logs/$name" 2>&1
    echo $? > "$logs/$name.code"
    printf '== %s: %d s, beside others\n' "$name" $((SECONDS - started)) >> "$logs/$name"
    touch "$logs/$name.ended"
  } &
}

finished() {
  until [[ -e $logs/$1.ended ]]; do sleep 1; done
  cat "$logs/$1"
  return "$(cat "$logs/$1.code")"
}

# skip NAME REASON: a suite that this machine cannot run.
skip() {
  echo "$1: $2" >> "$skips"
  skipped=$((skipped + 1))
}

# need TOOL…: installs missing programs, as root on Debian.
need() {
  local tool missing=()
  for tool in "$@"; do command -v "$tool" > /dev/null || missing+=("$tool"); done
  [[ ${#missing[@]} -gt 0 && $(id -u) -eq 0 ]] && command -v apt-get > /dev/null || return 0
  apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq install --no-install-recommends "${missing[@]}"
}

# Prints what was skipped, tried again and failed, then the sum. Fails if a test did.
sum() {
  [[ -s $skips ]] && printf '\n== skipped\n' && cat "$skips"
  [[ -s $again ]] && printf '\n== passed at a later attempt\n' && cat "$again"
  [[ -s $failures ]] && printf '\n== failed\n' && cat "$failures"
  printf '\n%d skipped, %d s\n%d passed, %d failed\n' "$skipped" "$SECONDS" "$passed" "$failed"
  [[ $failed -eq 0 ]]
}
