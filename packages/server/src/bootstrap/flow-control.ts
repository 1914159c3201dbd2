/**
 * Priority levels and flow schemas that every control plane has, as kube-apiserver declares them: two of each are mandatory, the others are
 * suggested and may be taken over by an administrator.
 */

import type { JsonObject, KubeObject } from '@hangar/api';

const apiVersion = 'flowcontrol.apiserver.k8s.io/v1';

/** States whether the server keeps the specification up to date (`"true"`) or an administrator does. */
export const autoUpdateAnnotation = 'apf.kubernetes.io/autoupdate-spec';

/** Reports whether the object is always as declared here, regardless of its annotation. */
export const isMandatory = ({ metadata: { name } }: KubeObject): boolean => name === 'exempt' || name === 'catch-all';

export const priorityLevels = (): KubeObject[] => [
  level('catch-all', {
    type: 'Limited',
    limited: { nominalConcurrencyShares: 5, limitResponse: { type: 'Reject' }, lendablePercent: 0 },
  }),
  level('exempt', { type: 'Exempt', exempt: { nominalConcurrencyShares: 0, lendablePercent: 0 } }),
  queued('global-default', { shares: 20, lendable: 50, queues: 128, handSize: 6 }),
  queued('leader-election', { shares: 10, lendable: 0, queues: 16, handSize: 4 }),
  queued('node-high', { shares: 40, lendable: 25, queues: 64, handSize: 6 }),
  queued('system', { shares: 30, lendable: 33, queues: 64, handSize: 6 }),
  queued('workload-high', { shares: 40, lendable: 50, queues: 128, handSize: 6 }),
  queued('workload-low', { shares: 100, lendable: 90, queues: 128, handSize: 6 }),
];

export const flowSchemas = (): KubeObject[] => [
  schema('catch-all', { level: 'catch-all', precedence: 10_000, by: 'ByUser' }, rule(everybody, everything)),
  schema('exempt', { level: 'exempt', precedence: 1 }, rule([group('system:masters')], everything)),
  schema('global-default', { level: 'global-default', precedence: 9_900, by: 'ByUser' }, rule(everybody, everything)),
  schema(
    'kube-controller-manager',
    { level: 'workload-high', precedence: 800, by: 'ByNamespace' },
    rule([user('system:kube-controller-manager')], everything),
  ),
  schema(
    'kube-scheduler',
    { level: 'workload-high', precedence: 800, by: 'ByNamespace' },
    rule([user('system:kube-scheduler')], everything),
  ),
  schema(
    'kube-system-service-accounts',
    { level: 'workload-high', precedence: 900, by: 'ByNamespace' },
    rule([systemAccounts], everything),
  ),
  schema(
    'probes',
    { level: 'exempt', precedence: 2 },
    rule(everybody, { nonResourceRules: [paths(['get'], ['/healthz', '/readyz', '/livez'])] }),
  ),
  schema(
    'service-accounts',
    { level: 'workload-low', precedence: 9_000, by: 'ByUser' },
    rule([group('system:serviceaccounts')], everything),
  ),
  schema(
    'system-leader-election',
    { level: 'leader-election', precedence: 100, by: 'ByUser' },
    rule([user('system:kube-controller-manager'), user('system:kube-scheduler'), systemAccounts], {
      resourceRules: [leases(['get', 'create', 'update'])],
    }),
  ),
  schema(
    'system-node-high',
    { level: 'node-high', precedence: 400, by: 'ByUser' },
    rule([group('system:nodes')], {
      resourceRules: [
        { verbs: all, apiGroups: [''], resources: ['nodes', 'nodes/status'], clusterScope: true, namespaces: all },
        leases(all),
      ],
    }),
  ),
  schema('system-nodes', { level: 'system', precedence: 500, by: 'ByUser' }, rule([group('system:nodes')], everything)),
];

const all = ['*'];
const user = (name: string): JsonObject => ({ kind: 'User', user: { name } });
const group = (name: string): JsonObject => ({ kind: 'Group', group: { name } });
const everybody = [group('system:unauthenticated'), group('system:authenticated')];
const systemAccounts: JsonObject = {
  kind: 'ServiceAccount',
  serviceAccount: { namespace: 'kube-system', name: '*' },
};

const paths = (verbs: string[], nonResourceURLs: string[]): JsonObject => ({ verbs, nonResourceURLs });

const leases = (verbs: string[]): JsonObject => ({
  verbs,
  apiGroups: ['coordination.k8s.io'],
  resources: ['leases'],
  namespaces: all,
});

const everything: JsonObject = {
  resourceRules: [{ verbs: all, apiGroups: all, resources: all, clusterScope: true, namespaces: all }],
  nonResourceRules: [paths(all, all)],
};

const rule = (subjects: readonly JsonObject[], what: JsonObject): JsonObject => ({ subjects: [...subjects], ...what });

const declared = (kind: string, name: string, spec: JsonObject): KubeObject => ({
  kind,
  apiVersion,
  metadata: { name, annotations: { [autoUpdateAnnotation]: 'true' } },
  spec,
});

const level = (name: string, spec: JsonObject): KubeObject => declared('PriorityLevelConfiguration', name, spec);

interface Queues {
  readonly shares: number;
  /** In percent. */
  readonly lendable: number;
  readonly queues: number;
  readonly handSize: number;
}

const queued = (name: string, { shares, lendable, queues, handSize }: Queues): KubeObject =>
  level(name, {
    type: 'Limited',
    limited: {
      nominalConcurrencyShares: shares,
      limitResponse: { type: 'Queue', queuing: { queues, handSize, queueLengthLimit: 50 } },
      lendablePercent: lendable,
    },
  });

interface Flow {
  readonly level: string;
  /** The smallest wins. */
  readonly precedence: number;
  /** Absent: all requests of the schema are one flow. */
  readonly by?: 'ByUser' | 'ByNamespace';
}

const schema = (name: string, flow: Flow, rules: JsonObject): KubeObject =>
  declared('FlowSchema', name, {
    priorityLevelConfiguration: { name: flow.level },
    matchingPrecedence: flow.precedence,
    ...(flow.by ? { distinguisherMethod: { type: flow.by } } : {}),
    rules: [rules],
  });
