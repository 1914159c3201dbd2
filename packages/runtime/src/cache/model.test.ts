/**
 * Writes at random while the connection fails in every possible way. In the end the cache equals the list of the server, handlers received
 * a consistent sequence of events, and nothing leaked.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chance, hasCode, pick, seededRandom } from '@hangar/core';
import type { Random } from '@hangar/core';
import { isWatch } from '@hangar/testkit';
import type { FaultyTransport } from '@hangar/testkit';
import type { Registration } from './contract.ts';
import { Recorder } from './testing/recorder.ts';
import { ConfigMap, openWorld } from './testing/world.ts';
import type { CacheTestWorld, ConfigMapObject } from './testing/world.ts';

const seeds = 25;
const steps = 150;
const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];

const faults: readonly ((transport: FaultyTransport, random: Random) => void)[] = [
  (transport) => transport.cutWatches(),
  (transport) => transport.endWatches(),
  (transport) => transport.silenceWatches(),
  (transport) => transport.expireWatches(1, 'answer'),
  (transport) => transport.expireWatches(1, 'event'),
  (transport, random) => transport.failNext(1 + random.below(4)),
  (transport) => transport.loseAnswers(1),
  (transport) => transport.refuseNext({ status: 503 }, 2),
  (transport) => transport.refuseNext({ status: 422, reason: 'Invalid' }, 1, isWatch),
  (transport) => transport.refuseNext({ status: 200, reason: 'garbage' }, 1),
  (transport, random) => transport.delay(random.below(3_000)),
  (transport) => transport.heal(),
  (transport) => transport.heal(),
];

async function write(the: CacheTestWorld, random: Random): Promise<void> {
  const name = pick(random, names);
  const act = pick(random, [
    () => the.make(name),
    () => the.change(name, `${random.below(3)}`),
    () => the.remove(name),
  ]);
  await act().catch((error: unknown) => {
    if (!hasCode(error, 'AlreadyExists') && !hasCode(error, 'NotFound')) throw error;
  });
}

const story = async (seed: number): Promise<void> => {
  const random = seededRandom(seed);
  await using the = await openWorld({ seed, options: { watchList: chance(random, 0.7) } });
  const informer = the.cache.informer(ConfigMap);
  the.cache.addIndex(ConfigMap, 'value', ({ data }) => (data?.['value'] === undefined ? [] : [data['value']]));
  const handlers: { recorder: Recorder<ConfigMapObject>; registration: Registration }[] = [];
  const addHandler = (): void => {
    const recorder = new Recorder<ConfigMapObject>();
    handlers.push({ recorder, registration: informer.addHandler(recorder) });
  };
  addHandler();
  for (let n = 0; n < 3; n++) await write(the, random);
  the.start();
  for (let step = 0; step < steps; step++) {
    if (chance(random, 0.7)) await write(the, random);
    if (chance(random, 0.2)) pick(random, faults)(the.faults, random);
    if (chance(random, 0.05)) addHandler();
    if (chance(random, 0.03) && handlers.length > 1) handlers.pop()!.registration.remove();
    if (chance(random, 0.5)) await the.clock.advance(random.below(chance(random, 0.1) ? 60_000 : 500));
  }
  the.faults.heal();
  the.faults.cutWatches();
  await the.clock.advance(11 * 60_000);

  const { items } = await the.cluster.client.list(ConfigMap, { namespace: 'default' });
  const byName = (objects: Iterable<ConfigMapObject>): Record<string, ConfigMapObject> =>
    Object.fromEntries(Array.from(objects, (object) => [object.metadata.name, object]));
  assert.deepEqual(byName(informer.all('default')), byName(items), `seed ${seed}: the cache has what the server has`);
  for (const { recorder, registration } of handlers) {
    assert.ok(registration.hasSynced);
    assert.deepEqual(Object.fromEntries(recorder.known), byName(informer.all('default')), `seed ${seed}: a handler`);
  }
  for (const value of ['0', '1', '2', '3']) {
    assert.deepEqual(
      new Set(informer.byIndex('value', value)),
      new Set([...informer.all()].filter(({ data }) => data?.['value'] === value)),
      `seed ${seed}: the index`,
    );
  }
  assert.deepEqual(
    the.lines.filter((line) => line.includes('handler failed')),
    [],
    `seed ${seed}`,
  );
};

test(`${seeds} random stories of writes and failures all end with what the server has`, async () => {
  for (let seed = 1; seed <= seeds; seed++) await story(seed);
});
