import assert from 'node:assert/strict';
import { test } from 'node:test';
import { YamlThread } from './thread.ts';

test('documents are parsed one after the other, as JSON', async () => {
  const thread = new YamlThread(10);
  const parsed = await Promise.all(
    ['a: [1, yes]', 'b: {c: ~}', 'a: 1\na: 2'].map((text) => thread.parse({ text, findRepeated: true })),
  );
  assert.deepEqual(
    parsed.map(({ json }) => JSON.parse(json)),
    [{ a: [1, true] }, { b: { c: null } }, { a: 2 }],
  );
  assert.deepEqual(
    parsed.map(({ problems }) => problems.length),
    [0, 0, 1],
  );
});

test('a malformed document rejects with its code, and the next one is parsed', async () => {
  const thread = new YamlThread(10);
  await assert.rejects(thread.parse({ text: 'a: [', findRepeated: false }), { code: 'MalformedYaml' });
  await assert.rejects(thread.parse({ text: '['.repeat(2_000), findRepeated: false }), { code: 'TooDeep' });
  assert.equal((await thread.parse({ text: 'a: 1', findRepeated: false })).json, '{"a":1}');
});

test('more documents than may wait are refused', async () => {
  const thread = new YamlThread(1);
  const parsed = ['a: 1', 'b: 1', 'c: 1'].map((text) => thread.parse({ text, findRepeated: false }));
  const outcomes = await Promise.allSettled(parsed);
  assert.deepEqual(
    outcomes.map(({ status }) => status),
    ['fulfilled', 'fulfilled', 'rejected'],
  );
  await assert.rejects(parsed[2]!, { code: 'Busy' });
});
