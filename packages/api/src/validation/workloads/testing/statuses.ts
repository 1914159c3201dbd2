/** Statuses to begin with and what to make of them, and other subresources. Changes are merged into the stored object. */

import type { JsonObject } from '../../../object.ts';

const ended = { terminated: { exitCode: 1, startedAt: '2026-01-01T00:00:00Z', finishedAt: '2026-01-01T00:00:01Z' } };
const running = { running: { startedAt: '2026-01-01T00:00:00Z' } };

/** Spec of the pod with the following status. */
export const reportedPod: JsonObject = {
  containers: [{ name: 'main', image: 'a', resources: { limits: { 'example.com/a': '1' } } }],
};

export const podStatus: JsonObject = {
  phase: 'Running',
  qosClass: 'BestEffort',
  observedGeneration: 1,
  nominatedNodeName: 'node',
  conditions: [
    { type: 'Ready', status: 'True', observedGeneration: 1 },
    { type: 'example.com/a', status: 'True' },
  ],
  hostIP: '10.0.0.1',
  hostIPs: [{ ip: '10.0.0.1' }, { ip: '2001:db8::1' }],
  podIP: '10.1.0.1',
  podIPs: [{ ip: '10.1.0.1' }, { ip: '2001:db8::2' }],
  containerStatuses: [
    {
      name: 'main',
      image: 'a',
      imageID: 'b',
      ready: true,
      restartCount: 0,
      state: running,
      user: { linux: { uid: 1, gid: 1, supplementalGroups: [1] } },
      allocatedResourcesStatus: [{ name: 'example.com/a', resources: [{ resourceID: 'a', health: 'Healthy' }] }],
    },
  ],
};

const statusOf = (name: string, state: JsonObject): JsonObject => ({
  name,
  image: 'a',
  imageID: '',
  ready: false,
  restartCount: 0,
  state,
});

/** A pod that never restarts, with containers that ended. */
export const endedPod: JsonObject = {
  restartPolicy: 'Never',
  initContainers: [{ name: 'init', image: 'a' }],
  containers: [
    { name: 'main', image: 'a' },
    { name: 'own', image: 'a', restartPolicy: 'OnFailure' },
  ],
};
export const endedStatus: JsonObject = {
  phase: 'Running',
  containerStatuses: [statusOf('main', ended), statusOf('own', ended)],
  initContainerStatuses: [statusOf('init', ended)],
};
export const restartedStatus: JsonObject = {
  ...endedStatus,
  containerStatuses: [statusOf('main', running), statusOf('own', running)],
  initContainerStatuses: [statusOf('init', running)],
};

const start = '2026-01-01T00:00:00Z';
const later = '2026-01-02T00:00:00Z';
const condition = (type: string, status = 'True'): JsonObject => ({ type, status });

export const jobStatus: JsonObject = {
  startTime: start,
  active: 1,
  ready: 1,
  succeeded: 1,
  failed: 1,
  terminating: 1,
  completedIndexes: '0',
  failedIndexes: '1',
  uncountedTerminatedPods: { succeeded: ['a'], failed: ['b'] },
  conditions: [],
};

export const finishedJob: JsonObject = {
  conditions: [condition('SuccessCriteriaMet'), condition('Complete')],
  completionTime: later,
  active: 0,
  ready: 0,
  terminating: 0,
  uncountedTerminatedPods: {},
};

export const jobStatuses: readonly JsonObject[] = [
  finishedJob,
  { conditions: [condition('Complete')] },
  { conditions: [condition('Complete'), condition('Failed')] },
  { conditions: [condition('Complete'), condition('FailureTarget'), condition('SuccessCriteriaMet')] },
  { conditions: [condition('Failed')] },
  { conditions: [condition('Failed'), condition('FailureTarget')], active: 0, ready: 0, terminating: 0 },
  { conditions: [condition('SuccessCriteriaMet'), condition('Failed'), condition('FailureTarget')] },
  { completionTime: '2025-01-01T00:00:00Z', conditions: [condition('SuccessCriteriaMet'), condition('Complete')] },
  { completionTime: later },
  { startTime: later },
  { startTime: null },
  { completedIndexes: '0-9' },
  { completedIndexes: '1', failedIndexes: '0-1' },
  { failedIndexes: 'x' },
  { uncountedTerminatedPods: { succeeded: ['a', '', 'a'], failed: ['a'] } },
  { ready: 5 },
  { failed: 0, succeeded: 0 },
  { active: -1, ready: -1, succeeded: -1, failed: -1, terminating: -1 },
];

const counts = { replicas: 3, readyReplicas: 2, availableReplicas: 1, observedGeneration: 1 };

/** By the names of the objects: a status, and the single changes to it. */
export const countStatuses: Readonly<Record<string, JsonObject>> = {
  replicationController: { ...counts, fullyLabeledReplicas: 3 },
  replicaSet: { ...counts, fullyLabeledReplicas: 3 },
  deployment: { ...counts, updatedReplicas: 1, unavailableReplicas: 1, collisionCount: 5 },
  statefulSet: { ...counts, currentReplicas: 2, updatedReplicas: 1, collisionCount: 5 },
  daemonSet: {
    currentNumberScheduled: 1,
    numberMisscheduled: 1,
    desiredNumberScheduled: 1,
    numberReady: 1,
    observedGeneration: 1,
    updatedNumberScheduled: 1,
    numberAvailable: 1,
    numberUnavailable: 1,
    collisionCount: 5,
  },
};

const debug = { name: 'debug', image: 'a', targetContainerName: 'main' };

/** Lists of ephemeral containers for a pod that has `debug`. */
export const ephemeralLists: readonly JsonObject[][] = [
  [debug, { name: 'more', image: 'b' }],
  [],
  [{ ...debug, image: 'b' }],
  [
    { ...debug, command: ['x'] },
    { name: 'main', image: ' b' },
  ],
  [debug, { name: 'more', image: 'b', targetContainerName: 'none', ports: [{ containerPort: 1 }] }],
  [
    debug,
    { name: 'more', image: 'b', resources: { limits: { cpu: '1' } }, livenessProbe: { exec: { command: ['a'] } } },
  ],
  [debug, { name: '', image: '', lifecycle: {}, volumeMounts: [{ name: 'a', mountPath: '/a', subPath: 'b' }] }],
];
export const firstEphemeral = debug;

const sized = (name: string, cpu: string, more: JsonObject = {}): JsonObject => ({
  name,
  image: 'a',
  resources: { requests: { cpu, memory: '64Mi' }, limits: { cpu: '2' } },
  ...more,
});

export const resizablePod: JsonObject = {
  initContainers: [
    sized('sidecar', '1', { restartPolicy: 'Always' }),
    sized('init', '1', { resizePolicy: [{ resourceName: 'cpu', restartPolicy: 'NotRequired' }] }),
  ],
  containers: [sized('main', '1'), { name: 'plain', image: 'a' }],
};

export const resizes: readonly JsonObject[] = [
  { containers: [sized('main', '1500m'), { name: 'plain', image: 'a' }] },
  { containers: [sized('main', '3'), { name: 'plain', image: 'a' }] },
  { containers: [sized('main', '1')] },
  { containers: [{ name: 'plain', image: 'a' }, sized('main', '1')] },
  {
    containers: [
      { name: 'main', image: 'a', resources: { requests: { cpu: '1' } } },
      { name: 'plain', image: 'a' },
    ],
  },
  {
    containers: [
      { name: 'main', image: 'a' },
      { name: 'plain', image: 'a' },
    ],
  },
  { containers: [sized('main', '1'), sized('plain', '1')] },
  { containers: [sized('main', '1', { image: 'b' }), { name: 'plain', image: 'a' }] },
  { initContainers: [sized('sidecar', '1500m', { restartPolicy: 'Always' }), sized('init', '500m')] },
  { initContainers: [sized('init', '1')] },
  {
    containers: [
      {
        name: 'main',
        image: 'a',
        resources: { requests: { cpu: '1', memory: '64Mi', 'ephemeral-storage': '1' }, limits: { cpu: '2' } },
      },
      { name: 'plain', image: 'a' },
    ],
  },
  { resources: { requests: { cpu: '5' } } },
];
