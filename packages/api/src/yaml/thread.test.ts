import assert from 'node:assert/strict';
import { test } from 'node:test';
import { YamlThread } from './thread.ts';

const roomy = { waitingMax: 10, waitingPerTenantMax: 10 };

test('documents are parsed one after the other, as JSON', async () => {
  const thread = new YamlThread(roomy);
  const parsed = await Promise.all(
    ['a: [1, yes]', 'b: {c: ~}', 'a: 1\na: 2'].map((text) => thread.parse({ text, findRepeated: true }, 'a')),
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
  const thread = new YamlThread(roomy);
  await assert.rejects(thread.parse({ text: 'a: [', findRepeated: false }, 'a'), { code: 'MalformedYaml' });
  await assert.rejects(thread.parse({ text: '['.repeat(2_000), findRepeated: false }, 'a'), { code: 'TooDeep' });
  assert.equal((await thread.parse({ text: 'a: 1', findRepeated: false }, 'a')).json, '{"a":1}');
});

test('more documents than may wait are refused', async () => {
  const thread = new YamlThread({ waitingMax: 1, waitingPerTenantMax: 10 });
  const parsed = ['a: 1', 'b: 1', 'c: 1'].map((text) => thread.parse({ text, findRepeated: false }, 'a'));
  const outcomes = await Promise.allSettled(parsed);
  assert.deepEqual(
    outcomes.map(({ status }) => status),
    ['fulfilled', 'fulfilled', 'rejected'],
  );
  await assert.rejects(parsed[2]!, { code: 'Busy' });
});

test('a tenant that sends many documents is refused, and delays each other tenant by one document', async () => {
  const thread = new YamlThread({ waitingMax: 5, waitingPerTenantMax: 3 });
  const order: string[] = [];
  const parse = (tenant: string, at: number): Promise<void> =>
    thread.parse({ text: `at: ${at}`, findRepeated: false }, tenant).then(
      () => void order.push(`${tenant}${at}`),
      (error: unknown) => {
        assert.equal((error as { code?: string }).code, 'Busy');
        order.push(`${tenant}${at} refused`);
      },
    );
  // The first is parsed at once, three wait.
  const sent = [0, 1, 2, 3, 4].map((at) => parse('a', at));
  sent.push(parse('b', 0), parse('c', 0), parse('d', 0));
  await Promise.all(sent);
  assert.deepEqual(order, ['a4 refused', 'd0 refused', 'a0', 'a1', 'b0', 'c0', 'a2', 'a3']);
});
