import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startInProcess } from '../testing/in-process.ts';
import type { InProcessServer } from '../testing/in-process.ts';

/** Parsed response. */
type Json = ReturnType<typeof JSON.parse>;

const pods = '/api/v1/namespaces/default/pods';
const budgets = '/apis/policy/v1/namespaces/default/poddisruptionbudgets';
const merge = 'application/merge-patch+json';

async function send(server: InProcessServer, method: string, path: string, body?: object): Promise<Json> {
  const contentType = method === 'PATCH' ? { contentType: merge } : {};
  const sent = body === undefined ? {} : { body: JSON.stringify(body), ...contentType };
  const answer = await server.request(method, path, sent);
  const text = answer.body.toString();
  return { code: answer.status, ...(text === '' ? {} : JSON.parse(text)) };
}

const addPod = (server: InProcessServer, name: string, metadata: object = {}, spec: object = {}): Promise<Json> =>
  send(server, 'POST', pods, {
    metadata: { name, ...metadata },
    spec: { containers: [{ name: 'main', image: 'image' }], ...spec },
  });
const bind = (server: InProcessServer, name: string, node: string, metadata: object = {}): Promise<Json> =>
  send(server, 'POST', `${pods}/${name}/binding`, {
    metadata: { name, ...metadata },
    target: { kind: 'Node', name: node },
  });
const evict = (server: InProcessServer, name: string): Promise<Json> =>
  send(server, 'POST', `${pods}/${name}/eviction`, { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name } });

test('of two schedulers that bind one pod at once, one wins', async () => {
  await using server = await startInProcess();
  await addPod(server, 'web');
  const both = await Promise.all(['a', 'b'].map((node) => bind(server, 'web', node)));
  assert.deepEqual(both.map(({ code }) => code).sort(), [201, 409]);
  const { spec, status } = await send(server, 'GET', `${pods}/web`);
  assert.ok(['a', 'b'].includes(spec.nodeName));
  assert.deepEqual(
    status.conditions.map(({ type, status: is }: Json) => [type, is]),
    [['PodScheduled', 'True']],
  );
});

test('a binding for another pod of the name is refused', async () => {
  await using server = await startInProcess();
  await addPod(server, 'web');
  assert.equal((await bind(server, 'web', 'a', { uid: 'gone' })).code, 409);
});

test('evictions at once take no more than the budget allows', async () => {
  await using server = await startInProcess();
  const names = Array.from({ length: 6 }, (_, at) => `web-${at}`);
  for (const name of names) {
    await addPod(server, name, { labels: { app: 'web' } }, { nodeName: 'node' });
    const status = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
    await send(server, 'PATCH', `${pods}/${name}/status`, { status });
  }
  await send(server, 'POST', budgets, {
    metadata: { name: 'web' },
    spec: { minAvailable: 4, selector: { matchLabels: { app: 'web' } } },
  });
  await send(server, 'PATCH', `${budgets}/web/status`, {
    status: { observedGeneration: 1, disruptionsAllowed: 2, currentHealthy: 6, desiredHealthy: 4, expectedPods: 6 },
  });
  const codes = (await Promise.all(names.map((name) => evict(server, name)))).map(({ code }) => code);
  assert.deepEqual(codes.sort(), [201, 201, 429, 429, 429, 429]);
  const { status } = await send(server, 'GET', `${budgets}/web`);
  assert.equal(status.disruptionsAllowed, 0);
  assert.equal(Object.keys(status.disruptedPods).length, 2);
});

test('a refused eviction says which budget and why', async () => {
  await using server = await startInProcess();
  await addPod(server, 'web', { labels: { app: 'web' } }, { nodeName: 'node' });
  await send(server, 'PATCH', `${pods}/web/status`, { status: { phase: 'Running' } });
  await send(server, 'POST', budgets, { metadata: { name: 'all' }, spec: { minAvailable: 1, selector: {} } });
  const refused = await evict(server, 'web');
  assert.equal(refused.code, 429);
  assert.deepEqual(refused.details, {
    causes: [
      { reason: 'DisruptionBudget', message: 'The disruption budget all is still being processed by the server.' },
    ],
    retryAfterSeconds: 10,
  });
});

test('a namespace is gone when its last finalizer is', async () => {
  await using server = await startInProcess();
  await send(server, 'POST', '/api/v1/namespaces', { metadata: { name: 'going' } });
  await send(server, 'DELETE', '/api/v1/namespaces/going');
  assert.equal((await send(server, 'GET', '/api/v1/namespaces/going')).status.phase, 'Terminating');
  const finalized = await send(server, 'PUT', '/api/v1/namespaces/going/finalize', {
    metadata: { name: 'going' },
    spec: {},
  });
  assert.equal(finalized.code, 200);
  assert.equal((await send(server, 'GET', '/api/v1/namespaces/going')).code, 404);
});

test('scaling at once ends with one of the numbers, and the rest of the object as it was', async () => {
  await using server = await startInProcess();
  const path = '/apis/apps/v1/namespaces/default/deployments';
  await send(server, 'POST', path, {
    metadata: { name: 'web' },
    spec: {
      selector: { matchLabels: { a: 'b' } },
      template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'main', image: 'image' }] } },
    },
  });
  const before = await send(server, 'GET', `${path}/web`);
  const numbers = [2, 3, 4, 5, 6, 7];
  const scaled = await Promise.all(
    numbers.map((replicas) =>
      send(server, 'PUT', `${path}/web/scale`, { metadata: { name: 'web' }, spec: { replicas } }),
    ),
  );
  assert.deepEqual(new Set(scaled.map(({ code }) => code)), new Set([200]));
  const after = await send(server, 'GET', `${path}/web`);
  assert.ok(numbers.includes(after.spec.replicas));
  assert.deepEqual({ ...after.spec, replicas: 0 }, { ...before.spec, replicas: 0 });
  assert.equal(after.metadata.managedFields.filter(({ subresource }: Json) => subresource === 'scale').length, 1);
});

test('a request that a node answers is refused with 503 if the server does not connect to nodes', async () => {
  await using server = await startInProcess();
  await addPod(server, 'web', {}, { nodeName: 'node' });
  const addresses = [{ type: 'InternalIP', address: '10.0.0.7' }];
  await send(server, 'POST', '/api/v1/nodes', { metadata: { name: 'node' }, status: { addresses } });
  for (const path of [`${pods}/web/log`, '/api/v1/nodes/node/proxy/']) {
    const { code, message } = await send(server, 'GET', path);
    assert.equal(code, 503, path);
    assert.match(message, /spec\.nodes\.networks is empty/);
  }
});
