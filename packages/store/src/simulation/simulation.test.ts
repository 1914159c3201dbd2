import { strict as assert } from 'node:assert';
import { describe, test } from 'node:test';
import { Campaign } from './campaign.ts';
import { noBug, plantedBugs } from './planted-bugs.ts';
import { simulate } from './simulate.ts';

describe('the simulated store', () => {
  test('ten seeds violate nothing', async () => {
    const printed: string[] = [];
    const campaign = new Campaign({ print: (text) => printed.push(text) });
    assert.ok(await campaign.healthy({ from: 0, seeds: 10 }), printed.join(''));
    assert.match(printed.join(''), /no violation/);
  });

  // Each of them once violated a property: docs/robustness.md.
  for (const seed of [20_139, 123_593, 991_290, 3_000_006, 77_778_335]) {
    test(`seed ${seed} violates nothing`, async () => {
      assert.equal((await simulate(seed)).violation, undefined);
    });
  }

  test('a seed is the same world every time, and another seed another one', async () => {
    const first = await simulate(7);
    const again = await simulate(7);
    const other = await simulate(8);
    assert.ok(first.trace.length > 100);
    assert.equal(again.trace.hash(), first.trace.hash());
    assert.notEqual(other.trace.hash(), first.trace.hash());
  });
});

test('a violation is told with its seed, its property, what went before, and the command that shows it again', async () => {
  const bug = plantedBugs.find(({ name }) => name === 'batch-twice')!;
  const printed: string[] = [];
  assert.equal(await new Campaign({ print: (text) => printed.push(text) }).one(0, bug), false);
  const told = printed.join('');
  assert.match(told, /seed 0 is not unique: the watch of .* comes twice/);
  assert.ok(told.split('\n').filter((line) => / ms {2}/.test(line)).length >= 20, told);
  assert.match(told, /npm run sim -- --seed 0 --bug batch-twice/);
});

test('a hunt that fails says so', async () => {
  const printed: string[] = [];
  const campaign = new Campaign({ print: (text) => printed.push(text), huntSeedsMax: 2 });
  assert.equal(await campaign.hunt([noBug]), false);
  assert.match(printed.join(''), /none {2,}NOT FOUND/);
});
