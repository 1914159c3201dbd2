/** apps and batch. */

import { all, labels, podSpec, selector, specs, template } from './build.ts';
import { pods, richTemplate } from './pods.ts';

export const workloads = [
  pods,
  all('v1', 'PodTemplate', { template }, { template: richTemplate }),
  specs('v1', 'ReplicationController', { template }, { replicas: 0, selector: labels, template: richTemplate }),
  all(
    'apps/v1',
    'Deployment',
    { spec: { selector, template } },
    {
      spec: { selector, template: richTemplate, strategy: { type: 'Recreate' }, replicas: 0 },
      status: { replicas: 4 },
    },
    { spec: { selector, template, strategy: { rollingUpdate: { maxSurge: 2 } }, minReadySeconds: 3, paused: true } },
  ),
  specs('apps/v1', 'ReplicaSet', { selector, template }, { selector, template: richTemplate, replicas: 3 }),
  all(
    'apps/v1',
    'DaemonSet',
    { spec: { selector, template } },
    {
      metadata: { annotations: { 'deprecated.daemonset.template.generation': '5' } },
      spec: { selector, template, updateStrategy: { type: 'OnDelete' } },
    },
    { spec: { selector, template, updateStrategy: { rollingUpdate: { maxUnavailable: '10%' } } } },
  ),
  specs(
    'apps/v1',
    'StatefulSet',
    { selector, template, serviceName: 's' },
    {
      selector,
      template: richTemplate,
      serviceName: 's',
      updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 2 } },
      persistentVolumeClaimRetentionPolicy: { whenScaled: 'Delete' },
      volumeClaimTemplates: [
        {
          metadata: { name: 'd' },
          spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
          status: { phase: 'Bound' },
        },
      ],
    },
    { selector, template, updateStrategy: { type: 'RollingUpdate' } },
    {
      selector,
      template,
      updateStrategy: { type: 'OnDelete' },
      podManagementPolicy: 'Parallel',
      ordinals: { start: 2 },
    },
  ),
  all('apps/v1', 'ControllerRevision', { revision: 1, data: { a: { b: null } } }),
  specs(
    'batch/v1',
    'Job',
    { template: { spec: { ...podSpec, restartPolicy: 'Never' } } },
    {
      completionMode: 'Indexed',
      completions: 3,
      backoffLimitPerIndex: 1,
      template: { metadata: { labels: { x: 'y' } }, spec: { ...podSpec, restartPolicy: 'Never' } },
      podFailurePolicy: {
        rules: [
          { action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget' }] },
          { action: 'FailJob', onExitCodes: { operator: 'In', values: [1] } },
        ],
      },
      successPolicy: { rules: [{ succeededCount: 1 }] },
    },
    {
      manualSelector: true,
      selector,
      parallelism: 0,
      suspend: true,
      ttlSecondsAfterFinished: 0,
      template: { metadata: { labels }, spec: { ...podSpec, restartPolicy: 'OnFailure' } },
    },
  ),
  specs(
    'batch/v1',
    'CronJob',
    { schedule: '* * * * *', jobTemplate: { spec: { template: { spec: { ...podSpec, restartPolicy: 'Never' } } } } },
    {
      schedule: '@daily',
      timeZone: 'Etc/UTC',
      concurrencyPolicy: 'Forbid',
      suspend: true,
      startingDeadlineSeconds: 10,
      jobTemplate: {
        metadata: { labels },
        spec: { backoffLimit: 1, template: { metadata: { labels }, spec: { ...podSpec, restartPolicy: 'OnFailure' } } },
      },
    },
  ),
];
