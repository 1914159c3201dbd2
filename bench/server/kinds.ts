/**
 * The kinds that the server benchmark creates, reads and changes, each of a realistic size.
 *
 * An object is a template: the load puts a name in the place of `__name__` and a new value in the place of `__value__`, in
 * the object and in its merge patch.
 */

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseYaml } from '@hangar/api';
import { moduleFolder } from '../../scripts/generate/modules.ts';

export interface BenchKind {
  /** Plural, as in paths. */
  readonly plural: string;
  readonly apiVersion: string;
  readonly object: object;
  readonly mergePatch: object;
  /** A PUT without a resourceVersion is refused. */
  readonly needsResourceVersion?: boolean;
  /** Objects that a namespace needs before one of this kind is accepted, by their collection's path. */
  readonly needs?: () => Promise<readonly Needed[]>;
}

export interface Needed {
  readonly path: string;
  readonly object: object;
}

const name = '__name__';
const value = '__value__';
const annotations = { 'bench.example/value': value };
const annotate = { metadata: { annotations } };
const labels = { 'app.kubernetes.io/name': 'web', 'app.kubernetes.io/instance': 'web-1', tier: 'frontend' };

/** Written out, because admission would generate a new name with every PUT, and names of volumes cannot change. */
const tokenMount = { name: 'token', mountPath: '/var/run/secrets/kubernetes.io/serviceaccount', readOnly: true };
const tokenVolume = {
  name: 'token',
  projected: {
    sources: [
      { serviceAccountToken: { expirationSeconds: 3607, path: 'token' } },
      { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
    ],
  },
};

/** A container as Helm charts write them: ports, environment, resources, probes and mounts. */
const container = {
  name: 'web',
  image: 'registry.example/web:1.27.3',
  imagePullPolicy: 'IfNotPresent',
  args: ['--listen=:8080', '--log-level=info'],
  ports: [
    { name: 'http', containerPort: 8080 },
    { name: 'metrics', containerPort: 9090 },
  ],
  env: [
    { name: 'POD_NAME', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
    { name: 'DATABASE_URL', valueFrom: { secretKeyRef: { name: 'database', key: 'url' } } },
    { name: 'REGION', value: 'eu-west-1' },
  ],
  resources: { requests: { cpu: '100m', memory: '128Mi' }, limits: { memory: '256Mi' } },
  readinessProbe: { httpGet: { path: '/ready', port: 'http' }, periodSeconds: 5 },
  livenessProbe: { httpGet: { path: '/live', port: 'http' }, initialDelaySeconds: 10 },
  securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] }, runAsNonRoot: true },
  volumeMounts: [
    { name: 'configuration', mountPath: '/etc/web', readOnly: true },
    { name: 'scratch', mountPath: '/tmp' },
    tokenMount,
  ],
};

const podSpec = {
  containers: [
    container,
    {
      name: 'proxy',
      image: 'registry.example/proxy:1.4',
      ports: [{ containerPort: 15000 }],
      volumeMounts: [tokenMount],
    },
  ],
  initContainers: [
    { name: 'migrate', image: 'registry.example/web:1.27.3', args: ['migrate'], volumeMounts: [tokenMount] },
  ],
  volumes: [{ name: 'configuration', configMap: { name: 'web' } }, { name: 'scratch', emptyDir: {} }, tokenVolume],
  serviceAccountName: 'default',
  terminationGracePeriodSeconds: 30,
  topologySpreadConstraints: [
    {
      maxSkew: 1,
      topologyKey: 'topology.kubernetes.io/zone',
      whenUnsatisfiable: 'ScheduleAnyway',
      labelSelector: { matchLabels: labels },
    },
  ],
};

/** Pods are refused in a namespace without its account, which a controller makes elsewhere. */
const defaultAccount = async (): Promise<readonly Needed[]> =>
  ['bench', 'bench-list'].map((namespace) => ({
    path: `/api/v1/namespaces/${namespace}/serviceaccounts`,
    object: { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default' } },
  }));

const configMaps: BenchKind = {
  plural: 'configmaps',
  apiVersion: 'v1',
  object: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { filler: 'x'.repeat(1024), value } },
  mergePatch: { data: { value } },
};

const secrets: BenchKind = {
  plural: 'secrets',
  apiVersion: 'v1',
  object: {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name, annotations },
    type: 'kubernetes.io/tls',
    data: {
      'tls.crt': Buffer.alloc(1_800, 'certificate').toString('base64'),
      'tls.key': Buffer.alloc(1_700, 'key').toString('base64'),
    },
  },
  mergePatch: annotate,
};

const pods: BenchKind = {
  plural: 'pods',
  apiVersion: 'v1',
  object: { apiVersion: 'v1', kind: 'Pod', metadata: { name, labels, annotations }, spec: podSpec },
  mergePatch: annotate,
  needs: defaultAccount,
};

const deployments: BenchKind = {
  plural: 'deployments',
  apiVersion: 'apps/v1',
  object: {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, labels },
    spec: {
      replicas: 3,
      selector: { matchLabels: labels },
      strategy: { rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
      template: { metadata: { labels, annotations }, spec: podSpec },
    },
  },
  mergePatch: { spec: { template: { metadata: { annotations } } } },
};

const events: BenchKind = {
  plural: 'events',
  apiVersion: 'v1',
  object: {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name },
    type: 'Normal',
    reason: 'Scheduled',
    message: `Successfully assigned bench/web to node-1 (${value})`,
    involvedObject: { apiVersion: 'v1', kind: 'Pod', name: 'web', namespace: '__namespace__', uid: 'f1c7' },
    source: { component: 'default-scheduler' },
    firstTimestamp: '2026-01-01T00:00:00Z',
    lastTimestamp: '2026-01-01T00:00:00Z',
    count: 1,
  },
  mergePatch: { message: value },
};

const leases: BenchKind = {
  plural: 'leases',
  apiVersion: 'coordination.k8s.io/v1',
  object: {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name },
    spec: {
      holderIdentity: value,
      leaseDurationSeconds: 40,
      acquireTime: '2026-01-01T00:00:00.000000Z',
      renewTime: '2026-01-01T00:00:00.000000Z',
    },
  },
  mergePatch: { spec: { holderIdentity: value } },
  needsResourceVersion: true,
};

const clusterApi = 'sigs.k8s.io/cluster-api@v1.13.6';
const definitionFile = 'controlplane.cluster.x-k8s.io_kubeadmcontrolplanes.yaml';

/** The definition of Cluster API's own module: two versions, 360 KB. */
async function controlPlaneDefinition(): Promise<readonly Needed[]> {
  const folder = await moduleFolder(clusterApi);
  const text = await readFile(join(folder, 'controlplane/kubeadm/config/crd/bases', definitionFile));
  const object = parseYaml(text).value as object;
  return [{ path: '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', object }];
}

const extraArgs = [
  { name: 'audit-log-path', value: '/var/log/audit.log' },
  { name: 'profiling', value: 'false' },
  { name: 'tls-min-version', value: 'VersionTLS12' },
];
const nodeRegistration = {
  name: '{{ ds.meta_data.local_hostname }}',
  criSocket: 'unix:///run/containerd/containerd.sock',
  kubeletExtraArgs: [{ name: 'cloud-provider', value: 'external' }],
  taints: [{ key: 'node-role.kubernetes.io/control-plane', effect: 'NoSchedule' }],
};

const kubeadmControlPlanes: BenchKind = {
  plural: 'kubeadmcontrolplanes',
  apiVersion: 'controlplane.cluster.x-k8s.io/v1beta2',
  object: {
    apiVersion: 'controlplane.cluster.x-k8s.io/v1beta2',
    kind: 'KubeadmControlPlane',
    metadata: { name, labels: { 'cluster.x-k8s.io/cluster-name': 'production' }, annotations },
    spec: {
      replicas: 3,
      version: 'v1.36.4',
      rollout: { strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1 } } },
      machineTemplate: {
        metadata: { labels },
        spec: {
          infrastructureRef: {
            apiGroup: 'infrastructure.cluster.x-k8s.io',
            kind: 'DockerMachineTemplate',
            name: 'production-control-plane',
          },
          deletion: { nodeDrainTimeoutSeconds: 120 },
        },
      },
      kubeadmConfigSpec: {
        clusterConfiguration: {
          apiServer: { extraArgs, certSANs: ['production.example', '127.0.0.1'] },
          controllerManager: { extraArgs },
          scheduler: { extraArgs: extraArgs.slice(1) },
          etcd: { local: { dataDir: '/var/lib/etcd' } },
        },
        initConfiguration: { nodeRegistration },
        joinConfiguration: { nodeRegistration },
        files: Array.from({ length: 6 }, (_, n) => ({
          path: `/etc/kubernetes/file-${n}.yaml`,
          owner: 'root:root',
          permissions: '0600',
          content: 'apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{ level: Metadata }]\n',
        })),
        preKubeadmCommands: ['hostnamectl set-hostname "$(cat /run/hostname)"', 'systemctl restart containerd'],
        postKubeadmCommands: ['systemctl enable --now kubelet'],
        users: [{ name: 'capi', sudo: 'ALL=(ALL) NOPASSWD:ALL', sshAuthorizedKeys: ['ssh-ed25519 AAAA admin'] }],
      },
    },
  },
  mergePatch: annotate,
  needsResourceVersion: true,
  needs: controlPlaneDefinition,
};

export const kinds: Readonly<Record<string, BenchKind>> = Object.fromEntries(
  [configMaps, secrets, events, leases, pods, deployments, kubeadmControlPlanes].map((kind) => [kind.plural, kind]),
);

/** The path of a kind's objects in a namespace. */
export function collectionPath({ apiVersion, plural }: BenchKind, namespace: string): string {
  return `/${apiVersion.includes('/') ? 'apis' : 'api'}/${apiVersion}/namespaces/${namespace}/${plural}`;
}

/** The object or patch as the text of a request. */
export function filledIn(template: object, fill: { name: string; value: string; namespace: string }): string {
  return JSON.stringify(template)
    .replaceAll('__name__', fill.name)
    .replaceAll('__value__', fill.value)
    .replaceAll('__namespace__', fill.namespace);
}
