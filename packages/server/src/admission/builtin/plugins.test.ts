import assert from 'node:assert/strict';
import { test } from 'node:test';
import { alwaysAllow } from './testing/allow.ts';
import { TestServer } from '../../testing/test-server.ts';
import { checkPluginChoice } from '../plugin-choice.ts';
import { container, inNamespace, pod } from './testing/steps.ts';

const pods = inNamespace('default', 'pods');

test('plugins are named as in kube-apiserver; a name that none has is told, with those that there are', () => {
  assert.doesNotThrow(() => checkPluginChoice({ disabled: ['PodSecurity', 'ResourceQuota'] }));
  assert.throws(
    () => checkPluginChoice({ enabled: ['Nothing'] }),
    /"Nothing"; known plugins: .*LimitRanger.*ServiceAccount/,
  );
  assert.throws(() => checkPluginChoice({ enabled: ['Priority'], disabled: ['Priority'] }), /both/);
});

test('what is disabled is not asked', async () => {
  await using server = await TestServer.start({ admission: { disabled: ['ServiceAccount', 'Priority'] } });
  const created = await server.create(pods, pod('a'));
  assert.equal(created.spec.priority, undefined);
});

test('a default account that comes a moment later is waited for', async () => {
  await using server = await TestServer.start({ admission: {} });
  const created = server.create(pods, pod('a', { automountServiceAccountToken: true }));
  await server.create(inNamespace('default', 'serviceaccounts'), { metadata: { name: 'default' } });
  const { spec } = await created;
  assert.equal(spec.serviceAccountName, 'default');
  assert.match(spec.volumes[0].name, /^kube-api-access-[bcdfghjklmnpqrstvwxz2456789]{5}$/);
  assert.equal(spec.containers[0].volumeMounts[0].name, spec.volumes[0].name);
});

test('a namespace that enforces a level accepts no privileged pod, of any user', async () => {
  await using server = await TestServer.start();
  await server.merge('/api/v1/namespaces/default', {
    metadata: { labels: { 'pod-security.kubernetes.io/enforce': 'baseline' } },
  });
  const privileged = pod('a', { containers: [container('c', { securityContext: { privileged: true } })] });
  const refused = await server.expect(403, 'POST', pods, { body: privileged });
  assert.equal(
    refused.message,
    'pods "a" is forbidden: violates PodSecurity "baseline:latest": privileged (container "c" must not set securityContext.privileged=true)',
  );
});

test('a label that names no level closes the namespace to all but restricted pods', async () => {
  await using server = await TestServer.start({ admission: { disabled: ['ServiceAccount', 'PodSecurity'] } });
  const space = { metadata: { name: 'odd', labels: { 'pod-security.kubernetes.io/enforce': 'strict' } } };
  await server.create('/api/v1/namespaces', space);
  await using strict = await TestServer.start({ wrapStore: () => server.store });
  const refused = await strict.expect(403, 'POST', inNamespace('odd', 'pods'), { body: pod('a') });
  assert.match(refused.message, /violates PodSecurity "restricted:latest"/);
});

const node = { token: 'node', user: 'system:node:n1', groups: ['system:nodes'] };
const user = { token: 'user', user: 'alice', groups: [] };

test('a node writes neither another node nor labels that are kept for administrators', async () => {
  await using server = await TestServer.start({ tokens: [node], authorizers: [alwaysAllow] });
  for (const name of ['n1', 'n2']) await server.create('/api/v1/nodes', { metadata: { name } });
  const label = (name: string, key: string) =>
    server.request('PATCH', `/api/v1/nodes/${name}`, {
      body: { metadata: { labels: { [key]: 'x' } } },
      contentType: 'application/merge-patch+json',
      token: 'node',
    });
  assert.equal((await label('n2', 'a')).status, 403);
  assert.equal((await label('n1', 'node-restriction.kubernetes.io/a')).status, 403);
  assert.equal((await label('n1', 'a')).status, 200);
});

test('an owner that blocks is named only by who may set its finalizers, when that is enforced', async () => {
  const authorizers = [
    {
      authorize: (who: { name: string }, info: { isResource: boolean; subresource?: string }) =>
        who.name === 'admin' || !info.isResource || info.subresource !== 'finalizers'
          ? ('allow' as const)
          : ('deny' as const),
    },
  ];
  const admission = { enabled: ['OwnerReferencesPermissionEnforcement'], disabled: ['ServiceAccount'] };
  await using server = await TestServer.start({ tokens: [user], authorizers, admission });
  const owned = (name: string, blockOwnerDeletion: boolean): object => ({
    metadata: {
      name,
      ownerReferences: [{ apiVersion: 'apps/v1', kind: 'Deployment', name: 'd', uid: 'u', blockOwnerDeletion }],
    },
  });
  const create = (name: string, blocks: boolean) =>
    server.request('POST', inNamespace('default', 'configmaps'), { body: owned(name, blocks), token: 'user' });
  assert.equal((await create('a', false)).status, 201);
  const refused = await create('b', true);
  assert.equal(refused.status, 403);
  assert.match(
    refused.data.message,
    /cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on/,
  );
});
