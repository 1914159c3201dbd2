/** testing: conformance suite of all providers that watch objects of a management cluster. Each provider runs it with its own objects. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { FaultyTransport } from '@hangar/testkit';
import type { Provider } from '../../contract.ts';
import { namespaceKind } from './management.ts';
import { Recorder } from './recorder.ts';

export interface ProviderWorld extends AsyncDisposable {
  readonly provider: Provider;
  /** Faults between the provider and its management cluster. */
  readonly faults: FaultyTransport;
  /** Returns the name that the provider gives to a cluster of the test. Absent: the same. */
  readonly nameOf?: (name: string) => string;
  /** Creates a cluster that is ready. */
  add(name: string): Promise<void>;
  /** Changes address or credentials. Absent: the provider has none. */
  change?(name: string): Promise<void>;
  /** Changes an irrelevant field of its object. */
  touch(name: string): Promise<void>;
  /** Ways in which an existing cluster stops being one, each with its reversal. */
  readonly hidings: Readonly<Record<string, { hide(name: string): Promise<void>; show(name: string): Promise<void> }>>;
  remove(name: string): Promise<void>;
}

export function providerConformance(what: string, open: () => Promise<ProviderWorld>): void {
  describe(`${what}, as a provider`, () => {
    test('tells what exists, then that this was all, then what comes', async () => {
      await using world = await open();
      const { nameOf = String } = world;
      await world.add('one');
      await world.add('two');
      await using recorder = new Recorder(world.provider);
      await recorder.untilTold('synced');
      assert.deepEqual(recorder.log.toSorted(), [`+${nameOf('one')}`, `+${nameOf('two')}`, 'synced'].sort());
      assert.equal(recorder.log.at(-1), 'synced');
      await world.add('three');
      await recorder.untilNames(nameOf('one'), nameOf('two'), nameOf('three'));
      await recorder.stop();
    });

    test('tells that there is nothing', async () => {
      await using world = await open();
      await using recorder = new Recorder(world.provider);
      await recorder.untilTold('synced');
      assert.deepEqual(recorder.log, ['synced']);
    });

    test('gives clusters that can be opened, started and asked', async () => {
      await using world = await open();
      const { nameOf = String } = world;
      await world.add('one');
      await using recorder = new Recorder(world.provider);
      await recorder.untilNames(nameOf('one'));
      const end = new AbortController();
      const cluster = await recorder.clusters.get(nameOf('one'))!.open(end.signal);
      assert.equal(cluster.name, nameOf('one'));
      const running = cluster.start(end.signal);
      const namespace = what === 'namespaces' ? 'one' : 'default';
      const found = await cluster.client.get(namespaceKind, { name: namespace }, { resourceVersion: '1' });
      assert.equal(found.metadata.name, namespace);
      end.abort();
      await running;
      await cluster.client.close();
    });

    test('tells of changes that matter, and of no others', async () => {
      await using world = await open();
      const { nameOf = String } = world;
      await world.add('one');
      await using recorder = new Recorder(world.provider);
      await recorder.untilNames(nameOf('one'));
      await world.touch('one');
      await world.change?.('one');
      if (world.change) await recorder.untilTold(`*${nameOf('one')}`);
      await world.touch('one');
      await world.add('two');
      await recorder.untilNames(nameOf('one'), nameOf('two'));
      const told = recorder.log.filter((line) => line.endsWith(nameOf('one')));
      assert.deepEqual(told, world.change ? [`+${nameOf('one')}`, `*${nameOf('one')}`] : [`+${nameOf('one')}`]);
    });

    test('tells that a cluster is lost, and takes one that is made anew for another', async () => {
      await using world = await open();
      const { nameOf = String } = world;
      await world.add('one');
      await world.add('two');
      await using recorder = new Recorder(world.provider);
      await recorder.untilNames(nameOf('one'), nameOf('two'));
      await world.remove('one');
      await recorder.untilNames(nameOf('two'));
      await world.add('one');
      await recorder.untilNames(nameOf('one'), nameOf('two'));
      // Without a pause, so that a provider that compares only names could miss it.
      await world.remove('one');
      await world.add('one');
      const lost = `-${nameOf('one')}`;
      await recorder.until('lost twice', () => recorder.log.filter((line) => line === lost).length === 2);
      await recorder.untilNames(nameOf('one'), nameOf('two'));
      assert.ok(!recorder.log.includes(`-${nameOf('two')}`));
    });

    test('loses what stops to be one without being deleted, and finds it again', async () => {
      await using world = await open();
      const { nameOf = String } = world;
      await world.add('one');
      await world.add('two');
      await using recorder = new Recorder(world.provider);
      await recorder.untilNames(nameOf('one'), nameOf('two'));
      for (const [way, { hide, show }] of Object.entries(world.hidings)) {
        await hide('one');
        await recorder.untilNames(nameOf('two')).catch((error: Error) => assert.fail(`${way}: ${error.message}`));
        await show('one');
        await recorder
          .untilNames(nameOf('one'), nameOf('two'))
          .catch((error: Error) => assert.fail(`${way}, back: ${error.message}`));
      }
      assert.ok(!recorder.log.includes(`-${nameOf('two')}`));
    });

    test('keeps what it knows while the management cluster is away, and learns what it missed', async () => {
      await using world = await open();
      const { nameOf = String } = world;
      await world.add('one');
      await world.add('two');
      await using recorder = new Recorder(world.provider);
      await recorder.untilTold('synced');
      world.faults.failNext(3);
      world.faults.expireWatches(1);
      world.faults.cutWatches();
      await world.remove('one');
      await world.add('three');
      await recorder.untilNames(nameOf('three'), nameOf('two'));
      assert.ok(!recorder.log.includes(`-${nameOf('two')}`));
      assert.equal(recorder.log.filter((line) => line === `-${nameOf('one')}`).length, 1);
    });

    test('begins although the management cluster is away', async () => {
      await using world = await open();
      const { nameOf = String } = world;
      await world.add('one');
      world.faults.failNext(4);
      await using recorder = new Recorder(world.provider);
      await recorder.untilNames(nameOf('one'));
    });

    test('ends with its signal, whenever that is, and leaves nothing open', async () => {
      await using world = await open();
      await world.add('one');
      for (const turns of [0, 1, 2, 3, 5, 8, 13, 21, 200]) {
        const recorder = new Recorder(world.provider);
        for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve));
        await recorder.stop();
        assert.equal(world.faults.openWatches, 0, `after ${turns} turns`);
      }
      const hold = world.faults.hang();
      const recorder = new Recorder(world.provider);
      await new Promise((resolve) => setImmediate(resolve));
      await recorder.stop();
      hold.release();
    });
  });
}
