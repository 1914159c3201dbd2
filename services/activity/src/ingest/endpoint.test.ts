import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { systemClock } from '@hangar/core';
import type { ServerRequest } from '@hangar/server/library';
import { LocalBackend } from '../backend/backend.ts';
import { defaultPolicies } from '../policy/defaults.ts';
import { PolicySet } from '../policy/policy.ts';
import { openSqlite } from '../storage/sqlite/sqlite-database.ts';
import { auditEvent, batchOf } from '../testing/events.ts';
import { BatchError } from './batch.ts';
import { IngestEndpoint, ingestPath } from './endpoint.ts';
import type { IngestOptions } from './endpoint.ts';

const credentials = [
  { token: 'hangar', plane: undefined },
  { token: 'dedicated', plane: 'red' },
];

function request(body: Uint8Array, headers: Record<string, string> = {}, method = 'POST'): ServerRequest {
  const all: Record<string, string> = {
    'content-length': String(body.length),
    authorization: 'Bearer hangar',
    ...headers,
  };
  return {
    method,
    target: `${ingestPath}?timeout=30s`,
    peer: { address: '', certificate: undefined },
    header: (name) => all[name],
    headerValues: (name) => (all[name] === undefined ? [] : [all[name]]),
    headerNames: () => Object.keys(all),
    body: () => Promise.resolve(body),
  };
}

const endpointWith = (backend: IngestOptions['backend'], waitingBytesMax?: number): IngestEndpoint =>
  new IngestEndpoint({
    backend,
    credentials,
    onError: () => undefined,
    ...(waitingBytesMax !== undefined && { waitingBytesMax }),
  });

async function withBackend(run: (backend: LocalBackend, endpoint: IngestEndpoint) => Promise<void>): Promise<void> {
  const database = await openSqlite(':memory:');
  const policies = new PolicySet(defaultPolicies);
  const onError = assert.fail;
  const backend = new LocalBackend({ database, policies, clock: systemClock, retentionMs: 86_400_000, onError });
  try {
    await run(backend, endpointWith(backend));
  } finally {
    await backend.close();
  }
}

const planesIn = async (backend: LocalBackend): Promise<string[]> => {
  const all = {
    planes: 'all',
    startUs: 0,
    endUs: 1e16,
    after: undefined,
    filter: undefined,
    limit: 100,
    scanMax: 1e6,
    bytesMax: 1e12,
  } as const;
  return (await backend.query(all)).events.map(({ plane }) => plane).sort();
};

describe('the endpoint for audit webhooks', () => {
  test('the answer to a batch is 200 after the commit, and a repeated batch changes nothing', () =>
    withBackend(async (backend, endpoint) => {
      const body = batchOf(auditEvent({ plane: 'red' }), auditEvent({ plane: 'blue' }), auditEvent());
      for (let attempt = 0; attempt < 3; attempt++) {
        assert.equal((await endpoint.route(request(body)))!.status, 200);
        assert.deepEqual(await planesIn(backend), ['blue', 'red', 'root']);
      }
    }));

  test('a sender of one control plane cannot send events of another', () =>
    withBackend(async (backend, endpoint) => {
      const body = batchOf(auditEvent({ plane: 'blue' }), auditEvent());
      const answer = await endpoint.route(request(body, { authorization: 'Bearer dedicated' }));
      assert.equal(answer!.status, 200);
      assert.deepEqual(await planesIn(backend), ['red', 'red']);
    }));

  test('a mark inside of objects, users or other annotations does not select a control plane', () =>
    withBackend(async (backend, endpoint) => {
      const mark = { 'tenancy.hangar.dev/tenant': 'blue' };
      const body = batchOf(
        auditEvent({ plane: 'red', response: { metadata: { annotations: mark }, annotations: mark } }),
        auditEvent({
          plane: 'red',
          more: { user: { username: 'kim', extra: { 'tenancy.hangar.dev/tenant': ['blue'] } } },
        }),
        auditEvent({ plane: 'red', more: { requestURI: '/clusters/blue/control-plane/api/v1/pods' } }),
      );
      await endpoint.route(request(body));
      assert.deepEqual(await planesIn(backend), ['red', 'red', 'red']);
    }));

  for (const [what, headers] of [
    ['no token', { authorization: '' }],
    ['another token', { authorization: 'Bearer wrong' }],
    ['basic authentication', { authorization: 'Basic aGFuZ2Fy' }],
  ] as const) {
    test(`${what}: 401`, () =>
      withBackend(async (backend, endpoint) => {
        assert.equal((await endpoint.route(request(batchOf(auditEvent()), headers)))!.status, 401);
        assert.deepEqual(await planesIn(backend), []);
      }));
  }

  for (const [what, body] of [
    ['text that is not JSON', Buffer.from('{')],
    ['another kind', Buffer.from('{"kind":"List","apiVersion":"v1","items":[]}')],
    ['an item that is not an object', Buffer.from('{"kind":"EventList","apiVersion":"audit.k8s.io/v1","items":[1]}')],
    ['an event without an audit ID', batchOf(auditEvent(), auditEvent({ id: '' }))],
    ['an event without a time', batchOf(auditEvent({ more: { stageTimestamp: 'yesterday' } }))],
    ['an event of next week', batchOf(auditEvent({ timeUs: (Date.now() + 7 * 86_400_000) * 1_000 }))],
  ] as const) {
    test(`${what}: 400, and nothing is stored`, () =>
      withBackend(async (backend, endpoint) => {
        const answer = await endpoint.route(request(body));
        assert.equal(answer!.status, 400, Buffer.from(answer!.body as Uint8Array).toString());
        assert.deepEqual(await planesIn(backend), []);
      }));
  }

  test('events older than the retention are accepted and not stored', () =>
    withBackend(async (backend, endpoint) => {
      const body = batchOf(auditEvent({ timeUs: (Date.now() - 3 * 86_400_000) * 1_000 }));
      assert.equal((await endpoint.route(request(body)))!.status, 200);
      assert.deepEqual(await planesIn(backend), []);
    }));

  test('beyond the budget of waiting bytes senders get 429 with Retry-After, and others are served', async () => {
    const held: (() => void)[] = [];
    const ingest = () =>
      new Promise<{ stored: number; expired: number }>((resolve) =>
        held.push(() => resolve({ stored: 0, expired: 0 })),
      );
    const endpoint = endpointWith({ ingest }, 4_000);
    const body = Buffer.alloc(1_500);
    const first = endpoint.route(request(body))!;
    const refused = await endpoint.route(request(body))!;
    assert.equal(refused.status, 429);
    assert.equal(refused.headers['retry-after'], '1');
    const other = endpoint.route(request(body, { authorization: 'Bearer dedicated' }))!;
    await new Promise(setImmediate);
    for (const release of held.splice(0)) release();
    assert.deepEqual([(await first).status, (await other).status], [200, 200]);
    const again = endpoint.route(request(body))!;
    await new Promise(setImmediate);
    for (const release of held.splice(0)) release();
    assert.equal((await again).status, 200);
  });

  test('a body that is too long is refused before it is read, other methods get 405', async () => {
    const endpoint = endpointWith({ ingest: () => Promise.reject(new BatchError('not reached')) });
    assert.equal((await endpoint.route(request(Buffer.alloc(1), { 'content-length': String(2 ** 30) })))!.status, 413);
    assert.equal((await endpoint.route(request(Buffer.alloc(1), {}, 'GET')))!.status, 405);
    assert.equal(endpoint.route({ ...request(Buffer.alloc(1)), target: '/ingest/audits' }), undefined);
  });

  test('a failure of the database is 503: the sender tries again', async () => {
    const endpoint = endpointWith({ ingest: () => Promise.reject(new Error('disk full')) });
    assert.equal((await endpoint.route(request(batchOf(auditEvent()))))!.status, 503);
  });
});
