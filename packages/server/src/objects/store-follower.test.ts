import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '@hangar/core';
import { openMemoryStore } from '@hangar/store';
import { StoreFollower } from './store-follower.ts';

const busy = (ms: number): void => {
  for (const endMs = performance.now() + ms; performance.now() < endMs;);
};

test('what takes long to be understood is told in pieces, and then what came meanwhile', async () => {
  await using opened = new AsyncDisposableStack();
  const store = await openMemoryStore();
  opened.defer(() => store.close());
  const put = (key: string) => store.commit([{ type: 'put', key, value: Buffer.of(1) }]);
  for (let at = 10; at < 30; at++) await put(`/a/${at}`);
  const told: string[] = [];
  const follower = new StoreFollower({ store, clock: systemClock }, '/a/', {
    put: ({ key }) => {
      busy(3);
      told.push(key);
    },
    delete: () => {},
    retain: () => {},
  });
  opened.defer(() => follower.close());
  let turns = 0;
  const starting = follower.start();
  let isStarted = false;
  void starting.then(() => (isStarted = true));
  while (!isStarted) {
    turns++;
    if (turns === 2) await put('/a/99');
    await new Promise((resolve) => setImmediate(resolve));
  }
  assert.ok(turns > 4, `${turns} turns of the loop meanwhile`);
  await follower.reached(await store.revision());
  assert.deepEqual(told, [...Array.from({ length: 20 }, (_, at) => `/a/${at + 10}`), '/a/99']);
});
