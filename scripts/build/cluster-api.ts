/**
 * The files of a release that clusterctl installs: `metadata.yaml` and `control-plane-components.yaml`, with the definitions and the
 * operator of hosted control planes. `npm run build` writes them to dist/cluster-api.
 */

import { dumpYaml } from '../../packages/api/src/yaml/index.ts';
import { definitions as backupDefinitions } from '../../operators/backup/src/api/generated/index.ts';
import { backupRules } from '../../operators/backup/src/rbac.ts';
import { definitions } from '../../operators/hosted/src/api/generated/index.ts';
import { hostedWebhooks } from '../../operators/hosted/src/admission.ts';
import {
  certManagerRules,
  clusterApiRules,
  electionRules,
  gatewayRules,
  hostedBackupRules,
  hostedRules,
} from '../../operators/hosted/src/rbac.ts';
import { configurations } from '../../packages/runtime/src/webhooks/index.ts';

const name = 'capi-hosted-control-plane-controller-manager';
const namespace = 'capi-hosted-control-plane-system';
const webhookService = 'capi-hosted-control-plane-webhook-service';
const certificate = 'capi-hosted-control-plane-serving-cert';
const certificateFolder = '/tmp/k8s-webhook-server/serving-certs';
/** For snapshots of etcd on their way: the root file system is read-only. */
const scratchFolder = '/scratch';
const labels = { 'cluster.x-k8s.io/provider': 'control-plane-hosted-control-plane' };
const selector = { ...labels, 'control-plane': 'controller-manager' };
const ports = { metrics: 8080, health: 8081, webhook: 9443 } as const;

type Manifest = Readonly<Record<string, unknown>>;

export interface ReleaseOptions {
  /** Of Hangar: `0.1.0`. */
  readonly version: string;
  /** With its registry, which clusterctl requires: `localhost/hangar:0.1.0`. */
  readonly image: string;
}

/** File name → text. */
export function clusterApiFiles({ version, image }: ReleaseOptions): Map<string, string> {
  const components = [...own(), ...[...definitions, ...backupDefinitions].map(labelled), ...operator(image)];
  return new Map([
    ['metadata.yaml', dumpYaml(metadata(version) as never)],
    ['control-plane-components.yaml', components.map((one) => dumpYaml(one as never)).join('---\n')],
  ]);
}

/** The contract of Cluster API that each release series follows. */
function metadata(version: string): Manifest {
  const [major, minor] = version.split('.').map(Number);
  return {
    apiVersion: 'clusterctl.cluster.x-k8s.io/v1alpha3',
    kind: 'Metadata',
    releaseSeries: [{ major, minor, contract: 'v1beta2' }],
  };
}

const labelled = (manifest: { readonly metadata?: object }): Manifest => {
  const { labels: given } = (manifest.metadata ?? {}) as { readonly labels?: object };
  return { ...manifest, metadata: { ...manifest.metadata, labels: { ...given, ...labels } } };
};

const object = (apiVersion: string, kind: string, rest: object, more: object = { namespace }): Manifest => ({
  apiVersion,
  kind,
  metadata: { name, labels, ...more },
  ...rest,
});

const rbac = 'rbac.authorization.k8s.io/v1';
const subjects = [{ kind: 'ServiceAccount', name, namespace }];
const roleRef = (kind: string): object => ({ apiGroup: 'rbac.authorization.k8s.io', kind, name });
const cluster = {};

/** The namespace, the account and its rights. */
const own = (): Manifest[] => [
  object('v1', 'Namespace', {}, { name: namespace, labels: selector }),
  object('v1', 'ServiceAccount', {}),
  object(
    rbac,
    'ClusterRole',
    {
      rules: [
        ...hostedRules,
        ...clusterApiRules,
        ...gatewayRules,
        ...certManagerRules,
        ...backupRules,
        ...hostedBackupRules,
      ],
    },
    cluster,
  ),
  object(rbac, 'ClusterRoleBinding', { roleRef: roleRef('ClusterRole'), subjects }, cluster),
  object(rbac, 'Role', { rules: electionRules }),
  object(rbac, 'RoleBinding', { roleRef: roleRef('Role'), subjects }),
  // The core manager of Cluster API reads and changes control planes by this role, which its own role aggregates.
  object(
    rbac,
    'ClusterRole',
    {
      rules: [
        {
          apiGroups: ['controlplane.cluster.x-k8s.io'],
          resources: [
            'hostedcontrolplanes',
            'hostedcontrolplanes/status',
            'hostedcontrolplanes/scale',
            'hostedcontrolplanetemplates',
          ],
          verbs: ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete'],
        },
      ],
    },
    {
      name: 'capi-hosted-control-plane-aggregated-manager-role',
      labels: { ...labels, 'cluster.x-k8s.io/aggregate-to-manager': 'true' },
    },
  ),
];

/** The Deployment and the objects around it. */
function operator(image: string): Manifest[] {
  return [
    object('apps/v1', 'Deployment', { spec: deployment(image) }),
    object('policy/v1', 'PodDisruptionBudget', {
      spec: { maxUnavailable: 1, selector: { matchLabels: selector }, unhealthyPodEvictionPolicy: 'AlwaysAllow' },
    }),
    object(
      'v1',
      'Service',
      {
        spec: {
          selector,
          ports: [
            { name: 'webhook', port: 443, targetPort: 'webhook' },
            { name: 'metrics', port: ports.metrics, targetPort: 'metrics' },
          ],
        },
      },
      { name: webhookService, namespace },
    ),
    object('networking.k8s.io/v1', 'NetworkPolicy', { spec: networkPolicy }),
    object('cert-manager.io/v1', 'Issuer', { spec: { selfSigned: {} } }),
    object('cert-manager.io/v1', 'Certificate', {
      spec: {
        secretName: certificate,
        dnsNames: [`${webhookService}.${namespace}.svc`, `${webhookService}.${namespace}.svc.cluster.local`],
        issuerRef: { kind: 'Issuer', name },
      },
    }),
    webhooks(),
  ];
}

/** Connections to API servers of control planes use ports that users choose, so that egress is not limited. */
const networkPolicy = {
  podSelector: { matchLabels: selector },
  policyTypes: ['Ingress'],
  ingress: [{ ports: Object.values(ports).map((port) => ({ protocol: 'TCP', port })) }],
};

function webhooks(): Manifest {
  const { validating } = configurations(
    { hooks: hostedWebhooks(), conversions: [], conversionPath: '/convert' },
    {
      name: 'capi-hosted-control-plane-validating-webhook-configuration',
      service: { namespace, name: webhookService, port: 443 },
      labels,
      // cert-manager adds the authority of its certificate.
      annotations: { 'cert-manager.io/inject-ca-from': `${namespace}/${name}` },
    },
  );
  return validating as unknown as Manifest;
}

const deployment = (image: string): object => ({
  replicas: 2,
  selector: { matchLabels: selector },
  template: {
    metadata: { labels: selector },
    spec: {
      serviceAccountName: name,
      enableServiceLinks: false,
      terminationGracePeriodSeconds: 30,
      securityContext: {
        runAsNonRoot: true,
        runAsUser: 65_532,
        runAsGroup: 65_532,
        fsGroup: 65_532,
        seccompProfile: { type: 'RuntimeDefault' },
      },
      topologySpreadConstraints: [
        {
          maxSkew: 1,
          topologyKey: 'kubernetes.io/hostname',
          whenUnsatisfiable: 'ScheduleAnyway',
          labelSelector: { matchLabels: selector },
        },
      ],
      containers: [manager(image)],
      volumes: [
        { name: 'certificate', secret: { secretName: certificate } },
        { name: 'scratch', emptyDir: {} },
      ],
    },
  },
});

const manager = (image: string): object => ({
  // The name that the contract requires.
  name: 'manager',
  image,
  imagePullPolicy: 'IfNotPresent',
  args: [
    'hosted-operator',
    `--metrics-listen=0.0.0.0:${ports.metrics}`,
    `--health-listen=0.0.0.0:${ports.health}`,
    `--scratch-dir=${scratchFolder}`,
  ],
  env: [
    { name: 'CONTROLLER_NAMESPACE', valueFrom: { fieldRef: { fieldPath: 'metadata.namespace' } } },
    { name: 'WEBHOOK_CERT_DIR', value: certificateFolder },
    { name: 'HANGAR_IMAGE', value: image },
  ],
  ports: Object.entries(ports).map(([port, containerPort]) => ({ name: port, containerPort, protocol: 'TCP' })),
  livenessProbe: { httpGet: { path: '/healthz', port: 'health' }, periodSeconds: 10, failureThreshold: 6 },
  readinessProbe: { httpGet: { path: '/readyz', port: 'health' }, periodSeconds: 5 },
  resources: { requests: { cpu: '100m', memory: '128Mi' }, limits: { memory: '512Mi' } },
  securityContext: {
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ['ALL'] },
  },
  volumeMounts: [
    { name: 'certificate', mountPath: certificateFolder, readOnly: true },
    { name: 'scratch', mountPath: scratchFolder },
  ],
});
