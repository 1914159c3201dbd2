/** Objects of the two kinds, valid and invalid: created, then changed. Each step has the expected part of the error, if any. */

export interface Step {
  readonly spec?: unknown;
  /** Replaces the status instead of the spec. */
  readonly status?: unknown;
  /** Part of the error message. Absent: the server accepts the step. */
  readonly refused?: string;
}

export interface Case {
  readonly title: string;
  readonly kind: 'HostedControlPlane' | 'HostedControlPlaneTemplate';
  /** The first step creates the object. */
  readonly steps: readonly Step[];
}

const version = 'v1.36.4';
const plane = (title: string, ...steps: readonly Step[]): Case => ({ title, kind: 'HostedControlPlane', steps });
const versions = (title: string, from: string, to: string, refused?: string): Case =>
  plane(title, { spec: { version: from } }, { spec: { version: to }, ...(refused === undefined ? {} : { refused }) });
/** A spec with one more field. */
const withField = (field: object): object => ({ version, ...field });
const rejected = (title: string, field: object, refused: string): Case =>
  plane(title, { spec: withField(field), refused });
const apiServer = (field: object): object => ({ deployment: { apiServer: field } });
const decreased = 'the version cannot be decreased';
const skipped = 'minor versions cannot be skipped';
const policy = { rules: [{ level: 'Metadata' }] };
const issuer = {
  issuer: { url: 'https://a.example', audiences: ['a'] },
  claimMappings: { username: { claim: 'sub', prefix: 'oidc:' } },
};
const provider = { audiences: ['a'], claimMappings: { username: 'claims.email' } };

const everyField = {
  version,
  replicas: 3,
  controlPlaneEndpoint: { host: 'a.example.com', port: 443 },
  gateway: { namespace: 'capi-system', name: 'capi', host: 'demo.capi.example' },
  service: { type: 'LoadBalancer', annotations: { a: 'b' }, loadBalancerClass: 'example.com/internal' },
  deployment: {
    apiServer: {
      image: { registry: 'registry.example.com:5000', repository: 'kube-apiserver', tag: 'v1.36.4' },
      imagePullPolicy: 'Always',
      args: { 'max-requests-inflight': '800' },
      resources: { limits: { memory: '2Gi' }, requests: { cpu: 1, memory: '512Mi' } },
      priorityClassName: 'system-cluster-critical',
      mounts: {
        extra: { path: '/etc/extra', configMap: { name: 'extra', items: [{ key: 'a', path: 'a.yaml', mode: 256 }] } },
        more: { path: '/etc/more', secret: { secretName: 'more', optional: true, defaultMode: 256 } },
      },
      konnectivity: { args: { v: '4' } },
      audit: {
        policy: { apiVersion: 'audit.k8s.io/v1', kind: 'Policy', ...policy, omitStages: ['RequestReceived'] },
        mode: 'blocking-strict',
        webhook: {
          targets: [
            { server: 'https://audit.example.com/events', authentication: { secretName: 'a', tokenKey: 'token' } },
          ],
        },
      },
    },
    controllerManager: { replicas: 2, args: { v: '4' } },
    scheduler: { replicas: 2, priorityClassName: 'a' },
  },
  konnectivityClient: { replicas: 2 },
  coredns: { replicas: 2, image: { tag: 'v1.12.0' } },
  kubeProxy: { disabled: true },
  etcd: {
    replicas: 5,
    version: '3.6.8',
    volumeSize: '16Gi',
    priorityClassName: 'a',
    backup: { schedule: '@daily', secret: { name: 'bucket', namespace: 'backups', bucketKey: 'b' } },
  },
  oidcProviders: {
    'https://sso.example.com': { ...provider, claimValidationRules: [{ expression: 'true', message: 'no' }] },
  },
  certificates: {
    rootCaCertificateDuration: '87600h',
    caCertificateDuration: '43800h',
    issuer: 'CertManager',
    overlapDuration: '0s',
  },
  autoscaling: {
    minReplicas: 2,
    maxReplicas: 8,
    targetInFlightRequests: 50,
    targetCPU: '500m',
    targetLatency: '500ms',
    scaleUpDelay: '30s',
    scaleDownDelay: '1h30m',
  },
};

export const cases: readonly Case[] = [
  plane('the minimal object', { spec: { version, replicas: 3 } }),
  plane('every field', { spec: everyField }),
  plane('the manifest of the documents', {
    spec: { version: 'v1.33.0', replicas: 3, gateway: { name: 'capi', namespace: 'capi-system' } },
  }),
  plane('no version', { spec: { replicas: 3 }, refused: 'spec.version: Required value' }),
  ...['1.36', 'v1', 'latest', 'v1.36.x', 'v01.36.4', ''].map((text) =>
    plane(`version "${text}"`, { spec: { version: text }, refused: 'spec.version' }),
  ),
  plane('a version without v', { spec: { version: '1.36.4' } }),
  versions('a patch upgrade', 'v1.36.4', 'v1.36.5'),
  versions('a minor upgrade', 'v1.35.9', 'v1.36.0'),
  versions('a minor upgrade past 9', 'v1.9.9', 'v1.10.0'),
  versions('a release after a candidate', 'v1.36.0-rc.1', 'v1.36.0'),
  versions('a build tag', 'v1.36.4', 'v1.36.4+a.1'),
  versions('a patch downgrade', 'v1.36.10', 'v1.36.9', decreased),
  versions('a minor downgrade', 'v1.36.4', 'v1.35.9', decreased),
  versions('a skipped minor version', 'v1.34.1', 'v1.36.0', skipped),
  versions('another major version', 'v1.36.4', 'v2.36.4', 'the major version cannot change'),
  plane(
    'the next upgrade before the current one is complete',
    { spec: { version: 'v1.34.0' } },
    { status: { version: 'v1.34.0' } },
    { spec: { version: 'v1.35.0' } },
    { spec: { version: 'v1.36.0' }, refused: 'more than one minor version ahead of status.version' },
    { status: { version: 'v1.35.0' } },
    { spec: { version: 'v1.36.0' } },
  ),
  rejected('no replicas', { replicas: 0 }, 'spec.replicas'),
  rejected('too many replicas', { replicas: 33 }, 'spec.replicas'),
  plane('autoscaling with defaults', { spec: withField({ autoscaling: { maxReplicas: 1 } }) }),
  plane('a CPU target as a number', { spec: withField({ autoscaling: { maxReplicas: 4, targetCPU: 2 } }) }),
  rejected('autoscaling without a maximum', { autoscaling: {} }, 'spec.autoscaling.maxReplicas: Required value'),
  rejected(
    'a minimum above the maximum',
    { autoscaling: { minReplicas: 4, maxReplicas: 3 } },
    'minReplicas must not be greater than maxReplicas',
  ),
  rejected('a maximum of 33', { autoscaling: { maxReplicas: 33 } }, 'spec.autoscaling.maxReplicas'),
  rejected('no CPU as target', { autoscaling: { maxReplicas: 3, targetCPU: '0' } }, 'must be greater than 0'),
  rejected('a CPU target that is not a quantity', { autoscaling: { maxReplicas: 3, targetCPU: 'x' } }, 'targetCPU'),
  rejected('a latency of 0', { autoscaling: { maxReplicas: 3, targetLatency: '0ms' } }, 'must be from 1ms to 60s'),
  rejected('no in-flight request', { autoscaling: { maxReplicas: 3, targetInFlightRequests: 0 } }, 'targetInFlight'),
  rejected(
    'a delay of two days',
    { autoscaling: { maxReplicas: 3, scaleDownDelay: '48h' } },
    'must not be longer than 24h',
  ),
  rejected('an even number of etcd members', { etcd: { replicas: 2 } }, 'must be 1, 3 or 5'),
  plane(
    'another number of etcd members',
    { spec: { version } },
    { spec: { version, etcd: { replicas: 5 } } },
    { spec: { version, etcd: { replicas: 4 } }, refused: 'must be 1, 3 or 5' },
    { spec: { version, etcd: { replicas: 1 } } },
  ),
  plane(
    'a volume that grows, then shrinks',
    { spec: { version, etcd: { volumeSize: '8Gi' } } },
    { spec: { version, etcd: { volumeSize: '10Gi' } } },
    { spec: { version, etcd: { volumeSize: '9Gi' } }, refused: 'volumeSize cannot be decreased' },
    { spec: { version, etcd: { volumeSize: 20000000000 } } },
  ),
  rejected('a size that is not a quantity', { etcd: { volumeSize: 'big' } }, 'spec.etcd.volumeSize'),
  rejected('a fixed size that grows', { etcd: { volumeSize: '8Gi', autoGrow: true } }, 'autoGrow cannot be true'),
  plane(
    'a version of etcd that increases, then decreases',
    { spec: { version, etcd: { version: '3.5.26' } } },
    { spec: { version, etcd: { version: '3.6.8-0' } } },
    { spec: { version, etcd: { version: '3.6.8' } } },
    { spec: { version, etcd: { version: '3.6.7' } }, refused: 'the version of etcd cannot be decreased' },
    { spec: { version, etcd: { version: '3.5.26' } }, refused: 'the version of etcd cannot be decreased' },
    { spec: { version, etcd: {} } },
  ),
  ...['3.4.30', '3.6', 'v3.6.8', '4.0.0', 'latest'].map((text) =>
    rejected(`version "${text}" of etcd`, { etcd: { version: text } }, 'spec.etcd.version'),
  ),
  plane('a maximum of the volumes', { spec: { version, etcd: { autoGrow: true, volumeSizeMax: '12Gi' } } }),
  rejected(
    'a fixed size with a maximum',
    { etcd: { volumeSize: '8Gi', volumeSizeMax: '12Gi' } },
    'volumeSizeMax cannot be set when volumeSize is set',
  ),
  rejected('no size that cannot grow', { etcd: { autoGrow: false } }, 'autoGrow cannot be false'),
  rejected(
    'a schedule with a step',
    { etcd: { backup: { schedule: '*/5 * * * *', secret: { name: 'a' } } } },
    'schedule',
  ),
  plane(
    'another gateway',
    { spec: { version, gateway: { namespace: 'a', name: 'b' } } },
    { spec: { version, gateway: { namespace: 'a', name: 'c' } }, refused: 'field is immutable' },
    { spec: { version, gateway: { namespace: 'a', name: 'b', host: 'c.example' } }, refused: 'field is immutable' },
    { spec: { version }, refused: 'spec.gateway cannot be added or removed' },
  ),
  plane(
    'another host name at the front door',
    { spec: { version, frontDoor: { host: 'a.example.com' } } },
    { spec: { version, frontDoor: { host: 'b.example.com' } }, refused: 'field is immutable' },
    { spec: { version }, refused: 'spec.frontDoor cannot be added or removed' },
  ),
  plane(
    'the front door for an existing control plane',
    { spec: { version } },
    { spec: { version, frontDoor: {} }, refused: 'spec.frontDoor cannot be added or removed' },
  ),
  rejected(
    'a gateway and the front door',
    { gateway: { namespace: 'a', name: 'b' }, frontDoor: {} },
    'spec.gateway and spec.frontDoor are mutually exclusive',
  ),
  rejected('a host in upper case', { frontDoor: { host: 'A.example.com' } }, 'spec.frontDoor.host'),
  plane(
    'an endpoint that is set and changed',
    { spec: { version } },
    { spec: { version, controlPlaneEndpoint: { host: 'a', port: 443 } } },
    { spec: { version, controlPlaneEndpoint: { host: 'b', port: 443 } }, refused: 'field is immutable' },
  ),
  rejected(
    'a port that does not exist',
    { controlPlaneEndpoint: { host: 'a', port: 70000 } },
    'spec.controlPlaneEndpoint.port',
  ),
  rejected('another type of Service', { service: { type: 'ExternalName' } }, 'spec.service.type'),
  rejected('a mount of nothing', apiServer({ mounts: { a: { path: '/a' } } }), 'exactly one of configMap and secret'),
  rejected(
    'a mount of two things',
    apiServer({ mounts: { a: { path: '/a', configMap: { name: 'a' }, secret: { secretName: 'a' } } } }),
    'exactly one of configMap and secret',
  ),
  rejected('a relative path', apiServer({ mounts: { a: { path: 'a', configMap: { name: 'a' } } } }), 'mounts.a.path'),
  rejected(
    'a mount whose name is not a label',
    apiServer({ mounts: { A_1: { path: '/a', configMap: { name: 'a' } } } }),
    'the name of a mount must be a DNS label',
  ),
  rejected('an unknown audit mode', apiServer({ audit: { policy, mode: 'never' } }), 'audit.mode'),
  rejected('an unknown audit level', apiServer({ audit: { policy: { rules: [{ level: 'All' }] } } }), 'level'),
  rejected('an audit policy without rules', apiServer({ audit: { policy: { rules: [] } } }), 'rules'),
  rejected('a webhook without targets', apiServer({ audit: { policy, webhook: { targets: [] } } }), 'targets'),
  rejected('an unknown pull policy', apiServer({ imagePullPolicy: 'Sometimes' }), 'imagePullPolicy'),
  rejected(
    'an issuer without TLS',
    { oidcProviders: { 'http://sso.example.com': provider } },
    'must start with https://',
  ),
  rejected(
    'a provider without audiences',
    { oidcProviders: { 'https://a': { ...provider, audiences: [] } } },
    'audiences',
  ),
  plane(
    'external users',
    { spec: withField({ authentication: { jwt: [issuer] } }) },
    { spec: withField({ authentication: { jwt: [] } }) },
  ),
  rejected(
    'external users and providers',
    { oidcProviders: { 'https://a': provider }, authentication: { jwt: [issuer] } },
    'are mutually exclusive',
  ),
  rejected(
    'a mapping without a prefix',
    { authentication: { jwt: [{ ...issuer, claimMappings: { username: { claim: 'sub' } } }] } },
    'prefix is required with claim',
  ),
  rejected('a lifetime of minutes', { certificates: { caCertificateDuration: '30m' } }, 'must be at least 1h'),
  rejected(
    'an authority that ends before those below it',
    { certificates: { rootCaCertificateDuration: '2h', caCertificateDuration: '3h' } },
    'must be greater than or equal to caCertificateDuration',
  ),
  rejected('an overlap that is not a duration', { certificates: { overlapDuration: '1 day' } }, 'overlapDuration'),
  rejected('an issuer that does not exist', { certificates: { issuer: 'Vault' } }, 'issuer'),
  plane(
    'an issuer that changes',
    { spec: withField({ certificates: { issuer: 'BuiltIn' } }) },
    { spec: withField({ certificates: { issuer: 'CertManager' } }), refused: 'field is immutable' },
  ),
  { title: 'a template', kind: 'HostedControlPlaneTemplate', steps: [{ spec: { template: { spec: {} } } }] },
  {
    title: 'a template with settings and metadata',
    kind: 'HostedControlPlaneTemplate',
    steps: [
      {
        spec: {
          template: {
            metadata: { labels: { a: 'b' } },
            spec: { etcd: { volumeSize: '8Gi' }, gateway: { namespace: 'a', name: 'b' } },
          },
        },
      },
    ],
  },
  {
    title: 'a template with autoscaling',
    kind: 'HostedControlPlaneTemplate',
    steps: [
      { spec: { template: { spec: { autoscaling: { maxReplicas: 5, targetCPU: '1' } } } } },
      {
        spec: { template: { spec: { autoscaling: { minReplicas: 6, maxReplicas: 5 } } } },
        refused: 'minReplicas must not be greater than maxReplicas',
      },
    ],
  },
  {
    title: 'a template without a spec',
    kind: 'HostedControlPlaneTemplate',
    steps: [{ spec: { template: {} }, refused: 'spec.template.spec: Required value' }],
  },
];
