/** Operations on objects behave as on a real kube-apiserver: bindings, evictions, finalizers, connections. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startRealServer } from '@hangar/api/testing';
import { compareServers } from '../testing/both-servers.ts';
import type { Step } from '../testing/both-servers.ts';
import { startInProcess } from '../testing/in-process.ts';

const namespace = '/api/v1/namespaces/default';
const pods = `${namespace}/pods`;
const budgets = '/apis/policy/v1/namespaces/default/poddisruptionbudgets';
const merge = 'application/merge-patch+json';

const get = (path: string, rest: Partial<Step> = {}): Step => ({ method: 'GET', path, ...rest });
const post = (path: string, body: unknown, rest: Partial<Step> = {}): Step => ({ method: 'POST', path, body, ...rest });
const patch = (path: string, body: unknown, rest: Partial<Step> = {}): Step => ({
  method: 'PATCH',
  path,
  body,
  contentType: merge,
  ...rest,
});
const remove = (path: string, body?: unknown, rest: Partial<Step> = {}): Step => ({
  method: 'DELETE',
  path,
  ...(body === undefined ? {} : { body }),
  ...rest,
});

const pod = (name: string, rest: { metadata?: object; spec?: object } = {}): object => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, ...rest.metadata },
  spec: { containers: [{ name: 'main', image: 'image' }], ...rest.spec },
});
const addPod = (name: string, rest: { metadata?: object; spec?: object } = {}): Step =>
  post(pods, pod(name, rest), { keep: { uid: 'metadata.uid' } });
const bind = (name: string, target: object, metadata: object = {}, rest: Partial<Step> = {}): Step =>
  post(`${pods}/${name}/binding`, { apiVersion: 'v1', kind: 'Binding', metadata: { name, ...metadata }, target }, rest);
const node = { kind: 'Node', name: 'node-1' };
const evict = (name: string, deleteOptions?: object, rest: Partial<Step> = {}): Step =>
  post(
    `${pods}/${name}/eviction`,
    { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name }, deleteOptions },
    rest,
  );
const setStatus = (name: string, status: object): Step => patch(`${pods}/${name}/status`, { status });
const setBudget = (name: string, status: object): Step => patch(`${budgets}/${name}/status`, { status });
const ready = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
/** The server writes it under its own name. */
const notManagers = { ignore: ['metadata.managedFields'] };

const binding: readonly Step[] = [
  addPod('bound'),
  bind('absent', node),
  bind('bound', {}),
  bind('bound', { kind: 'Pod', name: 'a' }),
  bind('bound', { kind: 'Pod' }),
  bind('bound', node, { name: 'other' }),
  bind('bound', node, { uid: 'wrong' }),
  bind('bound', node, { resourceVersion: '1' }, { codeOnly: true }),
  bind('bound', node, {}, { path: `${pods}/bound/binding?dryRun=All` }),
  get(`${pods}/bound`),
  bind('bound', node, { uid: '{{uid}}', annotations: { a: 'b' }, labels: { c: 'd' } }),
  get(`${pods}/bound`),
  bind('bound', node),
  addPod('gated', { spec: { schedulingGates: [{ name: 'a.b/c' }] } }),
  bind('gated', node),
  addPod('legacy'),
  post(`${namespace}/bindings`, { apiVersion: 'v1', kind: 'Binding', metadata: { name: 'legacy' }, target: node }),
  get(`${pods}/legacy`),
  post(`${namespace}/bindings`, { apiVersion: 'v1', kind: 'Binding', metadata: { name: 'legacy' }, target: node }),
  post(`${namespace}/bindings`, { apiVersion: 'v1', kind: 'Binding', metadata: { name: 'nobody' }, target: node }),
  get(`${namespace}/bindings`),
  get(`${pods}/bound/binding`),
];

const connections: readonly Step[] = [
  addPod('free'),
  addPod('two', { spec: { containers: ['a', 'b'].map((name) => ({ name, image: 'image' })) } }),
  get(`${pods}/free/log`),
  get(`${pods}/two/log`),
  get(`${pods}/two/log?container=c`),
  get(`${pods}/absent/log`),
  ...[
    'tailLines=-1&limitBytes=0&sinceSeconds=-5',
    'sinceSeconds=1&sinceTime=2026-01-02T03:04:05Z',
    'sinceTime=yesterday',
    'tailLines=x',
    'limitBytes=',
    'sinceSeconds=99999999999999999999',
    'stream=Stdout',
    'follow=yes&container=main',
  ].map((query) => get(`${pods}/free/log?${query}`)),
  get(`${pods}/bound/log`),
  ...['exec', 'attach', 'portforward'].flatMap((name) => [
    post(`${pods}/free/${name}?command=ls&stdout=1`, ''),
    get(`${pods}/free/${name}?command=ls&stdout=1`),
    post(`${pods}/two/${name}?command=ls&stdout=1`, ''),
    post(`${pods}/absent/${name}?command=ls&stdout=1`, ''),
    post(`${pods}/bound/${name}?command=ls&stdout=1`, ''),
  ]),
  get(`${pods}/free/proxy/`),
  get(`${pods}/absent/proxy`),
  get(`${pods}/http:free:80/proxy/`),
  get(`${pods}/a:b:c:d/proxy/`),
  get(`${namespace}/services/absent/proxy/`),
  get(`${namespace}/services/absent:80/proxy/`),
  get(`${namespace}/services/kubernetes:81/proxy/`),
  get('/api/v1/nodes/absent/proxy/'),
  get('/api/v1/componentstatuses/absent'),
  get('/api/v1/componentstatuses/etcd-0'),
  get('/api/v1/componentstatuses?labelSelector=a%3Db'),
];

const resources = (cpu: string): object => ({ requests: { cpu }, limits: { cpu: '2' } });
const strategic = { contentType: 'application/strategic-merge-patch+json' };

const parts: readonly Step[] = [
  addPod('sized', { spec: { containers: [{ name: 'main', image: 'image', resources: resources('1') }] } }),
  get(`${pods}/sized/resize`),
  patch(`${pods}/sized/resize`, { spec: { containers: [{ name: 'main', resources: resources('500m') }] } }, strategic),
  patch(`${pods}/sized/resize`, { spec: { containers: [{ name: 'main', image: 'other' }] } }, strategic),
  patch(
    `${pods}/sized/resize`,
    { spec: { containers: [{ name: 'main', resources: { requests: { cpu: '3' } } }] } },
    strategic,
  ),
  patch(
    `${pods}/sized`,
    { spec: { containers: [{ name: 'main', resources: resources('100m') }] } },
    { ...strategic, codeOnly: true },
  ),
  patch(`${pods}/absent/resize`, {}),
  get(`${pods}/sized/ephemeralcontainers`),
  patch(
    `${pods}/sized/ephemeralcontainers`,
    { spec: { ephemeralContainers: [{ name: 'debug', image: 'image' }] } },
    strategic,
  ),
  patch(
    `${pods}/sized/ephemeralcontainers`,
    { spec: { ephemeralContainers: [{ name: 'debug', image: 'other' }] } },
    { ...strategic, codeOnly: true },
  ),
  patch(
    `${pods}/sized/ephemeralcontainers`,
    { spec: { ephemeralContainers: [{ name: 'main', image: 'image' }] } },
    { ...strategic, codeOnly: true },
  ),
  patch(`${pods}/sized/ephemeralcontainers`, { spec: { ephemeralContainers: null } }, { codeOnly: true }),
  get(`${pods}/sized`),
];

const evictions: readonly Step[] = [
  evict('absent'),
  addPod('pending'),
  evict('pending', undefined, { path: `${pods}/pending/eviction?dryRun=All` }),
  evict('pending', { preconditions: { uid: 'wrong' } }),
  evict('pending', { preconditions: { resourceVersion: '1' } }, { codeOnly: true }),
  evict('pending', { propagationPolicy: 'Unknown' }),
  post(`${pods}/pending/eviction`, { metadata: { name: 'other' } }),
  post(
    `${pods}/pending/eviction`,
    { metadata: { name: 'pending' }, unknown: 1 },
    { path: `${pods}/pending/eviction?fieldValidation=Strict` },
  ),
  evict('pending'),
  get(`${pods}/pending`),
  addPod('running', { metadata: { labels: { app: 'a' } }, spec: { nodeName: 'node-1' } }),
  setStatus('running', ready),
  post(budgets, {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name: 'budget' },
    spec: { minAvailable: 1, selector: { matchLabels: { app: 'a' } } },
  }),
  evict('running'),
  setBudget('budget', {
    observedGeneration: 1,
    currentHealthy: 1,
    desiredHealthy: 1,
    disruptionsAllowed: 0,
    expectedPods: 1,
  }),
  evict('running'),
  setBudget('budget', {
    currentHealthy: 2,
    conditions: [
      {
        type: 'DisruptionAllowed',
        status: 'False',
        reason: 'SyncFailed',
        message: 'oh',
        lastTransitionTime: '2026-01-01T00:00:00Z',
      },
    ],
  }),
  evict('running'),
  setBudget('budget', {
    conditions: [
      {
        type: 'DisruptionAllowed',
        status: 'False',
        reason: 'InsufficientPods',
        message: 'few',
        lastTransitionTime: '2026-01-01T00:00:00Z',
      },
    ],
  }),
  evict('running'),
  setBudget('budget', {
    conditions: [
      {
        type: 'DisruptionAllowed',
        status: 'True',
        reason: 'SufficientPods',
        message: '',
        lastTransitionTime: '2026-01-01T00:00:00Z',
      },
    ],
  }),
  evict('running'),
  post(budgets, {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name: 'second' },
    spec: { minAvailable: 1, selector: {} },
  }),
  evict('running'),
  remove(`${budgets}/second`),
  setBudget('budget', { disruptionsAllowed: 1 }),
  evict('running', undefined, { path: `${pods}/running/eviction?dryRun=All` }),
  get(`${budgets}/budget`, notManagers),
  evict('running', { gracePeriodSeconds: 7 }),
  get(`${budgets}/budget`, { ignore: ['metadata.managedFields', 'status.disruptedPods.running'] }),
  get(`${pods}/running`),
  evict('running'),
  addPod('unready', { metadata: { labels: { app: 'a' } }, spec: { nodeName: 'node-1' } }),
  setStatus('unready', { phase: 'Running', conditions: [{ type: 'Ready', status: 'False' }] }),
  evict('unready'),
  get(`${pods}/unready`),
];

const finalizers: readonly Step[] = [
  post('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'going' } }),
  {
    method: 'PUT',
    path: '/api/v1/namespaces/going/finalize',
    body: {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'going' },
      spec: { finalizers: ['kubernetes', 'a.b/c'] },
    },
  },
  {
    method: 'PUT',
    path: '/api/v1/namespaces/going/finalize',
    body: { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'going' }, spec: { finalizers: ['wrong wrong'] } },
  },
  remove('/api/v1/namespaces/going'),
  remove('/api/v1/namespaces/going'),
  get('/api/v1/namespaces/going'),
  {
    method: 'PUT',
    path: '/api/v1/namespaces/going/finalize',
    body: { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'going' }, spec: { finalizers: ['kubernetes'] } },
  },
  {
    method: 'PUT',
    path: '/api/v1/namespaces/going/finalize',
    body: { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'going' }, spec: {} },
  },
  get('/api/v1/namespaces/going'),
  get('/api/v1/namespaces/default/finalize'),
  patch('/api/v1/namespaces/default/finalize', {}),
];

const jobs = '/apis/batch/v1/namespaces/default/jobs';
const job = (name: string): object => ({
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { name },
  spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'image' }] } } },
});
const generated = {
  ignore: ['spec.selector', 'spec.template.metadata.labels', 'metadata.labels', 'metadata.managedFields'],
};

const deletions: readonly Step[] = [
  ...['a', 'b', 'c', 'd'].map((name) => post(jobs, job(name), generated)),
  remove(`${jobs}/a`),
  remove(`${jobs}/b`, { propagationPolicy: 'Background' }),
  remove(`${jobs}/c`, { orphanDependents: false }),
  remove(`${jobs}?labelSelector=x%3Dy`),
  remove(jobs, undefined, { codeOnly: true }),
];

/** A real signing request, whose key no longer exists. */
const request =
  'LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlIYk1JR0JBZ0VBTUI4eEVUQVBCZ05WQkFNTUNITnZiV1ZpYjJSNU1Rb3dDQVlEVlFRS0RBRjRNRmt3RXdZSApLb1pJemowQ0FRWUlLb1pJemowREFRY0RRZ0FFSWFmTERBREV6UnVFWTdkRXRSL0ZJd2VPaVk1aHVoZGdjNXlhCjl6YUg4V0RxT1ZoVzlkV3AxNkV4SEp0SFIwSUJOREl0TERraS9zaG9FQkp3c1lxeVJhQUFNQW9HQ0NxR1NNNDkKQkFNQ0Ewa0FNRVlDSVFDTDJWTklmREVRNWVZZEpqRXlvd2JMR3RLRkZxcTRqSUZiNjNHZy9tOE8xUUloQUxoVgplaUZUVUpzTk9HVFJnbGNiNmxDa2x1d2VwMTlkSFRRaTdTUng4eFRlCi0tLS0tRU5EIENFUlRJRklDQVRFIFJFUVVFU1QtLS0tLQo=';
const certificates: readonly Step[] = [
  post('/apis/certificates.k8s.io/v1/certificatesigningrequests', {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { name: 'mine' },
    spec: { request, signerName: 'example.com/signer', usages: ['client auth'], username: 'somebody', groups: ['x'] },
  }),
  patch(
    '/apis/certificates.k8s.io/v1/certificatesigningrequests/mine/approval',
    {
      status: { conditions: [{ type: 'Approved', status: 'True', reason: 'ByMe', message: 'fine' }] },
    },
    { ignore: ['status.conditions.0.lastUpdateTime'] },
  ),
  patch('/apis/certificates.k8s.io/v1/certificatesigningrequests/mine/approval', { status: { conditions: [] } }),
];

for (const [name, steps] of Object.entries({
  bindings: [...binding, ...connections],
  parts,
  evictions,
  finalizers,
  deletions,
  certificates,
})) {
  test(`${name} are answered as by kube-apiserver`, async () => {
    await using real = await startRealServer();
    await using hangar = await startInProcess();
    assert.deepEqual(await compareServers(real, hangar, steps), []);
  });
}
