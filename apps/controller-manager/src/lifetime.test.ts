import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aborted } from '@hangar/core';
import { lifetime } from './lifetime.ts';
import type { LivingParts } from './lifetime.ts';

function world(failures: { readonly registry?: Promise<void>; readonly engines?: Promise<void> } = {}) {
  const events: string[] = [];
  const part = (name: string, failure: Promise<void> = new Promise(() => {})) => ({
    async run(signal: AbortSignal): Promise<void> {
      try {
        await Promise.race([aborted(signal), failure]);
      } finally {
        events.push(`${name} ended`);
      }
    },
  });
  const closing = (name: string) => ({ close: async () => void events.push(`${name} closed`) });
  const parts: LivingParts = {
    registry: part('registry', failures.registry),
    conditions: part('conditions'),
    engines: part('engines', failures.engines),
    served: closing('served'),
    management: closing('management'),
  };
  return { parts, events };
}

const order = ['registry ended', 'conditions ended', 'engines ended', 'served closed', 'management closed'];

test('when it is asked to end, clusters come first and connections last', async () => {
  const { parts, events } = world();
  const ending = new AbortController();
  const life = lifetime(parts, ending.signal);
  assert.deepEqual(events, []);
  ending.abort();
  await life;
  assert.deepEqual(events, order);
});

test('a fleet or coordinator that cannot go on ends everything, and is what is told', async () => {
  const failure = Promise.withResolvers<void>();
  const { parts, events } = world({ registry: failure.promise });
  const life = lifetime(parts, new AbortController().signal);
  failure.reject(new Error('no more'));
  await assert.rejects(life, /no more/);
  assert.deepEqual(events, order);
});

test('an engine that cannot go on ends what it served first', async () => {
  const failure = Promise.withResolvers<void>();
  const { parts, events } = world({ engines: failure.promise });
  const life = lifetime(parts, new AbortController().signal);
  failure.reject(new Error('broken'));
  await assert.rejects(life, /broken/);
  assert.deepEqual(events.toSorted(), order.toSorted());
  assert.deepEqual(events.slice(-2), order.slice(-2));
});
