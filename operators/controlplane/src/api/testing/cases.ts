/**
 * Objects of the four kinds, good and bad, as their users would write them: created, then changed. Each step says what the server
 * answers: undefined when it takes it, or a part of why not.
 */

import type { ApiObject, Kind } from '@hangar/client';
import { ControlPlane, ControlPlaneClass, ControlPlaneEndpoint, ControlPlaneRegistration } from '../index.ts';

export interface Step {
  readonly spec?: unknown;
  /** In place of a change of the spec. */
  readonly status?: unknown;
  /** Absent: it is taken. */
  readonly refused?: string;
}

export interface Case {
  readonly title: string;
  readonly kind: Kind<ApiObject>;
  /** Absent: `a`. */
  readonly name?: string;
  /** The first one creates it. */
  readonly steps: readonly Step[];
}

const planes = (title: string, steps: readonly Step[], name?: string): Case => ({
  title,
  kind: ControlPlane,
  steps,
  ...(name === undefined ? {} : { name }),
});
const path = (clusterPath: string): object => ({ virtual: { clusterPath } });
const unchanged = 'the cluster path is immutable';
const long = 'x'.repeat(64);
const typed = { kind: 'Thing', name: 'a' };

const issuer = (changes: object = {}, username: object = { claim: 'sub', prefix: '' }): object => ({
  issuer: { url: 'https://a.example', audiences: ['a'], ...changes },
  claimMappings: { username },
});

const controlPlanes: readonly Case[] = [
  planes('nothing but a name', [{}]),
  planes('the example of the design document', [
    { spec: { classRef: { name: 'default' }, mode: 'Virtual', endpointRef: { name: 'e' }, ...path('example') } },
  ]),
  planes('a path that is set to the name later, and unset again', [{}, { spec: path('a') }, { spec: {} }]),
  planes('a path that changes', [{ spec: path('one') }, { spec: path('two'), refused: unchanged }]),
  planes('a path that is set to another than the name', [{}, { spec: path('b'), refused: unchanged }]),
  planes('a path that is unset', [{ spec: path('b') }, { spec: {}, refused: unchanged }]),
  planes('an empty block in place of a path', [{ spec: path('b') }, { spec: { virtual: {} }, refused: unchanged }]),
  planes('a path that changes with the mode', [
    { spec: path('b') },
    { spec: { mode: 'Dedicated', dedicated: {} }, refused: unchanged },
    { spec: { mode: 'Dedicated', dedicated: {}, ...path('b') } },
  ]),
  planes('settings of migrations', [
    { spec: { migration: { gracePeriodSeconds: 0, pauseSecondsMax: 8 } } },
    { spec: { migration: { gracePeriodSeconds: -1 } }, refused: 'spec.migration.gracePeriodSeconds' },
    { spec: { migration: { pauseSecondsMax: 9 } }, refused: 'spec.migration.pauseSecondsMax' },
  ]),
  planes('the record of a migration', [
    {},
    { status: { migration: { id: 'm', from: 'Virtual', to: 'Dedicated', step: 'Provision', attempts: 0 } } },
    { status: { migration: { from: 'Virtual', to: 'Dedicated', step: 'Copy' } }, refused: 'status.migration.step' },
    { status: { migration: { from: 'Virtual', to: 'Dedicated', outcome: 'Lost' } }, refused: 'migration.outcome' },
  ]),
  planes('a path in upper case', [{ spec: path('Abc'), refused: 'spec.virtual.clusterPath' }]),
  planes('a path with a slash', [{ spec: path('a/b'), refused: 'spec.virtual.clusterPath' }]),
  planes('a path that is too long', [{ spec: path(long), refused: 'Too long' }]),
  planes('an empty path', [{ spec: path(''), refused: 'spec.virtual.clusterPath' }]),
  planes('the path root', [{ spec: path('root'), refused: 'root is reserved for the management plane' }]),
  planes('the name root without a path', [{ refused: 'root is reserved for the management plane' }], 'root'),
  planes('the name root with a path', [{ spec: path('roots') }], 'root'),
  planes('a long name without a path', [{ refused: 'DNS label' }], long),
  planes('a long name with a path', [{ spec: path('short') }], long),
  planes('a name with dots without a path', [{ refused: 'DNS label' }], 'a.b'),
  planes('a name with dots and a path', [{ spec: path('a-b') }], 'a.b'),
  planes('a mode that there is not', [{ spec: { mode: 'Hosted' }, refused: 'spec.mode' }]),
  planes('Dedicated without dedicated', [{ spec: { mode: 'Dedicated' } }]),
  planes('a version and replicas', [
    { spec: { mode: 'Dedicated', dedicated: { version: 'v1.35.0', replicas: 1 } } },
    { spec: { mode: 'Dedicated', dedicated: { version: 'newest' } }, refused: 'spec.dedicated.version' },
    { spec: { mode: 'Dedicated', dedicated: { replicas: 0 } }, refused: 'spec.dedicated.replicas' },
  ]),
  planes('dedicated without Dedicated', [
    { spec: { dedicated: {} }, refused: 'must not be set unless spec.mode is Dedicated' },
  ]),
  planes('both migrations', [
    {},
    { spec: { mode: 'Dedicated', dedicated: { providerRef: typed } } },
    {
      spec: { mode: 'Virtual', dedicated: { providerRef: typed } },
      refused: 'must not be set unless spec.mode is Dedicated',
    },
    { spec: { mode: 'Virtual' } },
  ]),
  planes('an untyped provider', [
    { spec: { mode: 'Dedicated', dedicated: { providerRef: { name: 'a' } } }, refused: 'providerRef.kind' },
  ]),
  planes('endpoint and policy', [
    { spec: { endpointRef: { name: 'e' }, endpointPolicy: {} }, refused: 'are mutually exclusive' },
  ]),
  planes('a policy', [{ spec: { endpointPolicy: { hostname: 'a.example' } } }]),
  planes('a policy with a template', [{ spec: { endpointPolicy: { hostnameTemplate: '{name}.example' } } }]),
  planes('a policy with both', [
    { spec: { endpointPolicy: { hostname: 'a', hostnameTemplate: '{name}' } }, refused: 'are mutually exclusive' },
  ]),
  planes('a template with another variable', [
    { spec: { endpointPolicy: { hostnameTemplate: '{uid}.example' } }, refused: 'hostnameTemplate' },
  ]),
  planes('a host name with a port', [{ spec: { endpointPolicy: { hostname: 'a:1' } }, refused: 'hostname' }]),
  planes('an empty class', [{ spec: { classRef: { name: '' } }, refused: 'spec.classRef.name' }]),
  planes('a class without a name', [{ spec: { classRef: {} }, refused: 'spec.classRef.name' }]),
  planes('an empty endpoint', [{ spec: { endpointRef: { name: '' } }, refused: 'spec.endpointRef.name' }]),
  planes('nodes with networks', [
    { spec: { virtual: { nodes: { enabled: true, networks: ['10.0.0.0/8', 'fd00::/8'] } } } },
    { spec: { virtual: { nodes: { enabled: false } } } },
    { spec: { virtual: { nodes: { networks: ['10.0.0.0'] } } }, refused: 'must be a network in CIDR notation' },
    { spec: { virtual: { nodes: { networks: ['10.0.0.0/33'] } } }, refused: 'must be a network in CIDR notation' },
    { spec: { virtual: { nodes: { networks: ['10.0.0.0/8', '10.0.0.0/8'] } } }, refused: 'Duplicate value' },
    { spec: { virtual: { nodes: { enabled: 'yes' } } }, refused: 'spec.virtual.nodes.enabled' },
  ]),
  planes('external users', [
    { spec: { authentication: { jwt: [issuer()] } } },
    { spec: { authentication: { jwt: [] } } },
    { spec: { authentication: { jwt: [issuer({ url: 'http://a.example' })] } }, refused: 'issuer.url' },
    { spec: { authentication: { jwt: [issuer({ audiences: [] })] } }, refused: 'issuer.audiences' },
    { spec: { authentication: { jwt: [issuer({ audiences: ['a', 'b'] })] } }, refused: 'must be MatchAny' },
    { spec: { authentication: { jwt: [issuer({ audiences: ['a', 'b'], audienceMatchPolicy: 'MatchAny' })] } } },
    { spec: { authentication: { jwt: [issuer(), issuer()] } }, refused: 'must be unique' },
    { spec: { authentication: { jwt: [issuer({}, { claim: 'sub' })] } }, refused: 'prefix is required with claim' },
    { spec: { authentication: { jwt: [issuer({}, {})] } }, refused: 'exactly one of claim and expression' },
    { spec: { authentication: { jwt: [issuer({}, { expression: 'claims.sub' })] } } },
  ]),
  planes('a policy of deletion that there is not', [{ spec: { deletionPolicy: 'Delete' }, refused: 'deletionPolicy' }]),
  planes('a status', [
    {},
    {
      status: {
        phase: 'Ready',
        endpoint: 'https://a',
        endpoints: [{ type: 'Internal', url: 'https://a' }],
        kubeconfigSecretRef: { name: 'a', namespace: 'b' },
      },
    },
    { status: { phase: 'Happy' }, refused: 'status.phase' },
    { status: { endpoints: [{ type: 'Other', url: 'https://a' }] }, refused: 'status.endpoints[0].type' },
    {
      status: {
        endpoints: [
          { type: 'Join', url: 'https://a' },
          { type: 'Join', url: 'https://b' },
        ],
      },
      refused: 'Duplicate value',
    },
    { status: { conditions: [{ type: 'Ready', status: 'Maybe' }] }, refused: 'status.conditions[0]' },
  ]),
];

const classes: readonly Case[] = [
  { title: 'a class of nothing', kind: ControlPlaneClass, steps: [{}] },
  {
    title: 'the class of the design document',
    kind: ControlPlaneClass,
    steps: [
      { spec: { deletionPolicy: 'Retain', auth: { model: 'v0', defaultRole: 'cluster-admin' }, addons: ['starter'] } },
    ],
  },
  {
    title: 'an addon twice',
    kind: ControlPlaneClass,
    steps: [{ spec: { addons: ['a', 'a'] }, refused: 'Duplicate value' }],
  },
  { title: 'an empty addon', kind: ControlPlaneClass, steps: [{ spec: { addons: [''] }, refused: 'spec.addons[0]' }] },
  {
    title: 'a mode that there is not',
    kind: ControlPlaneClass,
    steps: [{ spec: { modesAllowed: ['X'] }, refused: 'modesAllowed' }],
  },
  {
    title: 'a gateway',
    kind: ControlPlaneClass,
    steps: [
      {
        spec: {
          gateway: {
            parentRef: { name: 'g', namespace: 'n' },
            hostnameTemplate: '{path}.example',
            apiServerRef: { name: 's', namespace: 'n', port: 6443 },
          },
        },
      },
      { spec: { gateway: { parentRef: { name: 'g', namespace: 'n' }, apiServerRef: { name: 's' } } } },
      { spec: { gateway: { apiServerRef: { name: 's', namespace: 'n', port: 0 } } }, refused: 'port' },
      { spec: { gateway: { parentRef: { name: 'g' } } }, refused: 'parentRef.namespace' },
    ],
  },
  {
    title: 'nodes',
    kind: ControlPlaneClass,
    steps: [
      { spec: { nodes: { enabled: true, networks: ['10.0.0.0/8'] } } },
      { spec: { nodes: { networks: ['here'] } }, refused: 'spec.nodes.networks[0]' },
    ],
  },
  {
    title: 'defaults of dedicated control planes',
    kind: ControlPlaneClass,
    steps: [
      { spec: { dedicated: { version: 'v1.36.4', replicas: 2, parametersRef: typed } } },
      { spec: { dedicated: { version: '1' } }, refused: 'spec.dedicated.version' },
    ],
  },
  {
    title: 'promotion',
    kind: ControlPlaneClass,
    steps: [
      { spec: { promotion: { toDedicated: { objects: 100000 } } } },
      {
        spec: {
          promotion: {
            mode: 'Automatic',
            toDedicated: {
              objects: 100000,
              storedBytes: '1Gi',
              requestsPerSecond: 200,
              neighbourP99: '500ms',
              stallsPerHour: 20,
              stabilizationWindow: '10m',
            },
            toVirtual: { objects: 50000, storedBytes: 500000000, requestsPerSecond: 50, stabilizationWindow: '24h' },
            maxDedicated: 5,
            maxConcurrent: 2,
          },
        },
      },
      { spec: { promotion: {} }, refused: 'spec.promotion.toDedicated' },
      { spec: { promotion: { toDedicated: {} } }, refused: 'at least one threshold' },
      { spec: { promotion: { toDedicated: { objects: 0 } } }, refused: 'spec.promotion.toDedicated.objects' },
      {
        spec: { promotion: { toDedicated: { storedBytes: '-1' } } },
        refused: 'spec.promotion.toDedicated.storedBytes',
      },
      { spec: { promotion: { toDedicated: { neighbourP99: '1m' } } }, refused: 'must be from 1ms to 30s' },
      { spec: { promotion: { toDedicated: { stallsPerHour: 101 } } }, refused: 'stallsPerHour' },
      {
        spec: { promotion: { toDedicated: { objects: 9, stabilizationWindow: '1s' } } },
        refused: 'must be from 1m to 168h',
      },
      { spec: { promotion: { mode: 'Off', toDedicated: { objects: 9 } } }, refused: 'spec.promotion.mode' },
      { spec: { promotion: { mode: 'Automatic', toDedicated: { objects: 9 } } }, refused: 'maxDedicated is required' },
      {
        spec: { promotion: { toDedicated: { objects: 9 }, toVirtual: { objects: 9 } } },
        refused: 'lower than toDedicated.objects',
      },
      {
        spec: { promotion: { toDedicated: { objects: 9 }, toVirtual: { requestsPerSecond: 1 } } },
        refused: 'toVirtual.objects must be set',
      },
      {
        spec: { promotion: { toDedicated: { storedBytes: '1Gi' }, toVirtual: { storedBytes: 2000000000 } } },
        refused: 'lower than toDedicated.storedBytes',
      },
      {
        spec: { promotion: { toDedicated: { requestsPerSecond: 9 }, toVirtual: { requestsPerSecond: 9 } } },
        refused: 'lower than toDedicated.requestsPerSecond',
      },
      { spec: { promotion: { toDedicated: { stallsPerHour: 9 }, toVirtual: {} } }, refused: 'at least one threshold' },
      {
        spec: { modesAllowed: ['Virtual'], promotion: { toDedicated: { objects: 9 } } },
        refused: 'allows both modes',
      },
      { spec: { modesAllowed: ['Virtual', 'Dedicated'], promotion: { toDedicated: { objects: 9 } } } },
    ],
  },
  {
    title: 'registrations',
    kind: ControlPlaneClass,
    steps: [
      { spec: { registration: { enabled: true, services: ['Controllers', 'scheduler'], mode: 'Shared' } } },
      { spec: { registration: { services: ['no spaces'] } }, refused: 'services[0]' },
      { spec: { registration: { services: ['a', 'a'] } }, refused: 'Duplicate value' },
      { spec: { registration: { mode: 'Other' } }, refused: 'registration.mode' },
    ],
  },
];

const endpoint = (title: string, endpointText: string, refused?: string): Case => ({
  title,
  kind: ControlPlaneEndpoint,
  steps: [{ spec: { endpoint: endpointText }, ...(refused === undefined ? {} : { refused }) }],
});

const endpoints: readonly Case[] = [
  { title: 'an endpoint to be allocated', kind: ControlPlaneEndpoint, steps: [{}] },
  {
    title: 'the endpoint of the design document',
    kind: ControlPlaneEndpoint,
    steps: [
      {
        spec: {
          endpoint: 'https://shared.kplane.example/clusters/example/control-plane',
          externalEndpoint: 'https://example.kplane.example',
          joinEndpoint: 'https://example.join.kplane.example/clusters/example/control-plane',
        },
      },
    ],
  },
  endpoint('a port', 'https://a.example:6443'),
  endpoint('an address', 'https://10.0.0.1:6443/'),
  endpoint('an IPv6 address', 'https://[fd00::1]:6443/clusters/a/control-plane'),
  endpoint('http', 'http://a.example', 'spec.endpoint'),
  endpoint('no scheme', 'a.example:6443', 'spec.endpoint'),
  endpoint('a user', 'https://user@a.example', 'spec.endpoint'),
  endpoint('a password', 'https://user:password@a.example', 'spec.endpoint'),
  endpoint('a query', 'https://a.example/?x=1', 'spec.endpoint'),
  endpoint('a fragment', 'https://a.example/#x', 'spec.endpoint'),
  endpoint('a space', 'https://a.example/x y', 'spec.endpoint'),
  endpoint('a new line', 'https://a.example/x\ny', 'spec.endpoint'),
  endpoint('no host', 'https:///x', 'spec.endpoint'),
  endpoint('an empty endpoint', '', 'spec.endpoint'),
  endpoint('a long one', `https://a.example/${'x'.repeat(2048)}`, 'Too long'),
  {
    title: 'a status that a provider has emptied',
    kind: ControlPlaneEndpoint,
    steps: [
      {},
      { status: { endpoint: '', externalEndpoint: '' } },
      { status: { endpoint: 'ftp://a' }, refused: 'status.endpoint' },
    ],
  },
];

const registration = (title: string, ...steps: Step[]): Case => ({ title, kind: ControlPlaneRegistration, steps });
const controlPlaneRef = { name: 'a' };

const registrations: readonly Case[] = [
  registration('the registration of the design document', {
    spec: {
      controlPlaneRef,
      services: ['controllers', 'scheduler'],
      mode: 'Shared',
      kubeconfigSecretRef: { name: 'controlplane-example-kubeconfig', namespace: 'kplane-cp-example' },
    },
  }),
  registration('a registration of nothing', { refused: 'spec' }),
  registration('a registration of no control plane', { spec: {}, refused: 'spec.controlPlaneRef' }),
  registration('an empty reference', { spec: { controlPlaneRef: { name: '' } }, refused: 'controlPlaneRef.name' }),
  registration('services of either case', { spec: { controlPlaneRef, services: ['Controllers', 'controllers'] } }),
  registration('a service twice', { spec: { controlPlaneRef, services: ['a', 'a'] }, refused: 'Duplicate value' }),
  registration('a service that is no label', { spec: { controlPlaneRef, services: ['-a'] }, refused: 'services[0]' }),
  registration('a long service', { spec: { controlPlaneRef, services: [long] }, refused: 'Too long' }),
  registration('many services', {
    spec: { controlPlaneRef, services: Array.from({ length: 33 }, (_, at) => `s${at}`) },
    refused: 'Too many',
  }),
  registration('half a Secret', {
    spec: { controlPlaneRef, kubeconfigSecretRef: { name: 'a' } },
    refused: 'namespace',
  }),
  registration('an empty endpoint', {
    spec: { controlPlaneRef, endpointRef: { name: '' } },
    refused: 'endpointRef.name',
  }),
  registration('a mode that there is not', { spec: { controlPlaneRef, mode: 'Other' }, refused: 'spec.mode' }),
];

export const cases: readonly Case[] = [...controlPlanes, ...classes, ...endpoints, ...registrations];
