import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startTestCluster } from '@hangar/testkit';
import { rightOf } from './testing/rights.ts';
import { operatorUser, rightsSuite } from './testing/rights-suite.ts';

rightsSuite('Hangar', async () => {
  const cluster = await startTestCluster({ authorization: 'rbac' });
  return {
    client: cluster.client,
    transport: cluster.transportOf({ name: operatorUser }),
    [Symbol.asyncDispose]: () => cluster[Symbol.asyncDispose](),
  };
});

test('a request is told as RBAC sees it', () => {
  const table: [string, string, string | undefined][] = [
    ['GET', '/version', undefined],
    ['GET', '/apis/apps/v1', undefined],
    ['GET', '/api/v1/namespaces', 'list namespaces'],
    ['GET', '/api/v1/namespaces/a', 'get namespaces'],
    ['GET', '/api/v1/namespaces/a/secrets?watch=1', 'watch secrets'],
    ['GET', '/api/v1/namespaces/a/secrets/b', 'get secrets'],
    ['PUT', '/apis/g/v1/things/a/status', 'update things/status.g'],
    ['PATCH', '/apis/g/v1/namespaces/n/things/a', 'patch things.g'],
    ['DELETE', '/apis/g/v1/things', 'deletecollection things.g'],
    ['POST', '/apis/g/v1/things/a/kubeconfig', 'create things/kubeconfig.g'],
  ];
  for (const [method, target, right] of table) assert.equal(rightOf(method, target), right, target);
});
