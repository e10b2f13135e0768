#!/bin/sh
# Kubernetes: an indexed Job, a pod for each shard, $CAMPAIGN_JOBS at a time. UNTESTED: no cluster was at hand.
# $CAMPAIGN_IMAGE has halcyon, setpriv and timeout; $CAMPAIGN_CLAIM is a volume that every pod can write, mounted at the
# parent of the campaign's folder, here as there; $CAMPAIGN_NAMESPACE. The manifest is FOLDER/logs/job.yaml.
folder=$1 list=$2
[ -n "$CAMPAIGN_IMAGE" ] && [ -n "$CAMPAIGN_CLAIM" ] || { echo "engine.image and engine.claim are needed"; exit 2; }
name=halcyon-$(basename "$folder" | tr 'A-Z_.' 'a-z--')
cat >"$folder/logs/job.yaml" <<YAML
apiVersion: batch/v1
kind: Job
metadata:
  name: $name
spec:
  completionMode: Indexed
  completions: $(wc -l <"$list")
  parallelism: $CAMPAIGN_JOBS
  backoffLimitPerIndex: 3
  podFailurePolicy:
    rules:
      - action: Ignore
        onPodConditions: [{type: DisruptionTarget}]
  template:
    spec:
      restartPolicy: Never
      containers:
        - name: shard
          image: $CAMPAIGN_IMAGE
          # The index begins with 0, lines with 1; status 0 and 1 are verdicts.
          command: ["sh", "-c", '"\$0/shard" "\$(sed -n "\$((JOB_COMPLETION_INDEX + 1))p" "\$1")"; [ \$? -le 1 ]', "$folder", "$list"]
          volumeMounts: [{name: campaign, mountPath: "$(dirname "$folder")"}]
      volumes:
        - name: campaign
          persistentVolumeClaim: {claimName: "$CAMPAIGN_CLAIM"}
YAML
command -v kubectl >/dev/null || { echo "kubectl is not installed here; the manifest is $folder/logs/job.yaml"; exit 2; }
kube() { kubectl ${CAMPAIGN_NAMESPACE:+--namespace="$CAMPAIGN_NAMESPACE"} "$@"; }
trap 'kube delete job "$name" --wait=false; exit 143' TERM
kube delete job "$name" --ignore-not-found # what an engine that was killed has left
kube apply -f "$folder/logs/job.yaml" || exit 1
until kube get job "$name" -o jsonpath='{.status.conditions[*].type}' | grep -qE 'Complete|Failed'; do
  sleep 5 &
  wait $!
done
kube delete job "$name"
