/** Changes to objects of the corpus, as merge patches: the server's result for each is compared with ours. */

import type { JsonObject } from '../../object.ts';

export interface Change {
  readonly kind: string;
  readonly apiVersion: string;
  /** Index among the kind's objects in the corpus. */
  readonly index: number;
  readonly subresource: string;
  readonly patch: JsonObject;
}

type Patches = readonly (JsonObject | number | string)[];

/** Patches of the object itself; a number switches to another object of the kind, a text to a subresource. */
const changes = (apiVersion: string, kind: string, ...patches: Patches): Change[] => {
  let index = 0;
  let subresource = '';
  return patches.flatMap((patch) => {
    if (typeof patch === 'number') index = patch;
    else if (typeof patch === 'string') subresource = patch;
    else return [{ apiVersion, kind, index, subresource, patch }];
    return [];
  });
};

const spec = (value: JsonObject): JsonObject => ({ spec: value });
/** Metadata that an update of the status of newer kinds may not change. */
const metadata = {
  labels: { changed: 'label' },
  annotations: { changed: 'annotation' },
  generation: 77,
  ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'o', uid: 'u' }],
  finalizers: ['example.com/f'],
};
/** A status patch with other changes that must be ignored. */
const status = (value: JsonObject): JsonObject => ({ metadata, status: value });
const replicas = { replicas: 3, readyReplicas: 1, observedGeneration: 1 };
const time = '2030-01-01T00:00:00Z';
const condition = { type: 'T', status: 'True', lastTransitionTime: time, reason: 'R', message: 'm' };
const containers = (more: JsonObject): JsonObject => spec({ containers: [{ name: 'c', image: 'j', ...more }] });
const template = { spec: { containers: [{ name: 'c', image: 'j' }] } };
const ownerless = { metadata: { ownerReferences: null, finalizers: null } };

export const changeList: readonly Change[] = [
  ...changes(
    'v1',
    'Pod',
    { ...containers({}), status: { phase: 'Failed' } },
    { metadata: { annotations: { a: 'b' } } },
    'status',
    {
      ...status({
        phase: 'Running',
        podIP: '10.0.0.7',
        conditions: [{ type: 'Ready', status: 'True', observedGeneration: 2 }],
      }),
      spec: { hostname: 'x' },
    },
    status({
      phase: 'Running',
      qosClass: null,
      conditions: [{ type: 'Ready', status: 'False' }],
      observedGeneration: 2,
    }),
    'ephemeralcontainers',
    { ...spec({ ephemeralContainers: [{ name: 'e', image: 'e' }], hostname: 'x' }), metadata },
    2,
    'resize',
    {
      ...containers({ resources: { limits: { cpu: '2', memory: '1Gi' }, requests: { cpu: '2', memory: '1Gi' } } }),
      metadata: { labels: { a: 'b' } },
    },
  ),
  ...changes('v1', 'PodTemplate', { template }, { metadata: { labels: { a: 'b' } } }),
  ...changes('v1', 'ReplicationController', spec({ replicas: 3 }), spec({ template }), 'status', {
    ...status(replicas),
    ...spec({ replicas: 9 }),
  }),
  ...changes(
    'apps/v1',
    'Deployment',
    { ...spec({ replicas: 3 }), status: replicas },
    { metadata: { annotations: { a: 'b' } } },
    { metadata: { labels: { a: 'b' } } },
    spec({ template }),
    'status',
    { ...status(replicas), ...spec({ replicas: 9 }) },
  ),
  ...changes('apps/v1', 'ReplicaSet', spec({ replicas: 3 }), 'status', status(replicas)),
  ...changes(
    'apps/v1',
    'StatefulSet',
    spec({ replicas: 3 }),
    spec({ template }),
    spec({ updateStrategy: { rollingUpdate: { maxUnavailable: 2 } } }),
    'status',
    status(replicas),
  ),
  ...changes(
    'apps/v1',
    'DaemonSet',
    spec({ template }),
    spec({ minReadySeconds: 3 }),
    { metadata: { annotations: null } },
    'status',
    status({ currentNumberScheduled: 1, numberMisscheduled: 0, desiredNumberScheduled: 1, numberReady: 1 }),
    { metadata: { annotations: { 'deprecated.daemonset.template.generation': '44' } } },
  ),
  ...changes('apps/v1', 'ControllerRevision', { revision: 2 }),
  ...changes('batch/v1', 'Job', spec({ suspend: true }), { metadata: { labels: { a: 'b' } } }, 'status', {
    ...status({ active: 1, startTime: null }),
    ...spec({ parallelism: 4 }),
  }),
  ...changes('batch/v1', 'CronJob', spec({ schedule: '@hourly' }), 'status', status({ lastScheduleTime: time })),
  ...changes(
    'autoscaling/v2',
    'HorizontalPodAutoscaler',
    spec({ maxReplicas: 9 }),
    'status',
    status({
      currentReplicas: 1,
      desiredReplicas: 2,
      currentMetrics: [
        { type: 'Resource', resource: { name: 'cpu', current: { averageUtilization: 5, averageValue: '1' } } },
      ],
      conditions: [condition],
    }),
  ),
  ...changes(
    'autoscaling/v1',
    'HorizontalPodAutoscaler',
    spec({ targetCPUUtilizationPercentage: 9 }),
    'status',
    status({ currentReplicas: 1, desiredReplicas: 2, currentCPUUtilizationPercentage: 7 }),
    { metadata: { annotations: { 'autoscaling.alpha.kubernetes.io/conditions': JSON.stringify([condition]) } } },
  ),
  ...changes(
    'v1',
    'Service',
    spec({ selector: { a: 'b' }, clusterIP: null, clusterIPs: null }),
    spec({ type: 'ExternalName', externalName: 'example.com' }),
    1,
    spec({ type: 'ClusterIP' }),
    2,
    'status',
    status({ loadBalancer: { ingress: [{ ip: '1.2.3.4' }] } }),
    '',
    spec({ type: 'ClusterIP', sessionAffinity: 'None', externalTrafficPolicy: null }),
    3,
    spec({ type: 'NodePort' }),
    6,
    spec({ externalIPs: null }),
  ),
  ...changes('v1', 'Endpoints', { subsets: [{ addresses: [{ ip: '1.2.3.4' }], ports: [{ port: 1 }] }] }),
  ...changes(
    'discovery.k8s.io/v1',
    'EndpointSlice',
    { ports: [{ port: 1 }] },
    { metadata: { labels: { a: 'b' } } },
    { metadata: { annotations: { a: 'b' } } },
  ),
  ...changes('networking.k8s.io/v1', 'Ingress', spec({ ingressClassName: 'x' }), 'status', {
    ...status({ loadBalancer: { ingress: [{ ip: '1.2.3.4' }] } }),
    ...spec({ ingressClassName: 'y' }),
  }),
  ...changes('networking.k8s.io/v1', 'IngressClass', spec({ parameters: { kind: 'K', name: 'n' } }), {
    metadata: { labels: { a: 'b' } },
  }),
  ...changes('networking.k8s.io/v1', 'NetworkPolicy', spec({ podSelector: { matchLabels: { a: 'b' } } }), {
    metadata: { labels: { a: 'b' } },
  }),
  ...changes('networking.k8s.io/v1', 'IPAddress', { metadata: { labels: { a: 'b' } } }),
  ...changes(
    'networking.k8s.io/v1',
    'ServiceCIDR',
    { status: { conditions: [condition] } },
    'status',
    status({ conditions: [condition] }),
  ),
  ...changes(
    'policy/v1',
    'PodDisruptionBudget',
    spec({ minAvailable: 2 }),
    'status',
    status({ disruptionsAllowed: 1, currentHealthy: 1, desiredHealthy: 1, expectedPods: 1 }),
  ),
  ...changes(
    'v1',
    'PersistentVolume',
    spec({ persistentVolumeReclaimPolicy: 'Delete' }),
    'status',
    status({ phase: 'Available' }),
    { status: { message: 'm', lastPhaseTransitionTime: null } },
  ),
  ...changes(
    'v1',
    'PersistentVolumeClaim',
    { metadata: { labels: { a: 'b' } }, status: { phase: 'Bound' } },
    1,
    spec({ dataSourceRef: null }),
    'status',
    status({ phase: 'Bound', capacity: { storage: '1Gi' } }),
  ),
  ...changes('storage.k8s.io/v1', 'StorageClass', { allowVolumeExpansion: true }),
  ...changes(
    'storage.k8s.io/v1',
    'CSIDriver',
    spec({ podInfoOnMount: true }),
    spec({ requiresRepublish: true, preventPodSchedulingIfMissing: true }),
  ),
  ...changes('storage.k8s.io/v1', 'CSINode', { metadata: { labels: { a: 'b' } } }),
  ...changes('storage.k8s.io/v1', 'CSIStorageCapacity', { capacity: '3Gi' }),
  ...changes(
    'storage.k8s.io/v1',
    'VolumeAttachment',
    { metadata: { labels: { a: 'b' } }, status: { attached: true } },
    'status',
    status({ attached: true }),
  ),
  ...changes('v1', 'ConfigMap', { data: { z: '1' } }, { metadata: { generation: 3 } }),
  ...changes('v1', 'Secret', { stringData: { z: '1' } }),
  ...changes(
    'v1',
    'Namespace',
    { ...spec({ finalizers: ['example.com/y'] }), metadata: { labels: { 'kubernetes.io/metadata.name': 'other' } } },
    'status',
    { status: { phase: 'Active', conditions: [condition] }, ...spec({ finalizers: null }) },
    'finalize',
    { ...spec({ finalizers: ['kubernetes', 'example.com/z'] }), status: { phase: 'Terminating' } },
  ),
  ...changes('v1', 'Node', { ...spec({ unschedulable: true }), status: { phase: 'Running' } }, 'status', {
    ...status({ capacity: { cpu: '3' } }),
    ...spec({ unschedulable: null }),
  }),
  ...changes('v1', 'LimitRange', spec({ limits: [{ type: 'Container', max: { memory: '1Gi' } }] })),
  ...changes('v1', 'ResourceQuota', spec({ hard: { pods: '9' } }), 'status', {
    ...status({ hard: { pods: '9' }, used: { pods: '1' } }),
    ...spec({ hard: { pods: '8' } }),
  }),
  ...changes('v1', 'ServiceAccount', { secrets: [{ name: 'x', namespace: 'y' }] }),
  ...changes('v1', 'Event', { message: 'n' }),
  ...changes('rbac.authorization.k8s.io/v1', 'ClusterRole', {
    rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['list'] }],
  }),
  ...changes('rbac.authorization.k8s.io/v1', 'RoleBinding', { subjects: [{ kind: 'User', name: 'u' }] }),
  ...changes(
    'admissionregistration.k8s.io/v1',
    'ValidatingWebhookConfiguration',
    1,
    { webhooks: null },
    { metadata: { labels: { a: 'b' } } },
  ),
  ...changes(
    'admissionregistration.k8s.io/v1',
    'ValidatingAdmissionPolicy',
    spec({ failurePolicy: 'Ignore' }),
    'status',
    { ...status({ observedGeneration: 2 }), ...spec({ failurePolicy: 'Fail' }) },
  ),
  ...changes('admissionregistration.k8s.io/v1', 'MutatingAdmissionPolicyBinding', spec({ matchResources: {} })),
  ...changes('apiregistration.k8s.io/v1', 'APIService', 1, spec({ versionPriority: 3 }), 'status', {
    metadata: { labels: { a: 'b' }, annotations: { a: 'b' } },
    status: { conditions: [condition] },
  }),
  ...changes(
    'certificates.k8s.io/v1',
    'CertificateSigningRequest',
    { ...spec({ username: 'x' }), metadata: { labels: { a: 'b' } } },
    'approval',
    { status: { certificate: 'AA==', conditions: [{ type: 'Approved', status: 'True', reason: 'r' }] } },
    'status',
    {
      status: {
        conditions: [
          { type: 'Approved', status: 'True', reason: 'changed' },
          { type: 'Failed', status: 'True' },
        ],
      },
    },
  ),
  ...changes(
    'coordination.k8s.io/v1',
    'Lease',
    spec({ holderIdentity: 'x', preferredHolder: 'y', strategy: 'OldestEmulationVersion' }),
  ),
  ...changes('scheduling.k8s.io/v1', 'PriorityClass', { description: 'x' }),
  ...changes('node.k8s.io/v1', 'RuntimeClass', { metadata: { labels: { a: 'b' } } }),
  ...changes(
    'flowcontrol.apiserver.k8s.io/v1',
    'FlowSchema',
    spec({ matchingPrecedence: 5 }),
    'status',
    status({ conditions: [{ ...condition, type: 'Dangling' }] }),
  ),
  ...changes(
    'flowcontrol.apiserver.k8s.io/v1',
    'PriorityLevelConfiguration',
    spec({ limited: { nominalConcurrencyShares: 5 } }),
    'status',
    status({ conditions: [condition] }),
  ),
  ...changes('resource.k8s.io/v1', 'DeviceClass', spec({ selectors: [{ cel: { expression: 'true' } }] })),
  ...changes('resource.k8s.io/v1', 'ResourceClaim', { metadata: { labels: { a: 'b' } } }),
  ...changes('resource.k8s.io/v1', 'ResourceSlice', 1, spec({ pool: { generation: 2 } })),
  ...changes(
    'apiextensions.k8s.io/v1',
    'CustomResourceDefinition',
    2,
    spec({ names: { shortNames: ['q'] } }),
    ownerless,
  ),
];
