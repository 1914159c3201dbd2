import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { KubeObject } from '../object.ts';
import { amountsOf, listOf } from './amounts.ts';
import { evaluatorOf, resourceCountedBy } from './evaluators/choose.ts';
import { readQuota } from './quota.ts';
import { limitsOf, Tally } from './usage.ts';

const nowMs = Date.parse('2026-01-01T00:00:00Z');
const selectorsOf = (spec: object): ReturnType<typeof readQuota> =>
  readQuota({ apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'q' }, spec });

interface Counting {
  readonly group?: string;
  readonly resource: string;
  readonly limits: readonly string[];
  readonly objects: readonly object[];
  readonly spec?: object;
}

function count({ group = '', resource, limits, objects, spec = {} }: Counting): Record<string, string> {
  const tally = new Tally({ group, resource, limits, quota: selectorsOf(spec), nowMs });
  for (const object of objects) tally.add(object as KubeObject);
  return listOf(tally.used);
}

const pod = (more: object = {}, metadata: object = {}): object => ({
  metadata: { name: 'p', ...metadata },
  spec: { containers: [{ name: 'c', resources: { requests: { cpu: '500m' }, limits: { cpu: '1' } } }], ...more },
  status: { phase: 'Running', qosClass: 'Burstable' },
});

describe('which resource a limit is about', () => {
  const cases: [limit: string, expected: string | undefined][] = [
    ['pods', '/pods'],
    ['count/pods', '/pods'],
    ['cpu', '/pods'],
    ['limits.memory', '/pods'],
    ['requests.example.com/gpu', '/pods'],
    ['hugepages-2Mi', '/pods'],
    ['services.nodeports', '/services'],
    ['requests.storage', '/persistentvolumeclaims'],
    ['gold.storageclass.storage.k8s.io/requests.storage', '/persistentvolumeclaims'],
    ['gpu.deviceclass.resource.k8s.io/devices', 'resource.k8s.io/resourceclaims'],
    ['secrets', '/secrets'],
    ['count/secrets', '/secrets'],
    ['count/deployments.apps', 'apps/deployments'],
    ['count/widgets.deep.example.com', 'deep.example.com/widgets'],
    ['count/events', undefined],
    ['deployments', undefined],
    ['bananas', undefined],
  ];
  for (const [limit, expected] of cases) {
    test(`${limit}: ${expected}`, () => {
      const found = resourceCountedBy(limit);
      assert.equal(found && `${found.group}/${found.resource}`, expected);
      if (found) assert.ok(evaluatorOf(found)!.counts(limit), 'its evaluator counts it');
    });
  }
});

test('limits of one resource are counted together, and what is unknown is left out', () => {
  assert.deepEqual(limitsOf(['cpu', 'services', 'bananas', 'pods']), [
    { group: '', resource: 'pods', limits: ['cpu', 'pods'] },
    { group: '', resource: 'services', limits: ['services'] },
  ]);
});

test('a limit of which nothing is used is at zero', () => {
  assert.deepEqual(count({ resource: 'pods', limits: ['pods', 'requests.cpu'], objects: [] }), {
    pods: '0',
    'requests.cpu': '0',
  });
});

test('pods that ended keep their place in the store and need nothing else', () => {
  const ended = { ...pod(), status: { phase: 'Succeeded' } };
  const used = count({
    resource: 'pods',
    limits: ['pods', 'count/pods', 'requests.cpu', 'limits.cpu'],
    objects: [pod(), ended],
  });
  assert.deepEqual(used, { pods: '1', 'count/pods': '2', 'requests.cpu': '500m', 'limits.cpu': '1' });
});

test('a pod that is late in ending counts until its time is over, and says when that is', () => {
  const late = pod({}, { deletionTimestamp: '2026-01-01T00:00:00Z', deletionGracePeriodSeconds: 30 }) as KubeObject;
  const at = (ms: number): Tally => {
    const tally = new Tally({ group: '', resource: 'pods', limits: ['pods'], quota: selectorsOf({}), nowMs: ms });
    tally.add(late);
    return tally;
  };
  assert.deepEqual(listOf(at(nowMs).used), { pods: '1' });
  assert.equal(at(nowMs).endsAtMs, nowMs + 30_001);
  assert.deepEqual(listOf(at(nowMs + 30_001).used), { pods: '0' });
  assert.equal(at(nowMs + 30_001).endsAtMs, undefined);
});

test('only what is in all scopes counts', () => {
  const objects = [pod(), pod({ activeDeadlineSeconds: 5 }), pod({ priorityClassName: 'high' })];
  const used = (spec: object): string => count({ resource: 'pods', limits: ['pods'], objects, spec })['pods']!;
  const priority = (operator: string, values?: string[]): object => ({
    scopeSelector: { matchExpressions: [{ scopeName: 'PriorityClass', operator, values }] },
  });
  assert.equal(used({ scopes: ['Terminating'] }), '1');
  assert.equal(used({ scopes: ['NotTerminating', 'NotBestEffort'] }), '2');
  assert.equal(used({ scopes: ['BestEffort'] }), '0');
  assert.equal(used(priority('In', ['high'])), '1');
  assert.equal(used(priority('Exists')), '1');
  assert.equal(used(priority('NotIn', ['high'])), '2');
  assert.equal(used({ scopes: ['Terminating'], ...priority('Exists') }), '0');
});

test('what is only counted is in no scope', () => {
  const limits = ['count/widgets.example.com'];
  const tally = (spec: object): Tally =>
    new Tally({ group: 'example.com', resource: 'widgets', limits, quota: selectorsOf(spec), nowMs });
  const [scoped, plain] = [tally({ scopes: ['BestEffort'] }), tally({})];
  for (const one of [scoped, plain]) {
    assert.ok(one.isPlainCount);
    one.addCount(7);
  }
  assert.deepEqual(
    [...scoped.used.values()].map(({ text }) => text),
    ['0'],
  );
  assert.deepEqual(
    [...plain.used.values()].map(({ text }) => text),
    ['7'],
  );
});

test('storage is summed in all and by class; ports on nodes by type of service', () => {
  const claim = (storageClassName: string, storage: string): object => ({
    metadata: { name: 'c' },
    spec: { storageClassName, resources: { requests: { storage } } },
  });
  const gold = 'gold.storageclass.storage.k8s.io/requests.storage';
  const claims = [claim('gold', '1Gi'), claim('gold', '2Gi'), claim('iron', '4Gi')];
  assert.deepEqual(count({ resource: 'persistentvolumeclaims', limits: ['requests.storage', gold], objects: claims }), {
    'requests.storage': '7Gi',
    [gold]: '3Gi',
  });
  const service = (type: string, ports: number): object => ({
    metadata: { name: 's' },
    spec: { type, ports: Array.from({ length: ports }, () => ({ port: 80 })) },
  });
  const services = [service('ClusterIP', 3), service('NodePort', 2), service('LoadBalancer', 1)];
  assert.deepEqual(
    count({
      resource: 'services',
      limits: ['services', 'services.nodeports', 'services.loadbalancers'],
      objects: services,
    }),
    { services: '3', 'services.nodeports': '3', 'services.loadbalancers': '1' },
  );
});

test('counting changes no object', () => {
  const bare = { metadata: { name: 'p' } };
  assert.deepEqual(count({ resource: 'pods', limits: ['pods'], objects: [Object.freeze(bare)] }), { pods: '1' });
  assert.deepEqual(amountsOf(null), new Map());
});
