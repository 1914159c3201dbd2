import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '@hangar/core';
import type { Clock } from '@hangar/core';
import type { Resolver } from './connector.ts';
import { NameLookups, TotalLookups } from './name-lookups.ts';

/** Answers of the resolver are given by the test. */
class HeldResolver {
  readonly asked: { readonly name: string; answer(): void }[] = [];

  readonly resolve: Resolver = (name, _, callback) => {
    this.asked.push({ name, answer: () => callback(null, [{ address: '10.0.0.1', family: 4 }]) });
  };

  get names(): string[] {
    return this.asked.map(({ name }) => name);
  }
}

const look = (lookups: NameLookups, resolver: HeldResolver, name: string): Promise<string> =>
  new Promise((resolve, reject) =>
    lookups.limited(resolver.resolve)(name, { all: true }, (error, addresses) =>
      error ? reject(error) : resolve(addresses[0]!.address),
    ),
  );

const lookupsOf = (plane: string, total = new TotalLookups(), clock: Clock = systemClock): NameLookups =>
  new NameLookups({ plane, clock, total });

const refused = { code: 'Unreachable', message: /too many lookups of node names are in progress/ };

test('a second name is refused while a lookup of the control plane is in progress', async () => {
  const [lookups, resolver] = [lookupsOf('red'), new HeldResolver()];
  const first = look(lookups, resolver, 'node-a');
  await assert.rejects(look(lookups, resolver, 'node-b'), refused);
  resolver.asked[0]!.answer();
  assert.equal(await first, '10.0.0.1');
  const second = look(lookups, resolver, 'node-b');
  resolver.asked[1]!.answer();
  assert.equal(await second, '10.0.0.1');
});

test('the lookups of all control planes leave threads for files', async () => {
  const [total, resolver] = [new TotalLookups(), new HeldResolver()];
  const pending = ['a', 'b'].map((plane) => look(lookupsOf(plane, total), resolver, 'slow'));
  await assert.rejects(look(lookupsOf('c', total), resolver, 'slow'), refused);
  for (const { answer } of resolver.asked) answer();
  assert.deepEqual(await Promise.all(pending), ['10.0.0.1', '10.0.0.1']);
  assert.equal(total.open, 0);
});

test('connections to the same node share a lookup, and its result for some time', async () => {
  let nowMs = 0;
  const resolver = new HeldResolver();
  const lookups = lookupsOf('red', new TotalLookups(), { ...systemClock, monotonicMs: () => nowMs });
  const both = [look(lookups, resolver, 'node-a'), look(lookups, resolver, 'node-a')];
  resolver.asked[0]!.answer();
  await Promise.all(both);
  await look(lookups, resolver, 'node-a');
  assert.deepEqual(resolver.names, ['node-a']);
  nowMs = 60_000;
  const later = look(lookups, resolver, 'node-a');
  resolver.asked[1]!.answer();
  await later;
  assert.deepEqual(resolver.names, ['node-a', 'node-a']);
});
