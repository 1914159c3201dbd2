/** Defaults of apps, batch and autoscaling. */

import type { JsonObject } from '../object.ts';
import { fill, fillEmpty, isAbsent, isEmpty, objectAt, elementsAt, stringAt, structAt } from './access.ts';
import type { Defaulters } from './plan.ts';

export const workloadDefaulters: Defaulters = {
  'apps/v1.Deployment': deployment,
  'apps/v1.DaemonSet': daemonSet,
  'apps/v1.StatefulSet': statefulSet,
  'apps/v1.ReplicaSet': (one) => fill(structAt(one, 'spec'), { replicas: 1 }),
  'batch/v1.Job': job,
  'batch/v1.CronJob': cronJob,
  'batch/v1.PodFailurePolicyOnPodConditionsPattern': (pattern) => fillEmpty(pattern, { status: 'True' }),
  'autoscaling/v1.HorizontalPodAutoscaler': (one) => fill(structAt(one, 'spec'), { minReplicas: 1 }),
  'autoscaling/v2.HorizontalPodAutoscaler': autoscaler,
};

function deployment(one: JsonObject): void {
  const spec = structAt(one, 'spec');
  fill(spec, { replicas: 1, revisionHistoryLimit: 10, progressDeadlineSeconds: 600 });
  const strategy = structAt(spec, 'strategy');
  fillEmpty(strategy, { type: 'RollingUpdate' });
  if (strategy['type'] === 'RollingUpdate') {
    fill(structAt(strategy, 'rollingUpdate'), { maxUnavailable: '25%', maxSurge: '25%' });
  }
}

function daemonSet(one: JsonObject): void {
  // A field that was removed before v1 became an annotation, which every daemon set has.
  fillEmpty(structAt(structAt(one, 'metadata'), 'annotations'), { 'deprecated.daemonset.template.generation': '0' });
  const spec = structAt(one, 'spec');
  fill(spec, { revisionHistoryLimit: 10 });
  const strategy = structAt(spec, 'updateStrategy');
  fillEmpty(strategy, { type: 'RollingUpdate' });
  if (strategy['type'] === 'RollingUpdate')
    fill(structAt(strategy, 'rollingUpdate'), { maxUnavailable: 1, maxSurge: 0 });
}

function statefulSet(one: JsonObject): void {
  const spec = structAt(one, 'spec');
  fillEmpty(spec, { podManagementPolicy: 'OrderedReady' });
  fill(spec, { replicas: 1, revisionHistoryLimit: 10 });
  const strategy = structAt(spec, 'updateStrategy');
  if (stringAt(strategy, 'type') === '') {
    strategy['type'] = 'RollingUpdate';
    structAt(strategy, 'rollingUpdate');
  }
  const rolling = objectAt(strategy, 'rollingUpdate');
  if (strategy['type'] === 'RollingUpdate' && rolling !== undefined) fill(rolling, { partition: 0 });
  fillEmpty(structAt(spec, 'persistentVolumeClaimRetentionPolicy'), { whenDeleted: 'Retain', whenScaled: 'Retain' });
  // The server sets the kind of each claim, regardless of the client's value.
  for (const claim of elementsAt(spec, 'volumeClaimTemplates')) {
    claim['kind'] = 'PersistentVolumeClaim';
    claim['apiVersion'] = 'v1';
  }
}

const int32Max = 2 ** 31 - 1;

function job(one: JsonObject): void {
  const spec = structAt(one, 'spec');
  if (isAbsent(spec['completions']) && isAbsent(spec['parallelism'])) spec['completions'] = 1;
  fill(spec, {
    parallelism: 1,
    // With a limit per index the total is bounded by the number of indexes.
    backoffLimit: isAbsent(spec['backoffLimitPerIndex']) ? 6 : int32Max,
    completionMode: 'NonIndexed',
    suspend: false,
    podReplacementPolicy: isAbsent(spec['podFailurePolicy']) ? 'TerminatingOrFailed' : 'Failed',
    manualSelector: false,
  });
  const labels = objectAt(objectAt(objectAt(spec, 'template'), 'metadata'), 'labels');
  const metadata = structAt(one, 'metadata');
  // The same map, not a copy: the labels that creation adds to the template appear on the job too.
  if (labels !== undefined && isEmpty(metadata['labels'])) metadata['labels'] = labels;
}

function cronJob(one: JsonObject): void {
  const spec = structAt(one, 'spec');
  fillEmpty(spec, { concurrencyPolicy: 'Allow' });
  fill(spec, { suspend: false, successfulJobsHistoryLimit: 3, failedJobsHistoryLimit: 1 });
}

export const defaultCpuUtilization = 80;

const olderVersionAnnotations = ['metrics', 'current-metrics', 'conditions', 'behavior'].map(
  (name) => `autoscaling.alpha.kubernetes.io/${name}`,
);

function autoscaler(one: JsonObject): void {
  // Annotations of v1 that are fields in v2.
  const annotations = objectAt(objectAt(one, 'metadata'), 'annotations');
  if (annotations !== undefined) for (const name of olderVersionAnnotations) delete annotations[name];
  const spec = structAt(one, 'spec');
  fill(spec, { minReplicas: 1 });
  if (isEmpty(spec['metrics'])) {
    const target = { type: 'Utilization', averageUtilization: defaultCpuUtilization };
    spec['metrics'] = [{ type: 'Resource', resource: { name: 'cpu', target } }];
  }
  const behavior = objectAt(spec, 'behavior');
  if (behavior === undefined) return;
  const up = structAt(behavior, 'scaleUp');
  fill(up, { stabilizationWindowSeconds: 0, selectPolicy: 'Max' });
  if (isAbsent(up['policies'])) {
    up['policies'] = [
      { type: 'Pods', value: 4, periodSeconds: 15 },
      { type: 'Percent', value: 100, periodSeconds: 15 },
    ];
  }
  // The delay before scaling down is a flag of the controller: no default.
  const down = structAt(behavior, 'scaleDown');
  fill(down, { selectPolicy: 'Max' });
  if (isAbsent(down['policies'])) down['policies'] = [{ type: 'Percent', value: 100, periodSeconds: 15 }];
}
