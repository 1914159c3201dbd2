import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ControlPlane, ControlPlaneEndpoint, ControlPlaneRegistration, SecretReference } from '../api/index.ts';
import { ownSecretOf, resolve } from './resolution.ts';
import { kubeconfigFacts, withServer } from './kubeconfig.ts';
import { canonicalServices, hasService, isCanonical } from './services.ts';
import { kubeconfigText } from './testing/control-plane.ts';

const at = (host: string): string => `https://${host}/clusters/a/control-plane`;
const condition = (status: 'True' | 'False', reason = 'X') => [
  { type: 'Ready', status, reason, message: '', lastTransitionTime: '2026-01-01T00:00:00Z' },
];
const registered = (spec: object): ControlPlaneRegistration => ({
  apiVersion: '',
  kind: '',
  metadata: { name: 'r' },
  spec: { controlPlaneRef: { name: 'a' }, ...spec },
});
const plane = (status: object = {}, metadata: object = {}): ControlPlane => ({
  apiVersion: '',
  kind: '',
  metadata: { name: 'a', ...metadata },
  spec: {},
  status: { endpoint: at('x'), kubeconfigSecretRef: ownSecretOf('a'), conditions: condition('True'), ...status },
});
const hostedReady = [...condition('True'), { ...condition('True')[0]!, type: 'HostedControlPlaneReady' }];
const dedicated: ControlPlane = { ...plane({ conditions: hostedReady }), spec: { mode: 'Dedicated' } };
const migrating: ControlPlane = { ...plane(), spec: { mode: 'Dedicated' } };
const endpoint = (spec: object, status: object = {}): ControlPlaneEndpoint => ({
  apiVersion: '',
  kind: '',
  metadata: { name: 'e' },
  spec,
  status,
});
const kubeconfig = { server: at('x') };
const theirs: SecretReference = { name: 'mine', namespace: 'users' };
const near = { endpointRef: { name: 'e' } };

describe('the resolution of a registration', () => {
  const table: [title: string, found: object, reason: string, rest?: object][] = [
    ['no reference', { registration: registered({ controlPlaneRef: { name: '' } }) }, 'ControlPlaneRefMissing'],
    ['no control plane', { registration: registered({}) }, 'ControlPlaneNotFound'],
    [
      'a service that a dedicated control plane has itself',
      { registration: registered({ services: ['workloads', 'controllers'] }), controlPlane: dedicated },
      'ServiceIncluded',
    ],
    [
      'a service of a control plane that is to be migrated',
      { registration: registered({ services: ['controllers'] }), controlPlane: migrating, kubeconfig },
      'Resolved',
    ],
    [
      'other services of a dedicated control plane',
      { registration: registered({ services: ['workloads'] }), controlPlane: dedicated, kubeconfig },
      'Resolved',
    ],
    ['nothing published', { controlPlane: plane({ endpoint: undefined }) }, 'EndpointPending'],
    ['an empty address', { controlPlane: plane({ endpoint: '' }) }, 'EndpointPending'],
    ['no endpoint of that name', { registration: registered(near), controlPlane: plane() }, 'EndpointPending'],
    [
      'an endpoint that is not ready',
      {
        registration: registered(near),
        controlPlane: plane(),
        endpoint: endpoint({ endpoint: 'https://y' }, { conditions: condition('False') }),
      },
      'EndpointPending',
    ],
    [
      'an endpoint without an address',
      { registration: registered(near), controlPlane: plane(), endpoint: endpoint({}) },
      'EndpointPending',
    ],
    ['no Secret published', { controlPlane: plane({ kubeconfigSecretRef: undefined }) }, 'KubeconfigPending'],
    ['no Secret', { controlPlane: plane(), kubeconfig: undefined }, 'KubeconfigPending'],
    ['a Secret that is of no use', { controlPlane: plane(), kubeconfig: { problem: 'broken' } }, 'KubeconfigPending'],
    [
      'an own Secret for another address',
      { controlPlane: plane(), kubeconfig: { server: at('y') } },
      'KubeconfigPending',
    ],
    [
      "a user's Secret for another address",
      {
        registration: registered({ kubeconfigSecretRef: theirs }),
        controlPlane: plane(),
        kubeconfig: { server: at('y') },
      },
      'KubeconfigPending',
    ],
    [
      "another control plane's Secret is a user's",
      {
        registration: registered({ kubeconfigSecretRef: ownSecretOf('b') }),
        controlPlane: plane(),
        kubeconfig: { server: at('y') },
      },
      'KubeconfigPending',
    ],
    [
      'a control plane that is not ready',
      { controlPlane: plane({ conditions: condition('False') }) },
      'ControlPlaneNotReady',
    ],
    ['one that says nothing', { controlPlane: plane({ conditions: [] }) }, 'ControlPlaneNotReady'],
    ['one that is being deleted', { controlPlane: plane({}, { deletionTimestamp: 'now' }) }, 'ControlPlaneNotReady'],
    [
      'everything',
      { controlPlane: plane() },
      'Resolved',
      { address: at('x'), secret: ownSecretOf('a'), rewrite: false },
    ],
    [
      'the list of addresses counts before the single one',
      {
        controlPlane: plane({
          endpoint: at('old'),
          endpoints: [
            { type: 'External', url: at('y') },
            { type: 'Internal', url: at('x') },
          ],
        }),
      },
      'Resolved',
      { address: at('x') },
    ],
    [
      "a user's Secret for the same address",
      { registration: registered({ kubeconfigSecretRef: theirs }), controlPlane: plane() },
      'Resolved',
      { secret: theirs, rewrite: false },
    ],
    [
      'an endpoint of its own',
      { registration: registered(near), controlPlane: plane(), endpoint: endpoint({ endpoint: 'https://y' }) },
      'Resolved',
      { address: at('y'), rewrite: true },
    ],
    [
      'an endpoint of its own at the same address',
      { registration: registered(near), controlPlane: plane(), endpoint: endpoint({ endpoint: 'https://X:443/' }) },
      'Resolved',
      { address: at('x'), rewrite: false },
    ],
    [
      "an endpoint of its own with a user's Secret for it",
      {
        registration: registered({ ...near, kubeconfigSecretRef: theirs }),
        controlPlane: plane(),
        endpoint: endpoint({ endpoint: 'https://y' }),
        kubeconfig: { server: at('y') },
      },
      'Resolved',
      { address: at('y'), secret: theirs, rewrite: false },
    ],
    [
      "a cluster of a user's own, which has no path",
      {
        registration: registered({ ...near, kubeconfigSecretRef: theirs }),
        controlPlane: plane(),
        endpoint: endpoint({ endpoint: 'https://Y:6443/' }),
        kubeconfig: { server: 'https://y:6443' },
      },
      'Resolved',
      { address: 'https://y:6443', secret: theirs, rewrite: false },
    ],
    [
      'one at another address than its endpoint',
      {
        registration: registered({ ...near, kubeconfigSecretRef: theirs }),
        controlPlane: plane(),
        endpoint: endpoint({ endpoint: 'https://y' }),
        kubeconfig: { server: 'https://z' },
      },
      'KubeconfigPending',
    ],
  ];
  for (const [title, found, reason, rest = {}] of table) {
    test(`${title}: ${reason}`, () => {
      const resolution = resolve({ registration: registered({}), kubeconfig, ...found });
      assert.equal(resolution.reason, reason);
      assert.partialDeepStrictEqual(resolution, rest);
      if (resolution.reason !== 'Resolved') assert.ok(resolution.message.length > 10, 'it says why');
    });
  }
});

describe('a kubeconfig for another address', () => {
  test('differs in the server of its current cluster only', async () => {
    const before = kubeconfigText(at('x'));
    const text = withServer(before, at('y'));
    const data = { kubeconfig: Buffer.from(text).toString('base64') };
    assert.deepEqual(await kubeconfigFacts({ data }), { server: at('y') });
    assert.ok(text.includes('token-of-admin'));
    assert.equal(withServer(text, at('x')), withServer(before, at('x')), 'and back');
  });

  test('leaves clusters of other contexts alone', () => {
    const both = JSON.parse(kubeconfigText(at('x'))) as { clusters: object[] };
    both.clusters.push({ name: 'other', cluster: { server: at('other') } });
    assert.ok(withServer(JSON.stringify(both), at('y')).includes(at('other')));
  });

  test('what is none has a problem, never an exception', async () => {
    for (const text of ['', '{', 'kind: Secret', kubeconfigText('http://x'), '[]', '\u0000']) {
      const { problem } = await kubeconfigFacts({ data: { kubeconfig: Buffer.from(text).toString('base64') } });
      assert.ok(problem, JSON.stringify(text));
    }
    assert.ok((await kubeconfigFacts({})).problem);
  });
});

test('services are stored in lower case, each once, in their order', () => {
  assert.deepEqual(canonicalServices(['B', 'a', 'b', 'A']), ['b', 'a']);
  assert.ok(!isCanonical(['a', 'B']));
  assert.ok(isCanonical([]));
  assert.ok(hasService(['Controllers'], 'controllers'));
  assert.ok(!hasService(undefined, 'controllers'));
});
