/** TLS with client certificates, and authentication, on a real etcd. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Store } from '../../contract.ts';
import { openEtcdStore } from './etcd-store.ts';
import { TestAuthority } from './testing/certificates.ts';
import { startEtcd } from './testing/etcd-process.ts';
import type { EtcdCluster } from './testing/etcd-process.ts';

const requestTimeoutMs = 5_000;

/** Writes, reads and watches. */
async function exercise(store: Store): Promise<void> {
  try {
    const watch = store.watch({ prefix: '/a' });
    const { revision } = await store.commit([{ type: 'put', key: '/a', value: Buffer.from('1') }]);
    assert.equal((await watch.next())?.revision, revision);
    assert.equal((await store.get('/a')).entry?.modRevision, revision);
    const lease = await store.grantLease(60_000);
    await store.renewLease(lease.id);
    await store.revokeLease(lease.id);
  } finally {
    await store.close();
  }
}

describe('TLS', () => {
  let etcd: EtcdCluster;
  before(async () => {
    etcd = await startEtcd({ tls: true, unsafeNoFsync: true });
  });
  after(() => etcd.stop());

  test('a client with a certificate is served', async () => {
    const { ca, client } = etcd.tls!;
    await exercise(await openEtcdStore({ endpoints: etcd.endpoints, tls: { ca, ...client }, requestTimeoutMs }));
  });

  test('the server’s name is checked when it is given', async () => {
    const { ca, client } = etcd.tls!;
    const { endpoints } = etcd;
    await exercise(
      await openEtcdStore({ endpoints, tls: { ca, ...client, serverName: 'localhost' }, requestTimeoutMs }),
    );
    const wrong = { ca, ...client, serverName: 'elsewhere' };
    await assert.rejects(openEtcdStore({ endpoints, tls: wrong, requestTimeoutMs: 500 }), {
      code: 'Unavailable',
      message: /elsewhere/,
    });
  });

  test('a server that nobody vouches for is not trusted', async () => {
    const { client } = etcd.tls!;
    const tls = { ca: new TestAuthority().cert, ...client };
    await assert.rejects(openEtcdStore({ endpoints: etcd.endpoints, tls, requestTimeoutMs: 500 }), {
      code: 'Unavailable',
      message: /cannot be reached/,
    });
  });

  test('a client without a certificate, or with one of another authority, is Unauthenticated', async () => {
    const { ca } = etcd.tls!;
    const foreign = new TestAuthority().issue('root');
    for (const tls of [{ ca }, { ca, ...foreign }]) {
      await assert.rejects(openEtcdStore({ endpoints: etcd.endpoints, tls, requestTimeoutMs }), {
        code: 'Unauthenticated',
      });
    }
  });
});

describe('authentication', () => {
  const rootPassword = 'correct horse';
  let etcd: EtcdCluster;
  before(async () => {
    // Tokens expire after a second without use.
    etcd = await startEtcd({ rootPassword, unsafeNoFsync: true, args: ['--auth-token-ttl=1'] });
  });
  after(() => etcd.stop());

  const open = (password: string | undefined) =>
    openEtcdStore({
      endpoints: etcd.endpoints,
      requestTimeoutMs,
      ...(password !== undefined && { auth: { username: 'root', password } }),
    });

  test('a user with the right password is served', async () => {
    await exercise(await open(rootPassword));
  });

  test('a wrong password, and none, are Unauthenticated', async () => {
    await assert.rejects(open('wrong'), { code: 'Unauthenticated' });
    await assert.rejects(open(undefined), { code: 'Unauthenticated' });
  });

  test('a token that expired is renewed, for requests and for a watch that reconnects', async () => {
    const store = await open(rootPassword);
    try {
      const watch = store.watch({ prefix: '/a' });
      const put = () => store.commit([{ type: 'put', key: '/a', value: Buffer.from('1') }]);
      const first = await put();
      assert.equal((await watch.next())?.revision, first.revision);
      await new Promise((resolve) => setTimeout(resolve, 2_500));
      assert.equal((await put()).committed, true);
      await watch.next();
      const [member] = etcd.members;
      await member!.kill();
      await member!.start();
      const last = await put();
      assert.equal((await watch.next())?.revision, last.revision);
    } finally {
      await store.close();
    }
  });
});
