/** Tests which calls are repeated and which are not, against a scripted etcd. */

import assert from 'node:assert/strict';
import { constants } from 'node:http2';
import { test } from 'node:test';
import type { Revision, Store, Write } from '../../contract.ts';
import { openEtcdStore } from './etcd-store.ts';
import { decodeMessage, encodeMessage } from './testing/etcd-proto.ts';
import { openScripted, ScriptedEtcd } from './testing/scripted-etcd.ts';
import type { ScriptedCall } from './testing/scripted-server.ts';

const put: Write[] = [{ type: 'put', key: '/a', value: Buffer.from('1') }];
const count = (etcd: ScriptedEtcd, method: string) => etcd.calls.filter((call) => call === method).length;

/** Handles the first call with the script, and answers all later ones. */
function first(etcd: ScriptedEtcd, method: string, script: (call: ScriptedCall) => void): void {
  let calls = 0;
  etcd.scripts[method] = (call) => {
    if (calls++ === 0) return script(call);
    return call.answer(encodeMessage('TxnResponse', { ...etcd.header(), succeeded: true }));
  };
}

async function codeOf(promise: Promise<unknown>): Promise<string> {
  return promise.then(
    () => 'success',
    (error: { code: string }) => error.code,
  );
}

test('a commit whose connection breaks perhaps happened and is not repeated', async (context) => {
  const etcd = await ScriptedEtcd.start(context);
  const store = await openScripted(context, etcd);
  first(etcd, 'Txn', (call) => call.cut());
  assert.equal(await codeOf(store.commit(put)), 'Unavailable');
  assert.equal(count(etcd, 'Txn'), 1);
  assert.equal(await codeOf(store.commit(put)), 'success');
});

test('a commit that etcd gave up on perhaps happened and is not repeated', async (context) => {
  for (const message of ['etcdserver: request timed out', 'etcdserver: server stopped']) {
    const etcd = await ScriptedEtcd.start(context);
    const store = await openScripted(context, etcd);
    first(etcd, 'Txn', (call) => call.refuse(14, message));
    assert.equal(await codeOf(store.commit(put)), 'Unavailable');
    assert.equal(count(etcd, 'Txn'), 1);
  }
});

test('a commit that certainly did not happen is repeated', async (context) => {
  const scripts: ((call: ScriptedCall) => void)[] = [
    (call) => call.reset(constants.NGHTTP2_REFUSED_STREAM),
    (call) => call.refuse(14, 'etcdserver: no leader'),
    (call) => call.refuse(2, 'raft proposal dropped'),
  ];
  for (const script of scripts) {
    const etcd = await ScriptedEtcd.start(context);
    const store = await openScripted(context, etcd);
    first(etcd, 'Txn', script);
    assert.equal(await codeOf(store.commit(put)), 'success');
    assert.equal(count(etcd, 'Txn'), 2);
  }
});

test('a transaction that only checks is a read and is repeated', async (context) => {
  const etcd = await ScriptedEtcd.start(context);
  const store = await openScripted(context, etcd);
  first(etcd, 'Txn', (call) => call.cut());
  assert.equal(await codeOf(store.commit([{ type: 'check', key: '/a', expected: 0 as Revision }])), 'success');
  assert.equal(count(etcd, 'Txn'), 2);
});

test('reads are repeated, also when etcd’s leader changed', async (context) => {
  const etcd = await ScriptedEtcd.start(context);
  const store = await openScripted(context, etcd);
  first(etcd, 'Range', (call) => call.cut());
  assert.equal(await codeOf(store.get('/a')), 'success');
  first(etcd, 'Range', (call) => call.refuse(14, 'etcdserver: leader changed'));
  assert.equal(await codeOf(store.get('/a')), 'success');
});

test('a member without a leader is left for another one', async (context) => {
  const members = [await ScriptedEtcd.start(context), await ScriptedEtcd.start(context)];
  const store = await openScripted(context, members);
  const inUse = members.find((etcd) => etcd.calls.length > 0)!;
  const other = members.find((etcd) => etcd !== inUse)!;
  inUse.scripts['Txn'] = (call) => call.refuse(14, 'etcdserver: no leader');
  other.scripts['Txn'] = (call) => call.answer(encodeMessage('TxnResponse', { ...other.header(), succeeded: true }));
  assert.equal(await codeOf(store.commit(put)), 'success');
  assert.deepEqual([count(inUse, 'Txn'), count(other, 'Txn')], [1, 1]);
});

test('what is refused is not repeated', async (context) => {
  const etcd = await ScriptedEtcd.start(context);
  const store = await openScripted(context, etcd);
  etcd.scripts['Txn'] = (call) => call.refuse(8, 'etcdserver: mvcc: database space exceeded');
  assert.equal(await codeOf(store.commit(put)), 'StorageFull');
  assert.equal(count(etcd, 'Txn'), 1);
});

test('an answer that makes no sense is no acknowledgement', async (context) => {
  const etcd = await ScriptedEtcd.start(context);
  const store = await openScripted(context, etcd);
  etcd.scripts['Txn'] = (call) => call.answer(Buffer.from([0x0a, 200, 1]));
  assert.equal(await codeOf(store.commit(put)), 'Unavailable');
});

test('no answer is Unavailable, in time', async (context) => {
  const etcd = await ScriptedEtcd.start(context);
  const store = await openScripted(context, etcd, { requestTimeoutMs: 300 });
  etcd.scripts['Txn'] = () => {};
  etcd.scripts['Range'] = () => {};
  const startMs = performance.now();
  assert.deepEqual(await Promise.all([codeOf(store.commit(put)), codeOf(store.get('/a'))]), [
    'Unavailable',
    'Unavailable',
  ]);
  assert.ok(performance.now() - startMs < 5_000);
});

test('a store that cannot be reached does not open, and says why', async () => {
  await assert.rejects(openEtcdStore({ endpoints: ['http://127.0.0.1:1'], requestTimeoutMs: 200 }), {
    code: 'Unavailable',
    message: /127\.0\.0\.1:1 cannot be reached/,
  });
  await assert.rejects(openEtcdStore({ endpoints: [] }), { code: 'InvalidRequest' });
});

/** An etcd that requires a token. Its tokens are numbered. */
async function guarded(etcd: ScriptedEtcd): Promise<{ accepted: string }> {
  const state = { accepted: 'token-1' };
  let given = 0;
  etcd.scripts['Authenticate'] = (call, request) => {
    const { password } = decodeMessage('AuthenticateRequest', request);
    if (password !== 'right') {
      return call.refuse(3, 'etcdserver: authentication failed, invalid user ID or password');
    }
    return call.answer(encodeMessage('AuthenticateResponse', { ...etcd.header(), token: `token-${++given}` }));
  };
  for (const method of ['Range', 'Txn']) {
    etcd.scripts[method] = (call) => {
      if (call.headers['token'] !== state.accepted) return call.refuse(16, 'etcdserver: invalid auth token');
      return call.answer(encodeMessage('TxnResponse', { ...etcd.header(), succeeded: true }));
    };
  }
  return state;
}

test('a token is fetched once, sent with each call, and renewed when it expired', async (context) => {
  const etcd = await ScriptedEtcd.start(context);
  const state = await guarded(etcd);
  const store: Store = await openScripted(context, etcd, { auth: { username: 'root', password: 'right' } });
  await Promise.all([store.commit(put), store.get('/a'), store.revision()]);
  assert.equal(count(etcd, 'Authenticate'), 1);
  state.accepted = 'token-2';
  assert.deepEqual(await Promise.all([codeOf(store.commit(put)), codeOf(store.get('/a'))]), ['success', 'success']);
  assert.equal(count(etcd, 'Authenticate'), 2);
});

test('a token that is never accepted ends in Unauthenticated', async (context) => {
  const etcd = await ScriptedEtcd.start(context);
  const state = await guarded(etcd);
  const store = await openScripted(context, etcd, { auth: { username: 'root', password: 'right' } });
  state.accepted = 'none';
  assert.equal(await codeOf(store.commit(put)), 'Unauthenticated');
});

test('a wrong password is Unauthenticated', async (context) => {
  const etcd = await ScriptedEtcd.start(context);
  await guarded(etcd);
  const auth = { username: 'root', password: 'wrong' };
  await assert.rejects(openEtcdStore({ endpoints: [etcd.server.url], auth }), { code: 'Unauthenticated' });
});

test('a cluster without authentication accepts those who have a password', async (context) => {
  const etcd = await ScriptedEtcd.start(context);
  etcd.scripts['Authenticate'] = (call) => call.refuse(9, 'etcdserver: authentication is not enabled');
  const store = await openScripted(context, etcd, { auth: { username: 'root', password: 'x' } });
  assert.equal(await store.revision(), 10);
});

test('closing waits for a commit under way and refuses the next one', async (context) => {
  const etcd = await ScriptedEtcd.start(context);
  const store = await openScripted(context, etcd);
  const arrived = Promise.withResolvers<ScriptedCall>();
  etcd.scripts['Txn'] = (call) => arrived.resolve(call);
  const commit = store.commit(put);
  const call = await arrived.promise;
  const closing = store.close();
  assert.equal(await codeOf(store.commit(put)), 'Closed');
  call.answer(encodeMessage('TxnResponse', { ...etcd.header(11), succeeded: true }));
  assert.equal((await commit).revision, 11);
  await closing;
});

test('closing ends a read that waits', async (context) => {
  const etcd = await ScriptedEtcd.start(context);
  const store = await openScripted(context, etcd);
  const arrived = Promise.withResolvers<void>();
  etcd.scripts['Range'] = () => arrived.resolve();
  const read = codeOf(store.get('/a'));
  await arrived.promise;
  await store.close();
  assert.equal(await read, 'Closed');
});
