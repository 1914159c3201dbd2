/** A cluster of three real members, killed, stopped and paused while a store uses them. */

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Revision, Store, WatchBatch } from '../../contract.ts';
import { openEtcdStore } from './etcd-store.ts';
import { startEtcd } from './testing/etcd-process.ts';
import type { EtcdCluster } from './testing/etcd-process.ts';
import { checkSeen, Writer } from './testing/witness.ts';

const requestTimeoutMs = 3_000;
/** A leader is elected within some seconds, also on a busy machine. */
const recoveryMs = 30_000;

let etcd: EtcdCluster;
let tests = 0;

before(async () => {
  etcd = await startEtcd({ members: 3, unsafeNoFsync: true });
});

after(() => etcd.stop());

async function withStore(run: (store: Store, prefix: string) => Promise<void>): Promise<void> {
  const prefix = `/faults/${++tests}/`;
  const store = await openEtcdStore({ endpoints: etcd.endpoints, prefix, requestTimeoutMs });
  try {
    await run(store, prefix);
  } finally {
    await store.close();
  }
}

/** Reads until a mark covers everything up to now. */
async function collect(store: Store, prefix: string, during: () => Promise<void>): Promise<WatchBatch[]> {
  const batches: WatchBatch[] = [];
  const watch = store.watch({ prefix, previous: true });
  let until = Infinity;
  const reading = (async () => {
    for await (const batch of watch) {
      batches.push(batch);
      if (batch.events.length === 0 && batch.revision >= until) return;
    }
  })();
  try {
    await during();
    until = await eventually(() => store.revision());
    const asking = setInterval(() => watch.requestProgress(), 100);
    try {
      await reading;
    } finally {
      clearInterval(asking);
    }
  } finally {
    watch.close();
  }
  return batches;
}

async function eventually<T>(action: () => Promise<T>): Promise<T> {
  for (const endMs = performance.now() + recoveryMs; ;) {
    try {
      return await action();
    } catch (error) {
      if (performance.now() > endMs) throw error;
    }
  }
}

async function timed(promise: Promise<unknown>): Promise<{ code: string; ms: number }> {
  const startMs = performance.now();
  const code = await promise.then(
    () => 'success',
    (error: { code: string }) => error.code,
  );
  return { code, ms: performance.now() - startMs };
}

test('each member killed in turn: writes go on, and a watch has no gap and no duplicate', async () => {
  await withStore(async (store, prefix) => {
    let writer: Writer | undefined;
    const batches = await collect(store, prefix, async () => {
      writer = new Writer(store, prefix);
      await writer.progress(50, recoveryMs);
      for (const member of etcd.members) {
        await member.kill();
        await writer.progress(50, recoveryMs);
        await member.start();
        await writer.progress(50, recoveryMs);
      }
      await writer.stop();
    });
    checkSeen(writer!, batches);
  });
});

test('the leader killed: another member serves within a bounded time', async () => {
  await withStore(async (store, prefix) => {
    const writer = new Writer(store, prefix);
    try {
      await writer.progress(20, recoveryMs);
      const leader = await etcd.leader();
      await leader.kill();
      try {
        await writer.progress(20, recoveryMs);
        assert.equal((await eventually(() => timed(store.get(`${prefix}0`)))).code, 'success');
      } finally {
        await leader.start();
      }
    } finally {
      await writer.stop();
    }
  });
});

test('a member that says goodbye is left without a failed read', async () => {
  await withStore(async (store, prefix) => {
    for (const member of etcd.members.slice(0, 2)) {
      const reader = { reads: 0, stopped: false };
      const reading = (async () => {
        for (; !reader.stopped; reader.reads++) await store.get(`${prefix}a`);
      })();
      await member.terminate();
      const enough = reader.reads + 20;
      while (reader.reads < enough) await Promise.race([reading, new Promise((resolve) => setTimeout(resolve, 10))]);
      reader.stopped = true;
      await reading;
      await member.start();
    }
  });
});

test('all members paused: requests are refused in time, and the watch resumes afterwards', async () => {
  await withStore(async (store, prefix) => {
    const put = (text: string) => store.commit([{ type: 'put', key: `${prefix}a`, value: Buffer.from(text) }]);
    const watch = store.watch({ prefix });
    await put('before');
    assert.equal((await watch.next())?.events.length, 1);
    for (const member of etcd.members) member.pause();
    try {
      const outcomes = await Promise.all([
        timed(put('during')),
        timed(store.get(`${prefix}a`)),
        timed(store.range({ start: prefix })),
        timed(store.revision()),
        timed(store.grantLease(5_000)),
      ]);
      for (const { code, ms } of outcomes) {
        assert.equal(code, 'Unavailable');
        assert.ok(ms < requestTimeoutMs + 1_000, `it took ${ms} ms`);
      }
    } finally {
      for (const member of etcd.members) member.resume();
    }
    const { revision } = await eventually(() => put('after'));
    const values: string[] = [];
    for (let seen = 0 as Revision; seen < revision;) {
      const batch = await watch.next();
      assert.ok(batch && batch.revision > seen);
      seen = batch.revision;
      for (const event of batch.events)
        values.push(event.type === 'put' ? Buffer.from(event.entry.value).toString() : '-');
    }
    assert.equal(values.at(-1), 'after');
    assert.ok(values.filter((value) => value === 'during').length <= 1, 'the cut-off commit happened twice');
  });
});

test('one member paused: requests and the watch move on to the others', async () => {
  for (const member of etcd.members) {
    await withStore(async (store, prefix) => {
      let writer: Writer | undefined;
      const batches = await collect(store, prefix, async () => {
        writer = new Writer(store, prefix);
        await writer.progress(10, recoveryMs);
        member.pause();
        try {
          await writer.progress(10, recoveryMs);
        } finally {
          member.resume();
        }
        await writer.stop();
      });
      checkSeen(writer!, batches);
    });
  }
});

test('no quorum: requests are refused in time and work again when it is back', async () => {
  await withStore(async (store, prefix) => {
    const [one, two] = etcd.members as [EtcdCluster['members'][0], EtcdCluster['members'][0]];
    await Promise.all([one.kill(), two.kill()]);
    try {
      for (let round = 0; round < 2; round++) {
        const put = store.commit([{ type: 'put', key: `${prefix}a`, value: Buffer.from('1') }]);
        for (const { code, ms } of await Promise.all([timed(put), timed(store.get(`${prefix}a`))])) {
          assert.equal(code, 'Unavailable');
          assert.ok(ms < requestTimeoutMs + 1_000, `it took ${ms} ms`);
        }
      }
    } finally {
      await Promise.all([one.start(), two.start()]);
    }
    await eventually(() => store.get(`${prefix}a`));
  });
});
