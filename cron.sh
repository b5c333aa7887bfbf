#!/usr/bin/env bash
# The monthly run on a benchmark server; docs/monthly_run.md describes it.
set -euo pipefail

usage() {
    cat << 'END'
usage: cron.sh [--quick] [--dry-run] [--help]

Measures this month: renews the library set, commits and tags it, runs the suites on that commit,
compares, publishes. It works in a clone of its own, .asv/monthly; this checkout stays as it is. An
interrupted run resumes at the next call; a month that is done is not measured twice.

  --quick     measure small tables, for a rehearsal
  --dry-run   print the plan with the hours of each suite and in all, and do nothing

Variables: CRON_NOTIFY, a command that reads one line at the end; CRON_DISK_GB and CRON_MEMORY_GB, what
must be free; CRON_SUITES, the suites to run; CRON_RETRY_SECONDS, the wait before a push is tried again;
CRON_DATE, the day to rehearse; PYTHON, the interpreter.

Exit status: 0 done; 1 a defect of this program; 2 wrong usage, or a tool or the remote "origin" is
missing; 3 another run is active; 4 too little disk or memory; 5 the renewed set does not install, the
old one was measured; 6 a suite failed, the others were measured; 7 measured, but not all is sent, which
the next run does; 8 the clock is set back; 9 the clone or its packages cannot be installed; 143 ended
by a signal. Of 5, 6 and 7 the greatest.
END
}

# Takes passwords, tokens and headers with them out of every line that is written anywhere.
redact() {
    local line secret user='://([^/@<>[:space:]]*[^/<>[:space:]]*)@' query='(://[^?[:space:]]*\?)[^<[:space:]]+'
    local header='(authorization:?)[[:space:]]+([^<[:space:]])' hidden='<hidden>'
    shopt -s nocasematch
    while IFS= read -r line || [ -n "$line" ]; do
        while [[ $line =~ $user ]]; do
            line=${line/"${BASH_REMATCH[0]}"/"://$hidden@"}
        done
        while [[ $line =~ $query ]]; do
            line=${line/"${BASH_REMATCH[0]}"/"${BASH_REMATCH[1]}$hidden"}
        done
        [[ $line =~ $header ]] && line="${line%%"${BASH_REMATCH[0]}"*}${BASH_REMATCH[1]} $hidden"
        for secret in "${secrets[@]}"; do line=${line//"$secret"/$hidden}; done
        printf '%s\n' "$line"
    done
}

log() { redact <<< "$*"; }

fail() {
    outcome=$2
    redact <<< "cron.sh: $2" >&2
    exit "$1"
}

read_options() {
    export SCALE=${SCALE:-full}
    dry_run=false
    while [ $# -gt 0 ]; do
        case $1 in
            --quick) SCALE=quick ;;
            --dry-run) dry_run=true ;;
            -h | --help) usage && exit 0 ;;
            *) echo "cron.sh: there is no option $1; cron.sh --help lists them" >&2 && exit 2 ;;
        esac
        shift
    done
    check_variable CRON_DATE '[0-9]{4}-[0-9]{2}-[0-9]{2}' "a day, as 2027-01-31"
    [ -z "${CRON_DATE:-}" ] || date --utc "--date=$CRON_DATE" > /dev/null 2>&1 ||
        fail 2 "CRON_DATE is '$CRON_DATE': there is no such day"
    check_variable CRON_DISK_GB '[0-9]+' "a whole number of GB"
    check_variable CRON_MEMORY_GB '[0-9]+' "a whole number of GB"
    check_variable CRON_RETRY_SECONDS '[0-9]+(\.[0-9]+)?' "a number of seconds"
}

# Checks that a variable, if it is set, has a form.
check_variable() {
    [[ -z ${!1:-} || ${!1} =~ ^$2$ ]] || fail 2 "$1 is '${!1}'; write $3"
}

need_tools() {
    local tool
    for tool in make git flock "${PYTHON:-python3}"; do
        command -v "$tool" > /dev/null || fail 2 "$tool is needed"
    done
}

find_remote() {
    remote=$(git remote get-url origin 2> /dev/null) || fail 2 'there is no remote "origin" to publish to'
    find_secrets
}

# Git and its helpers may print a secret alone, or decoded.
find_secrets() {
    local setting secret found=()
    while IFS= read -r setting; do
        if [[ $setting =~ ://([^/[:space:]]*)@ ]]; then
            secret=${BASH_REMATCH[1]#*:}
            case $secret in '' | x-oauth-basic) secret=${BASH_REMATCH[1]%%:*} ;; esac
            found+=("$secret" "$(decoded "$secret")")
        elif [[ $setting == http.*extraheader\ * ]]; then
            found+=("${setting#*: }" "${setting##* }")
        fi
    done < <(git config --get-regexp '^(remote|url|http)\..*(url|insteadof|extraheader)$')
    for secret in "${found[@]}"; do
        # Shorter ones are parts of words.
        [ "${#secret}" -lt 6 ] || secrets+=("$secret")
    done
}

decoded() { printf '%b' "${1//%/\\x}"; }

# What is in a remote's address would be in the arguments of git's processes, which every user can list, and
# in the settings of the clone. Git asks a file instead; unlike "store", it keeps what was refused once.
move_credentials() {
    local user password site file=$PWD/.asv/credentials
    [[ $remote =~ ^(https?://)([^/]*)@([^/]*)(.*)$ ]] || return 0
    site=${BASH_REMATCH[1]}${BASH_REMATCH[3]} remote=${BASH_REMATCH[1]}${BASH_REMATCH[3]}${BASH_REMATCH[4]}
    user=${BASH_REMATCH[2]%%:*} password=${BASH_REMATCH[2]#*:}
    rm -f "$file"
    if [[ ${BASH_REMATCH[2]} == *:* ]]; then
        printf 'username=%s\npassword=%s\n' "$(decoded "$user")" "$(decoded "$password")" > "$file"
        set_git "credential.$site.helper" ""
        set_git "credential.$site.helper" "!answer() { [ \"\$1\" != get ] || cat '$file'; }; answer"
    else
        printf '[credential "%s"]\n\tusername = "%s"\n' "$site" "$(decoded "$user")" > "$file"
        set_git include.path "$file"
    fi
}

# Sets a setting of all git commands from here on.
set_git() {
    local number=${GIT_CONFIG_COUNT:-0}
    export "GIT_CONFIG_KEY_$number=$1" "GIT_CONFIG_VALUE_$number=$2" GIT_CONFIG_COUNT=$((number + 1))
}

# A second run ends at once. Children inherit the descriptor, so the lock lasts as long as any of them.
take_lock() {
    local holder
    mkdir -p .asv
    exec 9<> .asv/cron.lock
    if ! flock --nonblock 9; then
        holder=$(< .asv/cron.lock)
        fail 3 "another run holds .asv/cron.lock${holder:+: $holder}"
    fi
    echo "process $$, since $(date --utc +%FT%TZ)" > .asv/cron.lock
}

stamp() {
    local line
    while IFS= read -r line || [ -n "$line" ]; do
        TZ=UTC0 printf '%(%FT%TZ)T %s\n' -1 "$line"
    done
}

start_log() {
    touch .asv/cron.log
    chmod 600 .asv/cron.log
    exec > >(exec 9>&- && redact | stamp | tee -a .asv/cron.log) 2>&1 < /dev/null
}

# Nothing may wait for a person: no password, no passphrase, no name of an author.
ask_nothing() {
    unset GIT_ASKPASS SSH_ASKPASS
    export GIT_TERMINAL_PROMPT=0 GIT_HTTP_LOW_SPEED_LIMIT=1000 GIT_HTTP_LOW_SPEED_TIME=120
    GIT_SSH_COMMAND=${GIT_SSH_COMMAND:-$(git config core.sshCommand || echo ssh)}
    export GIT_SSH_COMMAND="$GIT_SSH_COMMAND -o BatchMode=yes -o ConnectTimeout=30"
    set_git commit.gpgSign false
    set_git tag.gpgSign false
    # A background process would keep the lock; objects that are not synchronised are lost in a reboot.
    set_git gc.autoDetach false
    set_git core.fsync committed
    export GIT_AUTHOR_NAME GIT_AUTHOR_EMAIL GIT_COMMITTER_NAME GIT_COMMITTER_EMAIL
    GIT_AUTHOR_NAME=$(git config user.name || echo "FormatBench")
    GIT_AUTHOR_EMAIL=$(git config user.email || echo "formatbench@$(uname -n)")
    GIT_COMMITTER_NAME=$GIT_AUTHOR_NAME GIT_COMMITTER_EMAIL=$GIT_AUTHOR_EMAIL
    export PYTHONUNBUFFERED=1 PIP_NO_INPUT=1
}

# Packages are installed thrice (tools, trial, asv's own environment); measured files are in TMPDIR.
check_room() {
    local disk=${CRON_DISK_GB:-10} memory=${CRON_MEMORY_GB:-2} free_disk free_memory load
    if [ "$SCALE" = full ]; then disk=${CRON_DISK_GB:-60} memory=${CRON_MEMORY_GB:-20}; fi
    free_disk=$(($(df --output=avail -k . "${TMPDIR:-/tmp}" | tail -n +2 | sort -n | head -1) / 1000000))
    free_memory=$(($(sed -n 's/^MemAvailable: *\([0-9]*\) kB/\1/p' /proc/meminfo) / 1000000))
    [ "$free_disk" -ge "$disk" ] || fail 4 "$free_disk GB of disk are free; $disk are needed"
    [ "$free_memory" -ge "$memory" ] || fail 4 "$free_memory GB of memory are free; $memory are needed"
    load=$(cut -d ' ' -f 1 /proc/loadavg)
    log "free: $free_disk GB of disk, $free_memory GB of memory; the load is $load"
    [ "${load%.*}" -eq 0 ] || log "warning: other programs are running; times will be longer and vary more"
}

# Runs a command in its own process group, so a signal ends all of it.
run() {
    set -m
    "$@" &
    child=$!
    set +m
    wait "$child"
}

# shellcheck disable=SC2329 # a trap calls it
stop() {
    trap - TERM INT HUP
    outcome="ended by a signal; the next run resumes"
    [ -z "${child:-}" ] || kill -TERM -- "-$child" 2> /dev/null || true
    exit 143
}

# shellcheck disable=SC2329 # a trap calls it
finish() {
    local status=$?
    if [ "$status" -eq 0 ]; then log "done"; else log "ended with status $status"; fi
    [ -z "${CRON_NOTIFY:-}" ] ||
        redact <<< "FormatBench on $(uname -n), status $status: $outcome" | timeout 60 sh -c "$CRON_NOTIFY" ||
        log "CRON_NOTIFY failed with status $?"
}

make_clone() {
    [ ! -d "$CLONE" ] || return 0
    log "cloning $remote"
    rm -rf "$CLONE.partial"
    run git clone --quiet --branch main "$remote" "$CLONE.partial" || fail 9 "$remote cannot be cloned"
    mv "$CLONE.partial" "$CLONE"
}

# A kill may leave locks and changed files behind; our own lock proves that nobody uses them.
tidy_clone() {
    # One of an earlier version has settings with the credentials of the remote, which others may read.
    chmod go= .
    git remote set-url origin "$remote"
    find .git -name '*.lock' -delete
    { git checkout --quiet --force main && git clean --quiet -d --force; } ||
        fail 9 "$CLONE is damaged; remove it, what was sent is fetched again"
}

update_clone() {
    if ! run git fetch --quiet --force --tags origin '+refs/heads/*:refs/remotes/origin/*'; then
        log "the remote is out of reach; what is here already is measured"
    elif ! git merge --quiet --ff-only origin/main; then
        log "main has commits that are not sent yet"
    fi
    cmp --quiet "$checkout/cron.sh" cron.sh || log "note: main has another cron.sh; pull it in $checkout"
}

make_environment() {
    local targets=(environment)
    [ "$SCALE" = full ] || targets+=(".asv.$SCALE.json")
    run make SCALE="$SCALE" "${targets[@]}" ||
        fail 9 "the packages cannot be installed"
}

# A defect must not recur at every call: the state is removed; the tag and the results remain.
month() {
    local status=0
    rm -f .asv/outcome
    run .venv/bin/python -m format_bench.monthly "$1" || status=$?
    [ "$status" -ne 1 ] || rm -f "$state"
    [ ! -f .asv/outcome ] || outcome=$(< .asv/outcome)
    [ "$status" -le "$worst" ] || worst=$status
    return "$status"
}

print_plan() {
    local month
    month=$(date --utc "+%Y-%m" ${CRON_DATE:+"--date=$CRON_DATE"})
    log "remote: $remote"
    [ -d "$CLONE" ] || log "would clone it to $CLONE"
    [ -x "$CLONE/.venv/bin/python" ] || log "would install the packages of constraints.txt in $CLONE/.venv"
    log "would fetch, and renew constraints.txt; if it changes: install it for a trial, commit, tag $month"
    log "would run at $SCALE scale: ${CRON_SUITES:-$(suites)}"
    print_costs
    log "would compare, and push main, the tag, the results to the branch results, the site to gh-pages"
    [ -z "${CRON_NOTIFY:-}" ] || log "would run: $CRON_NOTIFY"
}

# Without packages, and without files of compiled code, since a dry run does nothing.
print_costs() {
    local line
    # shellcheck disable=SC2046,SC2086 # several suites
    "${PYTHON:-python3}" -B -m format_bench.automation.monthly.plan "$SCALE" "$CLONE/.asv/$SCALE" \
        ${CRON_SUITES:-$(suites)} 2>&1 | while IFS= read -r line; do log "$line"; done ||
        log "the hours cannot be estimated"
}

suites() { (cd benchmarks && printf '%s ' [!_]*.py | sed 's/\.py//g'); }

main() {
    CLONE=.asv/monthly outcome="nothing was done" worst=0 secrets=()
    umask 077
    read_options "$@"
    state=.asv/$SCALE/month.json
    cd "$(dirname "$0")"
    checkout=$PWD
    need_tools
    if $dry_run; then
        find_remote
        print_plan
        check_room
        exit 0
    fi
    trap finish EXIT
    take_lock
    find_remote
    start_log
    trap stop TERM INT HUP
    log "begin"
    ask_nothing
    move_credentials
    check_room
    make_clone
    cd "$CLONE"
    tidy_clone
    if [ -f "$state" ] && [ -x .venv/bin/python ]; then
        month resume || true
        # What could not be sent is tried again below.
        [ "$worst" -ne 7 ] || worst=0
    fi
    update_clone
    make_environment
    month begin && month finish || true
    exit "$worst"
}

main "$@"
