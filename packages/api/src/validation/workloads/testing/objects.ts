/** Valid workloads that use as many fields of their kinds as can be combined. */

import type { JsonObject } from '../../../object.ts';

const container: JsonObject = {
  name: 'main',
  image: 'example.com/image:1',
  ports: [
    { name: 'http', containerPort: 8080, protocol: 'TCP' },
    { name: 'metrics', containerPort: 9090, hostPort: 9090, hostIP: '127.0.0.1', protocol: 'UDP' },
  ],
  env: [
    { name: 'A', value: 'x' },
    { name: 'B', valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.name' } } },
    { name: 'C', valueFrom: { resourceFieldRef: { resource: 'limits.cpu', divisor: '1m' } } },
    { name: 'D', valueFrom: { configMapKeyRef: { name: 'config', key: 'key' } } },
    { name: 'E', valueFrom: { secretKeyRef: { name: 'secret', key: 'key' } } },
    { name: 'F', valueFrom: { fileKeyRef: { key: 'K', volumeName: 'empty', path: 'file' } } },
    { name: 'G', valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: "metadata.labels['app']" } } },
  ],
  envFrom: [{ prefix: 'P_', configMapRef: { name: 'config' } }, { secretRef: { name: 'secret' } }],
  resources: {
    limits: { cpu: '500m', memory: '1Gi', 'example.com/gpu': '1', 'hugepages-2Mi': '4Mi' },
    requests: { cpu: '100m', memory: '64Mi', 'ephemeral-storage': '1Gi' },
    claims: [{ name: 'device', request: 'one' }],
  },
  resizePolicy: [{ resourceName: 'cpu', restartPolicy: 'NotRequired' }],
  restartPolicy: 'Always',
  restartPolicyRules: [{ action: 'Restart', exitCodes: { operator: 'In', values: [1, 2] } }],
  volumeMounts: [
    { name: 'empty', mountPath: '/empty', subPath: 'sub', mountPropagation: 'None' },
    { name: 'config', mountPath: '/config', readOnly: true, recursiveReadOnly: 'IfPossible' },
    { name: 'host', mountPath: '/host', subPathExpr: '$(A)' },
  ],
  volumeDevices: [{ name: 'claim', devicePath: '/dev/block' }],
  livenessProbe: { httpGet: { path: '/', port: 'http', httpHeaders: [{ name: 'X-A', value: 'b' }] }, periodSeconds: 5 },
  readinessProbe: { tcpSocket: { port: 8080 }, initialDelaySeconds: 1, timeoutSeconds: 1, successThreshold: 2 },
  startupProbe: { grpc: { port: 8080, service: 'a' }, failureThreshold: 3, terminationGracePeriodSeconds: 10 },
  lifecycle: { postStart: { exec: { command: ['true'] } }, preStop: { sleep: { seconds: 5 } } },
  securityContext: {
    capabilities: { add: ['NET_ADMIN'], drop: ['ALL'] },
    runAsUser: 1000,
    runAsGroup: 1000,
    allowPrivilegeEscalation: false,
    procMount: 'Default',
    seccompProfile: { type: 'Localhost', localhostProfile: 'profile.json' },
    appArmorProfile: { type: 'RuntimeDefault' },
    seLinuxOptions: { level: 's0' },
  },
};

const sources: JsonObject[] = [
  { name: 'empty', emptyDir: { medium: 'Memory', sizeLimit: '1Gi' } },
  { name: 'config', configMap: { name: 'config', defaultMode: 420, items: [{ key: 'a', path: 'b/c', mode: 256 }] } },
  { name: 'secret', secret: { secretName: 'secret', items: [{ key: 'a', path: 'b' }] } },
  { name: 'host', hostPath: { path: '/var', type: 'Directory' } },
  { name: 'claim', persistentVolumeClaim: { claimName: 'claim' } },
  { name: 'git', gitRepo: { repository: 'https://example.com/a.git', directory: 'a' } },
  { name: 'gce', gcePersistentDisk: { pdName: 'disk', partition: 1 } },
  { name: 'aws', awsElasticBlockStore: { volumeID: 'id', partition: 1 } },
  { name: 'nfs', nfs: { server: 'example.com', path: '/a' } },
  {
    name: 'iscsi',
    iscsi: {
      targetPortal: '1.2.3.4:3260',
      iqn: 'iqn.2001-04.com.example:storage',
      lun: 1,
      chapAuthSession: true,
      secretRef: { name: 'secret' },
      initiatorName: 'iqn.2001-04.com.example:init',
    },
  },
  { name: 'glusterfs', glusterfs: { endpoints: 'a', path: 'b' } },
  { name: 'flocker', flocker: { datasetName: 'a' } },
  { name: 'rbd', rbd: { monitors: ['a'], image: 'b' } },
  { name: 'cinder', cinder: { volumeID: 'a', secretRef: { name: 'secret' } } },
  { name: 'cephfs', cephfs: { monitors: ['a'] } },
  { name: 'quobyte', quobyte: { registry: 'a:1', volume: 'b', tenant: 'c' } },
  {
    name: 'downward',
    downwardAPI: {
      defaultMode: 420,
      items: [
        { path: 'a', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.labels' } },
        { path: 'b', mode: 1, resourceFieldRef: { containerName: 'main', resource: 'limits.memory', divisor: '1Mi' } },
      ],
    },
  },
  { name: 'fc', fc: { targetWWNs: ['a'], lun: 2 } },
  { name: 'flex', flexVolume: { driver: 'a/b', options: { c: 'd' } } },
  { name: 'azurefile', azureFile: { secretName: 'a', shareName: 'b' } },
  { name: 'vsphere', vsphereVolume: { volumePath: 'a' } },
  { name: 'photon', photonPersistentDisk: { pdID: 'a' } },
  { name: 'portworx', portworxVolume: { volumeID: 'a' } },
  { name: 'azuredisk', azureDisk: { diskName: 'a', diskURI: 'https://a', kind: 'Shared', cachingMode: 'None' } },
  { name: 'storageos', storageos: { volumeName: 'a', volumeNamespace: 'b', secretRef: { name: 'c' } } },
  { name: 'scaleio', scaleIO: { gateway: 'a', system: 'b', volumeName: 'c', secretRef: { name: 'd' } } },
  { name: 'csi', csi: { driver: 'csi.example.com', nodePublishSecretRef: { name: 'secret' } } },
  { name: 'image', image: { reference: 'example.com/a', pullPolicy: 'Always' } },
  {
    name: 'ephemeral',
    ephemeral: {
      volumeClaimTemplate: {
        metadata: { labels: { a: 'b' }, annotations: { c: 'd' } },
        spec: {
          accessModes: ['ReadWriteOnce'],
          storageClassName: 'fast',
          volumeMode: 'Block',
          resources: { requests: { storage: '1Gi' } },
          selector: { matchLabels: { a: 'b' } },
          dataSource: { apiGroup: 'snapshot.storage.k8s.io', kind: 'VolumeSnapshot', name: 'a' },
        },
      },
    },
  },
  {
    name: 'projected',
    projected: {
      defaultMode: 420,
      sources: [
        { secret: { name: 'secret', items: [{ key: 'a', path: 's' }] } },
        { configMap: { name: 'config', items: [{ key: 'a', path: 'c' }] } },
        { downwardAPI: { items: [{ path: 'd', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.name' } }] } },
        { serviceAccountToken: { path: 'token', expirationSeconds: 3600, audience: 'a' } },
      ],
    },
  },
];

const nodeTerm: JsonObject = {
  matchExpressions: [{ key: 'zone', operator: 'In', values: ['a', 'b'] }],
  matchFields: [{ key: 'metadata.name', operator: 'In', values: ['node'] }],
};
const podTerm: JsonObject = {
  labelSelector: { matchLabels: { app: 'a' }, matchExpressions: [{ key: 'b', operator: 'Exists' }] },
  namespaceSelector: {},
  namespaces: ['default'],
  topologyKey: 'zone',
  matchLabelKeys: ['c'],
  mismatchLabelKeys: ['d'],
};

/** Without containers and volumes. */
const restOfPod: JsonObject = {
  restartPolicy: 'Always',
  terminationGracePeriodSeconds: 30,
  activeDeadlineSeconds: 100,
  dnsPolicy: 'None',
  dnsConfig: {
    nameservers: ['1.2.3.4', '2001:db8::1'],
    searches: ['example.com', 'a_b.c'],
    options: [{ name: 'ndots', value: '2' }],
  },
  nodeSelector: { disk: 'ssd' },
  serviceAccountName: 'account',
  hostname: 'host',
  subdomain: 'sub',
  shareProcessNamespace: true,
  imagePullSecrets: [{ name: 'secret' }],
  securityContext: {
    fsGroup: 1,
    runAsUser: 1,
    runAsGroup: 1,
    supplementalGroups: [1, 2],
    sysctls: [{ name: 'net.core.somaxconn', value: '1' }],
    fsGroupChangePolicy: 'Always',
    seccompProfile: { type: 'RuntimeDefault' },
    appArmorProfile: { type: 'Localhost', localhostProfile: 'p' },
    supplementalGroupsPolicy: 'Merge',
    seLinuxChangePolicy: 'Recursive',
  },
  affinity: {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [nodeTerm] },
      preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, preference: nodeTerm }],
    },
    podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [podTerm] },
    podAntiAffinity: {
      preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 5, podAffinityTerm: podTerm }],
    },
  },
  tolerations: [
    { key: 'a', operator: 'Equal', value: 'b', effect: 'NoExecute', tolerationSeconds: 5 },
    { operator: 'Exists' },
  ],
  hostAliases: [{ ip: '1.2.3.4', hostnames: ['example.com'] }],
  preemptionPolicy: 'PreemptLowerPriority',
  readinessGates: [{ conditionType: 'example.com/ready' }],
  overhead: { cpu: '10m' },
  topologySpreadConstraints: [
    {
      maxSkew: 1,
      topologyKey: 'zone',
      whenUnsatisfiable: 'DoNotSchedule',
      labelSelector: { matchLabels: { app: 'a' } },
      minDomains: 2,
      nodeAffinityPolicy: 'Honor',
      nodeTaintsPolicy: 'Ignore',
      matchLabelKeys: ['e'],
    },
  ],
  os: { name: 'linux' },
  schedulingGates: [{ name: 'example.com/gate' }],
  resourceClaims: [{ name: 'device', resourceClaimName: 'claim' }],
};

const sidecar: JsonObject = {
  name: 'sidecar',
  image: 'example.com/sidecar',
  restartPolicy: 'Always',
  livenessProbe: { exec: { command: ['true'] } },
};

export const fullPodSpec: JsonObject = {
  ...restOfPod,
  volumes: sources,
  initContainers: [{ name: 'init', image: 'example.com/init' }, sidecar],
  containers: [container, { name: 'second', image: 'example.com/second' }],
};

const small: JsonObject = { containers: [{ name: 'main', image: 'example.com/image' }] };
const labels = { app: 'a' };
const selector = { matchLabels: labels, matchExpressions: [{ key: 'app', operator: 'In', values: ['a', 'b'] }] };
const template: JsonObject = { metadata: { labels, annotations: { note: 'x' } }, spec: small };

const object = (apiVersion: string, kind: string, spec: JsonObject): JsonObject => ({
  apiVersion,
  kind,
  // Some kinds without labels would take those of their template.
  metadata: { name: kind.toLowerCase(), namespace: 'default', labels },
  spec,
});

const jobTemplate: JsonObject = { metadata: { labels }, spec: { ...small, restartPolicy: 'Never' } };
const jobSpec: JsonObject = {
  parallelism: 3,
  completions: 3,
  completionMode: 'Indexed',
  activeDeadlineSeconds: 60,
  backoffLimit: 4,
  backoffLimitPerIndex: 1,
  maxFailedIndexes: 2,
  ttlSecondsAfterFinished: 5,
  managedBy: 'example.com/controller',
  podReplacementPolicy: 'Failed',
  suspend: false,
  podFailurePolicy: {
    rules: [
      { action: 'FailIndex', onExitCodes: { containerName: 'main', operator: 'In', values: [1, 5] } },
      { action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget', status: 'True' }] },
    ],
  },
  successPolicy: { rules: [{ succeededIndexes: '0-1', succeededCount: 1 }] },
  template: jobTemplate,
};

/** Few fields of jobs and their templates are mutable; those of others may change freely. */
export const objects: Readonly<Record<string, JsonObject>> = {
  pod: object('v1', 'Pod', fullPodSpec),
  smallPod: object('v1', 'Pod', small),
  podTemplate: {
    apiVersion: 'v1',
    kind: 'PodTemplate',
    metadata: { name: 'template', namespace: 'default' },
    template,
  },
  replicationController: object('v1', 'ReplicationController', {
    replicas: 1,
    minReadySeconds: 1,
    selector: labels,
    template,
  }),
  replicaSet: object('apps/v1', 'ReplicaSet', { replicas: 1, minReadySeconds: 1, selector, template }),
  deployment: object('apps/v1', 'Deployment', {
    replicas: 2,
    selector,
    template,
    minReadySeconds: 1,
    revisionHistoryLimit: 5,
    progressDeadlineSeconds: 100,
    strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1, maxSurge: '25%' } },
  }),
  statefulSet: object('apps/v1', 'StatefulSet', {
    replicas: 1,
    selector,
    template: {
      ...template,
      spec: { containers: [{ name: 'main', image: 'a', volumeMounts: [{ name: 'data', mountPath: '/data' }] }] },
    },
    serviceName: 'service',
    podManagementPolicy: 'Parallel',
    updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 1 } },
    minReadySeconds: 1,
    revisionHistoryLimit: 5,
    ordinals: { start: 1 },
    persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Delete', whenScaled: 'Retain' },
    volumeClaimTemplates: [
      {
        metadata: { name: 'data' },
        spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
      },
    ],
  }),
  daemonSet: object('apps/v1', 'DaemonSet', {
    selector,
    template,
    minReadySeconds: 1,
    revisionHistoryLimit: 5,
    updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1, maxSurge: 0 } },
  }),
  controllerRevision: {
    apiVersion: 'apps/v1',
    kind: 'ControllerRevision',
    metadata: { name: 'revision', namespace: 'default' },
    revision: 1,
    data: { a: 'b' },
  },
  job: object('batch/v1', 'Job', jobSpec),
  cronJob: object('batch/v1', 'CronJob', {
    schedule: '*/5 1-3 * jan mon',
    timeZone: 'Europe/Berlin',
    startingDeadlineSeconds: 10,
    concurrencyPolicy: 'Forbid',
    successfulJobsHistoryLimit: 1,
    failedJobsHistoryLimit: 1,
    jobTemplate: { spec: { ...jobSpec, manualSelector: false } },
  }),
};
