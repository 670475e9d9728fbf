#!/bin/bash
# Keeps backups of the database with pgBackRest, beside its server: `backup.sh` does what is due, `backup.sh forever` looks every ten
# minutes. All that it knows stands in the repository and in the database, so it may be killed at any time, and several may run. psql
# and pgbackrest take their settings from the environment. docs/backup.md
set -euo pipefail
# Labels of backups are times.
export TZ=UTC PGTZ=UTC
export PGBACKREST_STANZA=${PGBACKREST_STANZA:-holdfast} PGDATABASE=${PGDATABASE:-holdfast}

now=${BACKUP_NOW:-now}
hour=${BACKUP_HOUR:-2}
night=$(date -d "$(date -d "$now" +%F) $hour:00" +'%F %T')
[[ $(date -d "$night" +%s) -le $(date -d "$now" +%s) ]] || night=$(date -d "$night 1 day ago" +'%F %T')

say() { echo "backup: $*" >&2; }
ask() { psql --no-psqlrc --quiet --tuples-only --no-align --set ON_ERROR_STOP=1 --command "$1"; }

# The label of the newest backup that is complete: of any kind, or a full one. A backup that was killed is not among them.
newest() { pgbackrest info | sed -n "s/^ *${1:-[a-z]*} backup: //p" | tail -1; }
# When it was made: the last part of its label without the letter of its kind.
made() { sed 's/.*_//; s/.$//' <<<"$1"; }
is_older() { [[ $(made "$1") < $(date -d "$2" +%Y%m%d-%H%M%S) ]]; }

# Whether the newest backup was made on the timeline on which the server is. After a restore newer ones lead elsewhere.
is_on_timeline() {
  local timeline
  timeline=$(pgbackrest info | sed -n 's,^ *wal start/stop: \(.\{8\}\).*,\1,p' | tail -1)
  [[ $timeline == $(ask "select left(pg_walfile_name(pg_current_wal_lsn()), 8)") ]]
}

is_recorded() {
  [[ $(ask "select backed_up_at >= to_timestamp('$(made "$1")', 'YYYYMMDD-HH24MISS') from installation") == t ]]
}
record() {
  ask "update installation set backed_up_at = to_timestamp('$(made "$1")', 'YYYYMMDD-HH24MISS')"
}

make() {
  local kind=incr
  # One that could not be verified is nothing to build upon.
  if is_older "$(newest full)" "$night 6 days ago" || ! is_recorded "$(newest)"; then kind=full; fi
  say "makes a backup ($kind)"
  # What is old goes when the new one is verified, not before.
  pgbackrest --type="$kind" --no-expire-auto backup
}

# Fails unless every file of the backup is as it was written. `verify` itself exits with 0 when files are damaged.
verify() {
  local found
  found=$(pgbackrest verify --output=text --verbose) || say "verify failed"
  grep -q '^status: ok' <<<"$found" || say "the repository has damages: $found"
  grep -q "^ *backup: $1, status: valid," <<<"$found"
}

round() {
  # Beside a standby there is nothing to do: its primary has a backup.sh of its own.
  [[ $(ask "select pg_is_in_recovery()") == f ]] || return 0
  # An empty repository is made ready for the first backup alone: later on it is a wrong one, such as a disk that is not mounted.
  [[ $(ask "select backed_up_at is null from installation") == f ]] || pgbackrest stanza-create
  if is_older "$(newest)" "$night" || ! is_on_timeline; then make; fi
  local last
  last=$(newest)
  if is_recorded "$last"; then return 0; fi
  pgbackrest check
  verify "$last"
  record "$last"
  say "$last is verified"
  pgbackrest expire
}

if [[ ${1:-} == forever ]]; then
  # `set -e` has no effect in a function whose failure is asked for, so each round is a process.
  while true; do
    bash "$0" || say "failed; it tries again in ten minutes"
    sleep 600
  done
fi
round
