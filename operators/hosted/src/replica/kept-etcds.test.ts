import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Revision } from '@hangar/store';
import { virtualClock } from '@hangar/testkit';
import { KeptEtcds } from './kept-etcds.ts';
import type { PlaneEtcd } from './plane-etcd.ts';

class Double implements PlaneEtcd {
  isClosed = false;
  failure: Error | undefined;

  fence = (): Promise<Revision> => this.revision();
  unfence = (): Promise<void> => Promise.resolve();
  isFenced = (): Promise<boolean> => Promise.resolve(false);
  openContent = (): Promise<never> => Promise.reject(new Error('no content'));

  async revision(): Promise<Revision> {
    if (this.failure) throw this.failure;
    return 7 as Revision;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.isClosed = true;
  }
}

function world() {
  const clock = virtualClock();
  const kept = new KeptEtcds(clock);
  const opened: Double[] = [];
  const open = (uid = 'a') =>
    kept.open(uid, async () => {
      opened.push(new Double());
      return opened.at(-1)!;
    });
  return { clock, opened, open };
}

describe('the etcd of a replica', () => {
  test('is opened once for calls that follow each other, and closed some time after the last', async () => {
    const { clock, opened, open } = world();
    for (let call = 0; call < 3; call++) {
      await using etcd = await open();
      assert.equal(await etcd!.revision(), 7);
      await clock.advance(1_000);
    }
    assert.equal(opened.length, 1);
    assert.equal(opened[0]!.isClosed, false);
    await clock.advance(2_000);
    assert.equal(opened[0]!.isClosed, true);
    await using _ = await open();
    assert.equal(opened.length, 2);
  });

  test('stays open while a caller uses it', async () => {
    const { clock, opened, open } = world();
    const [first, second] = [await open(), await open()];
    await first![Symbol.asyncDispose]();
    await first![Symbol.asyncDispose]();
    await clock.advance(60_000);
    assert.equal(opened[0]!.isClosed, false);
    await second![Symbol.asyncDispose]();
    await clock.advance(2_000);
    assert.equal(opened[0]!.isClosed, true);
  });

  test('is opened again after a failed call, and closed by its last user', async () => {
    const { opened, open } = world();
    const [first, second] = [await open(), await open()];
    opened[0]!.failure = new Error('no member answers');
    await assert.rejects(first!.revision(), /no member/);
    await using _ = await open();
    assert.equal(opened.length, 2);
    await first![Symbol.asyncDispose]();
    assert.equal(opened[0]!.isClosed, false);
    await second![Symbol.asyncDispose]();
    assert.equal(opened[0]!.isClosed, true);
  });

  test('is not that of another control plane', async () => {
    const { opened, open } = world();
    for (const uid of ['a', 'b']) {
      await using _ = await open(uid);
    }
    assert.equal(opened.length, 2);
  });
});
