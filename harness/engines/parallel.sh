#!/bin/sh
# GNU parallel: $CAMPAIGN_JOBS shards at a time on each of $CAMPAIGN_HOSTS (names for ssh, with commas; ":" is this
# machine, the default). Every host sees the folder, and halcyon, under the same paths.
command -v parallel >/dev/null || { echo "parallel is not installed (Debian: apt-get install parallel)"; exit 2; }
setpriv --pdeathsig TERM parallel --will-cite --quote --jobs "$CAMPAIGN_JOBS" --sshlogin "${CAMPAIGN_HOSTS:-:}" \
  --arg-file "$2" "$1/shard" &
# The first signal keeps it from starting more, the second one ends what runs.
trap 'kill -TERM $!; sleep 0.5; kill -TERM $!' TERM
wait $! || wait $! || exit 1 # its status is the number of shards that failed
