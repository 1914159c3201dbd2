/** The fence of a real etcd, against a writer at full speed. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { TestContext } from 'node:test';
import { hasCode } from '@hangar/core';
import { tool } from '../../../../../tools/tool.ts';
import type { Revision, Store } from '../../contract.ts';
import { openEtcdFence } from './auth-fence.ts';
import type { EtcdFence } from './auth-fence.ts';
import { openEtcdStore } from './etcd-store.ts';
import { startEtcd } from './testing/etcd-process.ts';
import type { EtcdCluster } from './testing/etcd-process.ts';

const requestTimeoutMs = 20_000;
const reader = 'kube-apiserver-etcd-client';
const writersMax = 16;

interface Fixture {
  readonly etcd: EtcdCluster;
  readonly fence: EtcdFence;
  /** With the certificate of the API server. */
  readonly apiServer: Store;
  readonly operator: Store;
}

async function start(context: TestContext, program: string, members: number): Promise<Fixture> {
  const etcd = await startEtcd({ program, members, tls: true, unsafeNoFsync: true });
  const opened = new AsyncDisposableStack();
  context.after(async () => {
    await opened.disposeAsync();
    await etcd.stop();
  });
  const { ca, client, authority } = etcd.tls!;
  const { endpoints } = etcd;
  const open = async (certificate: typeof client): Promise<Store> =>
    opened.adopt(await openEtcdStore({ endpoints, tls: { ca, ...certificate }, requestTimeoutMs }), (store) =>
      store.close(),
    );
  const options = { endpoints, tls: { ca, ...client }, requestTimeoutMs, reader, operator: 'root' };
  const fence = opened.adopt(openEtcdFence(options), (one) => one.close());
  return { etcd, fence, apiServer: await open(authority.issue(reader)), operator: await open(client) };
}

/** Writes with several requests in flight until the signal aborts. Refused writes are counted. */
class Writer {
  readonly #stop = new AbortController();
  readonly #done: Promise<unknown>;
  readonly acknowledged: number[] = [];
  refused = 0;

  constructor(store: Store) {
    this.#done = Promise.all(Array.from({ length: writersMax }, (_, index) => this.#write(store, index)));
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#done;
  }

  async #write(store: Store, index: number): Promise<void> {
    for (let value = 0; !this.#stop.signal.aborted; value++) {
      try {
        const write = { type: 'put', key: `/registry/${index}`, value: Buffer.from(String(value)) } as const;
        this.acknowledged.push((await store.commit([write])).revision);
      } catch (error) {
        if (!hasCode(error, 'Unauthenticated')) throw error;
        this.refused++;
      }
    }
  }
}

async function until(isReached: () => boolean): Promise<void> {
  while (!isReached()) await new Promise((resolve) => setTimeout(resolve, 1));
}

async function holdsFor(rounds: number, { fence, apiServer, operator }: Fixture): Promise<void> {
  const writer = new Writer(apiServer);
  try {
    for (let round = 0; round < rounds; round++) {
      const written = writer.acknowledged.length;
      await until(() => writer.acknowledged.length > written);
      const last: Revision = await fence.fence();
      const refused = writer.refused;
      await until(() => writer.refused >= refused + 2 * writersMax);
      assert.equal(await operator.revision(), last, `round ${round}`);
      assert.ok(Math.max(...writer.acknowledged.slice(-writersMax * 4)) <= last);
      assert.equal(await fence.isFenced(), true);
      assert.equal((await apiServer.range({ start: '/registry/', end: '/registry0' })).revision, last);
      await fence.unfence();
      assert.equal(await fence.isFenced(), false);
    }
  } finally {
    await writer.stop();
  }
}

for (const name of ['etcd', 'etcd-3.5'] as const) {
  describe(`the fence of ${name}`, () => {
    test('no write is applied after the returned revision, in 200 rounds on one member', async (context) => {
      await holdsFor(200, await start(context, await tool(name), 1));
    });

    test('no write is applied after the returned revision on three members', async (context) => {
      await holdsFor(20, await start(context, await tool(name), 3));
    });

    test('it outlives a crash of all members, and two callers at once make it', async (context) => {
      const fixture = await start(context, await tool(name), 3);
      const { etcd, fence, apiServer, operator } = fixture;
      const put = { type: 'put', key: '/registry/a', value: Buffer.from('1') } as const;
      await apiServer.commit([put]);
      const tls = { ca: etcd.tls!.ca, ...etcd.tls!.client };
      const second = openEtcdFence({ endpoints: etcd.endpoints, tls, requestTimeoutMs, reader, operator: 'root' });
      context.after(() => second.close());
      const [last] = await Promise.all([fence.fence(), second.fence()]);
      for (const member of etcd.members) await member.kill();
      await Promise.all(etcd.members.map((member) => member.start()));
      await assert.rejects(apiServer.commit([put]), { code: 'Unauthenticated' });
      assert.equal((await apiServer.get('/registry/a')).revision, last);
      assert.equal(await operator.revision(), last);
      assert.equal(await second.fence(), last);
      await Promise.all([fence.unfence(), second.unfence()]);
      assert.equal((await apiServer.commit([put])).revision, last + 1);
    });
  });
}
