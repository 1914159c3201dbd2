/** Attacks: users who may write roles and bindings try to gain permissions. Messages are compared with kube-apiserver. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { cpuTime } from '@hangar/core/testing';
import { TestServer } from '../../../testing/test-server.ts';
import type { Sent } from '../../../testing/test-server.ts';
import { authorizersOf, superusers } from '../modes.ts';
import { escalationObjects, escalationSteps, escalationUsers } from '../testing/escalation-steps.ts';

const rbac = '/apis/rbac.authorization.k8s.io/v1';

async function start(): Promise<TestServer> {
  const server = await TestServer.start({
    tokens: escalationUsers,
    authorizers: (plane) => [superusers, ...authorizersOf(plane, ['RBAC'])],
  });
  for (const { path, object } of escalationObjects) await server.create(path, object);
  await server.plane.policy.fresh();
  return server;
}

const bodyOf = (body: unknown): Sent => (body === undefined ? {} : { body: body as object });

/** Names of objects that may be created: with held permissions, or by the verbs `escalate` and `bind`. */
const allowed = new Set(['a1', 'a4', 'e1', 'e2', 'b3', 'b6', 'b9', 'b10']);

test('nobody creates a role or a binding that grants what they do not have', async () => {
  await using server = await start();
  for (const { method, path, token, body } of escalationSteps) {
    if (method !== 'POST') continue;
    const { name } = (body as { metadata: { name: string } }).metadata;
    const { status, text } = await server.request(method, path, { token: token!, ...bodyOf(body) });
    if (allowed.has(name)) assert.equal(status, 201, `${name}: ${text}`);
    else assert.ok([400, 403, 404].includes(status), `${name}: ${status} ${text}`);
  }
});

describe('what exists', () => {
  test('is not changed into more than one has, by whatever kind of write', async () => {
    await using server = await start();
    const before = await server.get(`${rbac}/clusterroles/weak`);
    for (const { method, path, token, body, contentType } of escalationSteps) {
      if (method === 'POST' || !path.includes('/clusterroles/')) continue;
      const isHarmless = /"metadata":\{"(?:labels|finalizers)/.test(JSON.stringify(body)) && !path.includes('applied');
      if (isHarmless) continue;
      const sent = { token: token!, ...bodyOf(body), ...(contentType === undefined ? {} : { contentType }) };
      await server.expect(403, method, path, sent);
      await server.expect(403, method, `${path}${path.includes('?') ? '&' : '?'}dryRun=All`, sent);
    }
    assert.deepEqual(await server.get(`${rbac}/clusterroles/weak`), before);
  });

  test('is changed in its owners and finalizers by those who do not have its rules', async () => {
    await using server = await start();
    const patch = { contentType: 'application/merge-patch+json', token: 'writer-token' };
    const strong = `${rbac}/clusterroles/strong`;
    await server.expect(200, 'PATCH', strong, { ...patch, body: { metadata: { finalizers: ['example.com/a'] } } });
    await server.expect(403, 'PATCH', strong, {
      ...patch,
      body: { metadata: { finalizers: null, labels: { a: 'b' } } },
    });
    await server.expect(200, 'PATCH', strong, { ...patch, body: { metadata: { finalizers: null } } });
  });
});

test('what was taken away a moment ago is not granted once more', async () => {
  await using server = await start();
  const grant = { metadata: { name: 'again' }, rules: [{ verbs: ['get'], apiGroups: [''], resources: ['pods'] }] };
  await server.expect(201, 'POST', `${rbac}/clusterroles?dryRun=All`, { token: 'writer-token', body: grant });
  const rules = [
    { verbs: ['get', 'create', 'update'], apiGroups: ['rbac.authorization.k8s.io'], resources: ['clusterroles'] },
  ];
  await server.update(`${rbac}/clusterroles/writer-rules`, { metadata: { name: 'writer-rules' }, rules });
  await server.expect(403, 'POST', `${rbac}/clusterroles`, { token: 'writer-token', body: grant });
});

test('a role with more combinations than can be compared is refused, soon', async () => {
  await using server = await start();
  const many = (prefix: string): string[] => Array.from({ length: 300 }, (_, at) => `${prefix}${at}`);
  const rules = [{ verbs: many('v'), apiGroups: many('g'), resources: many('r'), resourceNames: many('n') }];
  const takenMs = cpuTime();
  const { message } = await server.expect(403, 'POST', `${rbac}/clusterroles`, {
    token: 'writer-token',
    body: { metadata: { name: 'huge' }, rules },
  });
  assert.match(message, /too many combinations to compare them with the permissions of user "writer"$/);
  assert.ok(takenMs() < 5_000);
});

test('administrators are not asked', async () => {
  await using server = await start();
  await server.create(`${rbac}/clusterroles`, {
    metadata: { name: 'all' },
    rules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }],
  });
});
