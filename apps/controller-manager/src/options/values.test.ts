import assert from 'node:assert/strict';
import { test } from 'node:test';
import { UsageError } from '@hangar/core/command-line';
import { addressOf, bytesOf, durationMs, integerOf, isOn, oneOf, portRangeOf } from './values.ts';

const refuses = (texts: readonly string[], read: (text: string) => unknown, like: RegExp): void => {
  for (const text of texts) {
    const isTold = (error: Error): boolean => error instanceof UsageError && like.test(error.message);
    assert.throws(() => read(text), isTold, JSON.stringify(text));
  }
};

test('durations are as Go writes them', () => {
  const read = (text: string) => durationMs('d', text, { leastMs: 0, mostMs: 600_000 });
  for (const [text, ms] of [
    ['1500ms', 1500],
    ['1m30s', 90_000],
    ['0', 0],
    ['0s', 0],
    ['1.5s', 1500],
    ['500us', 0.5],
  ] as const) {
    assert.equal(read(text), ms, text);
  }
  refuses(['', '5', 'x', '1 s', '1d', '9999999999h'], read, /^--d: ".*" is not a duration such as 1500ms or 1m30s$/);
  refuses(['-1s', '10m1s'], read, /^--d: ".*" must be between 0s and 600s$/);
});

test('sizes are quantities; nothing is no limit, too little is refused', () => {
  const read = (text: string) => bytesOf('s', text, 64 * 1024 ** 2);
  assert.equal(read('512Mi'), 512 * 1024 ** 2);
  assert.equal(read('1G'), 1e9);
  assert.equal(read('0'), undefined);
  refuses(['', 'x', '512MB', '512 Mi'], read, /is not a size such as 512Mi$/);
  refuses(['1Mi', '-1Gi', '100m'], read, /is too small: it must be at least 64Mi, or 0 for no limit$/);
});

test('whole numbers, ports, addresses, words and switches', () => {
  assert.equal(integerOf('n', '7', [1, 10]), 7);
  refuses(['0', '11', '-1', '1.5', 'x', '', '0x7', ' 7'], (text) => integerOf('n', text, [1, 10]), /from 1 to 10$/);
  assert.deepEqual(portRangeOf('p', '20000-29999'), { from: 20_000, to: 29_999 });
  assert.deepEqual(portRangeOf('p', '1-1'), { from: 1, to: 1 });
  refuses(['2-1', '0-1', '1-65536', '1', 'a-b', '1-2-3', ''], (text) => portRangeOf('p', text), /not a range of ports/);
  assert.deepEqual([addressOf('a', '0.0.0.0'), addressOf('a', '::')], ['0.0.0.0', '::']);
  refuses(['', 'localhost', '1.2.3', '[::]'], (text) => addressOf('a', text), /is not an IP address$/);
  assert.equal(oneOf('w', 'b', ['a', 'b']), 'b');
  refuses(['', 'c', 'A'], (text) => oneOf('w', text, ['a', 'b']), /must be one of a, b$/);
  for (const text of ['true', '1', 'T']) assert.equal(isOn('b', text), true, text);
  for (const text of ['false', '0', 'F']) assert.equal(isOn('b', text), false, text);
  refuses(['', 'yes', 'tRue'], (text) => isOn('b', text), /must be true or false$/);
});
