import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defineKind } from '@hangar/client';
import type { ApiObject } from '@hangar/client';
import { bareCluster } from './testing/bare-cluster.ts';
import { mapToOwner, mapToSelf } from './mappings.ts';

const cluster = bareCluster('a');
const Deployment = defineKind({ apiVersion: 'apps/v1', kind: 'Deployment', plural: 'deployments', isNamespaced: true });
const Node = defineKind({ apiVersion: 'v1', kind: 'Node', plural: 'nodes', isNamespaced: false });

const ownedBy = (
  ...references: readonly [apiVersion: string, kind: string, name: string, controller?: boolean][]
): ApiObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    namespace: 'n',
    name: 'pod',
    ownerReferences: references.map(([apiVersion, kind, name, controller]) => ({
      apiVersion,
      kind,
      name,
      uid: name,
      ...(controller === undefined ? {} : { controller }),
    })),
  },
});

test('an object means itself', () => {
  assert.deepEqual([...mapToSelf(ownedBy(), cluster)], [{ namespace: 'n', name: 'pod' }]);
});

test('an owner is found by group, kind and name, whatever its version', () => {
  const pod = ownedBy(
    ['apps/v1beta2', 'Deployment', 'right', true],
    ['other/v1', 'Deployment', 'wrong-group', true],
    ['apps/v1', 'ReplicaSet', 'wrong-kind', true],
    ['apps/v1', 'Deployment', 'no-controller'],
  );
  assert.deepEqual([...mapToOwner(Deployment)(pod, cluster)], [{ namespace: 'n', name: 'right' }]);
  const any = [...mapToOwner(Deployment, true)(pod, cluster)].map(({ name }) => name);
  assert.deepEqual(any, ['right', 'no-controller']);
});

test('an owner without a namespace is asked for without one', () => {
  const [request] = mapToOwner(Node)(ownedBy(['v1', 'Node', 'node', true]), cluster);
  assert.deepEqual(request, { namespace: undefined, name: 'node' });
  assert.deepEqual([...mapToOwner(Node)({ apiVersion: 'v1', kind: 'Pod', metadata: {} }, cluster)], []);
});
