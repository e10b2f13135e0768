#!/bin/sh
# Slurm: job arrays, an element for each shard, $CAMPAIGN_JOBS at a time. All nodes see the folder under the same path.
# $CAMPAIGN_PARTITION; $CAMPAIGN_SBATCH: more options of sbatch; $CAMPAIGN_PATIENCE: seconds that the controller may be
# silent.
folder=$1 list=$2 offset=$3 jobs=$1/logs/slurm-jobs

if [ $# = 3 ]; then # sbatch runs this file as an element, too
  "$folder/shard" "$(sed -n "$((offset + SLURM_ARRAY_TASK_ID))p" "$list")"
  [ $? -le 1 ] # verdicts are no failure
  exit
fi

cancel() {
  [ ! -s "$jobs" ] || xargs scancel <"$jobs"
  rm -f "$jobs"
}
command -v sbatch >/dev/null || { echo "sbatch is not installed here (Debian: apt-get install slurm-wlm)"; exit 2; }
trap 'cancel; exit 143' TERM
cancel # what an engine that was killed has left
most=$(scontrol show config | sed -n 's/^MaxArraySize *= *//p')
[ -n "$most" ] || exit 1
n=$(wc -l <"$list") at=0 ids=
while [ "$at" -lt "$n" ]; do
  size=$((n - at))
  [ "$size" -lt "$most" ] || size=$((most - 1))
  # shellcheck disable=SC2086 # options are words
  id=$(sbatch --parsable --requeue --job-name=halcyon --output=/dev/null --array="1-$size%$CAMPAIGN_JOBS" \
    --time=$((CAMPAIGN_SECONDS / 60 + 2)) ${CAMPAIGN_PARTITION:+--partition="$CAMPAIGN_PARTITION"} $CAMPAIGN_SBATCH \
    "$0" "$folder" "$list" "$at") || { cancel; exit 1; }
  id=${id%%;*}
  echo "$id" >>"$jobs"
  ids=$ids${ids:+,}$id
  at=$((at + size))
done

silent=0
while [ "$silent" -le "${CAMPAIGN_PATIENCE:-300}" ]; do
  if left=$(squeue --noheader --jobs="$ids" --format=%i 2>&1); then
    silent=0
  else
    case $left in
      *'Invalid job id'*) left= ;; # forgotten: ended long ago
      *) silent=$((silent + 2)) ;;
    esac
  fi
  [ -n "$left" ] || break
  sleep 2 &
  wait $!
done
[ -z "$left" ] || { echo "$left"; exit 1; }
rm -f "$jobs"
