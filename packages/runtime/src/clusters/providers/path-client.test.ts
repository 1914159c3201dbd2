import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { HttpAnswer } from '@hangar/client';
import { pathClient } from './path-client.ts';
import { configMapKind } from './testing/management.ts';

const answer: HttpAnswer = {
  status: 200,
  header: () => undefined,
  body: () => Promise.resolve(Buffer.from('{"metadata":{},"items":[]}')),
  async *stream() {},
};

function recorded(path: string) {
  const targets: string[] = [];
  const raw = ({ target }: { readonly target: string }) => (targets.push(target), Promise.resolve(answer));
  return { targets, client: pathClient({ raw }, path) };
}

test('what is asked for is below the path, with whatever names may have in them', async () => {
  const { client, targets } = recorded('/clusters/a/control-plane');
  await client.list(configMapKind, { namespace: 'x', labelSelector: 'a in (b, ../c)' });
  await client.raw({ method: 'GET', target: '/apis/rbac.authorization.k8s.io/v1/clusterroles/system:a%20b' });
  await client.raw({ method: 'GET', target: '/logs/..x/...?a=/../b' });
  assert.deepEqual(targets, [
    '/clusters/a/control-plane/api/v1/namespaces/x/configmaps?labelSelector=a%20in%20(b%2C%20..%2Fc)',
    '/clusters/a/control-plane/apis/rbac.authorization.k8s.io/v1/clusterroles/system:a%20b',
    '/clusters/a/control-plane/logs/..x/...?a=/../b',
  ]);
});

test('what could lead to another cluster is not sent', async () => {
  const { client, targets } = recorded('/clusters/a/control-plane');
  for (const up of [
    '/../..',
    '/..',
    '/x/../..',
    '/%2e%2e/%2E%2E',
    '/.%2e',
    '/..%2f..',
    '\\..',
    '/\\..\\..',
    '/.\t./..',
    '/..%5c..',
  ]) {
    for (const rest of ['/b/control-plane/api/v1/secrets', '']) {
      await assert.rejects(client.raw({ method: 'GET', target: up + rest }), { code: 'InvalidKey' }, up + rest);
    }
  }
  for (const target of ['', 'x', '-b/control-plane', '/%252e%252e/b', '/a#b', 'https://elsewhere/']) {
    await assert.rejects(client.raw({ method: 'GET', target }), { code: 'InvalidKey' }, target);
  }
  assert.deepEqual(targets, []);
});

test('a path that is not what it seems is refused', () => {
  for (const name of ['a/../b', '..', '', '%2f', '%2e%2e', 'a?', 'a#', 'a\\b', 'a b', 'a\nb']) {
    assert.throws(() => recorded(`/clusters/${name}/control-plane`), { code: 'InvalidOptions' }, name);
  }
  for (const path of ['', '/', 'a', '/a/']) assert.throws(() => recorded(path), { code: 'InvalidOptions' }, path);
});
