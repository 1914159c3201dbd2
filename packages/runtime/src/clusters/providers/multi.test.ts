import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { seededRandom } from '@hangar/core';
import { startTestCluster } from '@hangar/testkit';
import { newCluster } from '../../new-cluster.ts';
import type { DiscoveredCluster, Discovery, Provider } from '../contract.ts';
import { ClusterEngine } from '../engage/engine.ts';
import { CountedTime } from '../engage/testing/engine-world.ts';
import { fixed, knownCluster, single } from './fixed.ts';
import { multi } from './multi.ts';
import { configMapKind } from './testing/management.ts';
import { Recorder } from './testing/recorder.ts';

const cluster = (name: string, fingerprint = '1'): DiscoveredCluster => ({
  name,
  fingerprint,
  open: () => Promise.resolve({ name, start: () => Promise.resolve() } as never),
});

/** Fails when the test requests it. */
class Failing implements Provider {
  readonly name = 'failing';
  runs = 0;
  fail: (error: Error) => void = () => {};
  readonly #tell: (discovery: Discovery, run: number) => void;

  constructor(tell: (discovery: Discovery, run: number) => void) {
    this.#tell = tell;
  }

  run(discovery: Discovery, signal: AbortSignal): Promise<void> {
    this.#tell(discovery, ++this.runs);
    return new Promise((resolve, reject) => {
      this.fail = reject;
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
  }
}

describe('several providers', () => {
  test('have clusters that are called after them', async () => {
    const provider = multi({ east: fixed([cluster('a'), cluster('b')]), west: fixed([cluster('a')]) });
    await using recorder = new Recorder(provider);
    await recorder.untilTold('synced');
    assert.deepEqual(recorder.log, ['+east#a', '+east#b', '+west#a', 'synced']);
    const opened = await recorder.clusters.get('west#a')!.open(new AbortController().signal);
    assert.equal(opened.name, 'west#a');
    await recorder.stop();
  });

  test('have told everything when each has', async () => {
    let late: Discovery | undefined;
    const slow = new Failing((discovery) => (late = discovery));
    await using recorder = new Recorder(multi({ slow, quick: fixed([cluster('a')]) }));
    await recorder.untilNames('quick#a');
    assert.ok(!recorder.log.includes('synced'));
    late!.synced();
    await recorder.untilTold('synced');
    await using none = new Recorder(multi({}));
    await none.untilTold('synced');
  });

  test('go on when one of them fails, which is tried again, and loses what is gone by then', async () => {
    const clock = new CountedTime(seededRandom(1));
    const failing = new Failing((discovery, run) => {
      if (run === 2) throw new Error('at once');
      discovery.discovered(cluster('a'));
      if (run === 1) discovery.discovered(cluster('b'));
      else discovery.discovered(cluster('c'));
      discovery.synced();
    });
    const steady = new Failing((discovery) => {
      discovery.discovered(cluster('a'));
      discovery.synced();
    });
    const provider = multi({ failing, steady }, { clock, random: seededRandom(1) });
    const recorder = new Recorder(provider);
    await clock.advance(0);
    assert.deepEqual(recorder.names, ['failing#a', 'failing#b', 'steady#a']);
    failing.fail(new Error('no more'));
    await clock.advance(400);
    assert.deepEqual([failing.runs, recorder.names], [1, ['failing#a', 'failing#b', 'steady#a']]);
    await clock.advance(10_000);
    assert.deepEqual([failing.runs, recorder.names], [3, ['failing#a', 'failing#c', 'steady#a']]);
    assert.ok(!recorder.log.includes('-failing#a'));
    assert.equal(steady.runs, 1);
    await recorder.stop();
    assert.equal(clock.timers, 0);
  });

  test('end while one of them waits to be tried again', async () => {
    const clock = new CountedTime(seededRandom(1));
    const failing = new Failing(() => {
      throw new Error('never');
    });
    const recorder = new Recorder(multi({ failing }, { clock }));
    await clock.advance(0);
    assert.deepEqual(recorder.log, ['synced']);
    await recorder.stop();
    assert.equal(clock.timers, 0);
  });

  test('have names that can be told apart', () => {
    assert.throws(() => multi({ 'a#b': fixed([]) }), { code: 'InvalidOptions' });
    assert.throws(() => multi({ '': fixed([]) }), { code: 'InvalidOptions' });
    assert.throws(() => fixed([cluster('a'), cluster('a')]), { code: 'InvalidOptions' });
  });
});

describe('a single cluster', () => {
  test('that somebody else runs is engaged, and neither started nor closed', async () => {
    await using server = await startTestCluster();
    const own = newCluster({ name: 'own', client: server.client });
    const life = new AbortController();
    const running = own.start(life.signal);
    for (let round = 0; round < 2; round++) {
      const engine = new ClusterEngine({ provider: single('only', own) });
      const engaged = Promise.withResolvers<void>();
      engine.addAware({
        engage() {
          engaged.resolve();
          return { drained: () => Promise.resolve() };
        },
      });
      const end = new AbortController();
      const working = engine.run(end.signal);
      await engaged.promise;
      const { client } = engine.get('only');
      await client.create(configMapKind, { metadata: { namespace: 'default', name: `x${round}` } });
      end.abort();
      await working;
      await assert.rejects(client.delete(configMapKind, { namespace: 'default', name: 'x' }), { code: 'Fenced' });
    }
    assert.ok((await own.client.list(configMapKind)).items.length >= 2);
    life.abort();
    await running;
  });

  test('can be made anew each time it is engaged', async () => {
    let made = 0;
    const known = knownCluster('a', () => {
      made++;
      return { name: 'a' } as never;
    });
    await known.open(new AbortController().signal);
    await known.open(new AbortController().signal);
    assert.equal(made, 2);
  });
});
