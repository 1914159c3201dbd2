import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rightOf } from './rights.ts';

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
