#!/bin/sh
# Local processes: $CAMPAIGN_JOBS shards at a time. When xargs is killed, the shards get SIGTERM, too.
exec xargs --no-run-if-empty --arg-file="$2" --max-args=1 --max-procs="$CAMPAIGN_JOBS" "$1/shard"
