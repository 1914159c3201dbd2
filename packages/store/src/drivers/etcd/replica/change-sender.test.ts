import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hasCode, pick, seededRandom } from '@hangar/core';
import type { Random } from '@hangar/core';
import type { Revision } from '../../../contract.ts';
import { decodeReplicaTxn, encodeBatch, encodeFill, positionKey } from '../messages/replica-txn.ts';
import type { EncodedChange, ReplicaTxnResponse } from '../messages/replica-txn.ts';
import { defaultSendBounds, nextRequest, sendChanges } from './change-sender.ts';
import { EtcdModel } from './testing.ts';

const seeded = 100;
const prefix = '/registry/';

function seededModel(): EtcdModel {
  const etcd = new EtcdModel(seeded - 1);
  etcd.put(positionKey, '');
  return etcd;
}

/** Random changes, and the content after them. */
function changesOf(random: Random, count: number) {
  const expected = new Map<string, { readonly value: string; readonly modified: number; readonly version: number }>();
  const changes: EncodedChange[] = [];
  let revision = seeded;
  for (let at = 0; at < count; at++) {
    if (random.below(3) === 0) {
      const last = revision + pick(random, [1, 1, 3, 40]);
      changes.push(encodeFill(revision + 1, last));
      revision = last;
    }
    revision++;
    const key = `pods/${random.below(5)}`;
    const old = expected.get(key);
    const isDeleted = old !== undefined && random.below(4) === 0;
    const value = 'x'.repeat(random.below(pick(random, [10, 10, 3_000])));
    const version = (old?.version ?? 0) + 1;
    const at = revision as Revision;
    const put = { key, value: Buffer.from(value), createRevision: at, modRevision: at, version };
    const content = isDeleted ? { puts: [], deletes: [key] } : { puts: [put], deletes: [] };
    changes.push(encodeBatch({ revision: at, positionVersion: at - seeded, prefix, ...content }));
    if (isDeleted) expected.delete(key);
    else expected.set(key, { value, modified: at, version });
  }
  return { changes, expected, revision };
}

/** Executes requests in any order, some of them twice, and answers in another order. */
class Disorder {
  readonly etcd: EtcdModel;
  readonly #random: Random;
  readonly #waiting: (() => void)[] = [];
  inFlightMax = 0;
  count = 0;

  constructor(etcd: EtcdModel, random: Random) {
    this.etcd = etcd;
    this.#random = random;
  }

  async send(frame: Buffer): Promise<ReplicaTxnResponse> {
    this.count++;
    await this.#turn();
    const answer = this.etcd.execute(frame);
    if (this.#random.below(20) === 0) this.etcd.execute(frame);
    await this.#turn();
    return decodeReplicaTxn(answer);
  }

  #turn(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      this.inFlightMax = Math.max(this.inFlightMax, this.#waiting.length);
      setImmediate(() => this.#waiting.splice(this.#random.below(this.#waiting.length), 1)[0]!());
    });
  }
}

test('every change gets its own revision in any order of execution', async () => {
  for (let seed = 0; seed < 25; seed++) {
    const random = seededRandom(seed);
    const etcd = seededModel();
    const { changes, expected, revision } = changesOf(random, 40);
    const disorder = new Disorder(etcd, random);
    const send = (frame: Buffer) => disorder.send(frame);
    const results = [sendChanges({ position: seeded, changes, send })];
    // Another follower of the same source.
    if (seed % 3 === 0) results.push(sendChanges({ position: seeded, changes, send }));
    for (const state of await Promise.all(results)) assert.equal(state.position, revision, `seed ${seed}`);
    assert.equal(etcd.revision, revision, `seed ${seed}`);
    const found = [...etcd.entries].filter(([key]) => key !== positionKey);
    assert.deepEqual(
      new Map(
        found.map(([key, { value, modified, version }]) => [key.slice(prefix.length), { value, modified, version }]),
      ),
      expected,
      `seed ${seed}`,
    );
  }
});

test('a write of others stops all later batches', async () => {
  for (let seed = 0; seed < 15; seed++) {
    const random = seededRandom(seed);
    const etcd = seededModel();
    const { changes } = changesOf(random, 40);
    const disorder = new Disorder(etcd, random);
    let foreign = 0;
    const send = (frame: Buffer) => {
      if (disorder.count === 10) {
        etcd.put('/registry/foreign', '1');
        foreign = etcd.revision;
      }
      return disorder.send(frame);
    };
    await assert.rejects(sendChanges({ position: seeded, changes, send }), (error) => hasCode(error, 'Diverged'));
    const later = [...etcd.entries].filter(([key, { modified }]) => key.includes('pods') && modified > foreign + 1);
    assert.deepEqual(later, [], `seed ${seed}`);
  }
});

test('a key with another version than that of the source is not written', async () => {
  const random = seededRandom(1);
  const etcd = seededModel();
  etcd.entries.set('/registry/pods/0', { value: 'other', created: 3, modified: 90, version: 7 });
  const { changes } = changesOf(random, 40);
  const disorder = new Disorder(etcd, random);
  const sent = sendChanges({ position: seeded, changes, send: (frame) => disorder.send(frame) });
  await assert.rejects(sent, (error) => hasCode(error, 'Diverged'));
  assert.equal(etcd.entries.get('/registry/pods/0')!.value, 'other');
});

test('a failed request stops the others, and the error is that of the request', async () => {
  const etcd = seededModel();
  const disorder = new Disorder(etcd, seededRandom(1));
  const { changes } = changesOf(seededRandom(2), 40);
  let inFlight = 0;
  const send = async (frame: Buffer) => {
    inFlight++;
    try {
      if (disorder.count === 12) throw new Error('gone');
      return await disorder.send(frame);
    } finally {
      inFlight--;
    }
  };
  await assert.rejects(sendChanges({ position: seeded, changes, send }), /gone/);
  assert.equal(inFlight, 0);
});

test('requests in flight and their size are bounded', () => {
  const fill = encodeFill(101, 100_000);
  assert.equal(nextRequest([fill], 100, defaultSendBounds).inFlightMax, 256);
  const batch = (revision: number, bytes: number): EncodedChange => ({
    first: revision,
    last: revision,
    transaction: Buffer.alloc(bytes),
  });
  const shape = (bytes: number) => {
    const { changes, inFlightMax } = nextRequest(
      Array.from({ length: 50 }, (_, at) => batch(101 + at, bytes)),
      105,
      defaultSendBounds,
    );
    return [changes[0]!.first, changes.length, inFlightMax];
  };
  assert.deepEqual(shape(1_000_000), [106, 1, 1]);
  assert.deepEqual(shape(10_000), [106, 3, 3]);
  assert.deepEqual(shape(1_000), [106, 6, 5]);
  assert.deepEqual(shape(100), [106, 20, 15]);
});
