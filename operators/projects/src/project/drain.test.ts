import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ApiObject, DiscoveredKind } from '@hangar/client';
import { Blockers } from './blockers.ts';
import { deletableKinds, isDrained } from './drain.ts';

const object = (namespace: string, name: string, finalizers?: string[]): ApiObject =>
  ({ metadata: { namespace, name, ...(finalizers && { finalizers }) } }) as ApiObject;

test('objects of users are deleted, objects that the platform creates again are not', () => {
  const cases: [string, ApiObject, boolean][] = [
    ['ConfigMap', object('web', 'settings'), true],
    ['ConfigMap', object('web', 'kube-root-ca.crt'), false],
    ['ServiceAccount', object('web', 'default'), false],
    ['ServiceAccount', object('web', 'deployer'), true],
    ['Service', object('default', 'kubernetes'), false],
    ['Service', object('web', 'kubernetes'), true],
    ['ConfigMap', object('kube-system', 'settings'), false],
    ['Service', object('kube-system', 'balancer', ['service.kubernetes.io/load-balancer-cleanup']), true],
  ];
  for (const [kind, one, expected] of cases) assert.equal(isDrained({ kind }, one), expected, JSON.stringify(one));
});

test('one version of each deletable kind in namespaces is used', () => {
  const kind = (group: string, version: string, plural: string, more: object = {}): DiscoveredKind =>
    ({ group, version, plural, isNamespaced: true, verbs: ['list', 'delete'], ...more }) as unknown as DiscoveredKind;
  const kinds = [
    kind('', 'v1', 'pods'),
    kind('', 'v1', 'events'),
    kind('', 'v1', 'bindings', { verbs: ['create'] }),
    kind('', 'v1', 'nodes', { isNamespaced: false }),
    kind('example.com', 'v2', 'widgets'),
    kind('example.com', 'v1', 'widgets'),
  ];
  const names = deletableKinds(kinds).map(({ plural, version }) => `${plural} ${version}`);
  assert.deepEqual(names, ['pods v1', 'widgets v2']);
});

test('the message names objects with finalizers first, and has a limited length', () => {
  const blockers = new Blockers();
  assert.ok(blockers.isEmpty);
  for (let at = 0; at < 1_000; at++) blockers.add('ConfigMap', object('web', `c${at}`));
  blockers.add('Secret', object('web', 'held', ['example.com/a', 'example.com/b']));
  assert.equal(
    blockers.message('object'),
    'waiting for the deletion of 1001 objects: Secret "web/held" (finalizers: example.com/a, example.com/b), ' +
      'ConfigMap "web/c0", ConfigMap "web/c1", ConfigMap "web/c2", ConfigMap "web/c3" and 996 more',
  );
});
