import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ComponentLog } from './component-log.ts';

const error = (second: number, message: string): string =>
  `E1116 01:02:${String(second).padStart(2, '0')}.000004    1234 controller.go:56] ${message}\n`;

test('an error about the same object is the same error, whatever the times and versions', () => {
  const log = new ComponentLog();
  log.add(error(1, 'sync "default/web-x7k2p" failed after 10ms: the object has been modified'));
  log.add(error(2, 'sync "default/web-x7k2p" failed after 25ms: the object has been modified'));
  log.add(error(3, 'sync "default/web-q9z8w" failed after 10ms: the object has been modified'));
  assert.deepEqual(
    log.repeatedErrors(1).map(({ count }) => count),
    [2],
  );
  assert.match(log.repeatedErrors(1)[0]!.example, /web-x7k2p/);
});

test('waiting for one written version is a loop, for one after the other is not', () => {
  const log = new ComponentLog();
  const stale = (read: number, written: number): string =>
    `sync "default/web" failed with read version: ${read} is not as new as written version: ${written}`;
  log.add(error(1, stale(1, 2)) + error(2, stale(3, 4)));
  assert.deepEqual(log.repeatedErrors(1), []);
  log.add(error(3, stale(3, 4)));
  assert.equal(log.repeatedErrors(1)[0]!.count, 2);
});

test('information and warnings are no errors, a panic is one, and what the server itself logs as one', () => {
  const log = new ComponentLog();
  log.add('I1116 01:02:03.000004    1234 a.go:1] fine\nW1116 01:02:03.000004    1234 a.go:2] hm\npanic: oh\n');
  log.add('{"level":40,"msg":"hm"}\n{"level":50,"msg":"no"}\n');
  assert.deepEqual(log.errors(), ['panic: oh', '{"level":50,"msg":"no"}']);
});

test('a line that comes in pieces is one line, and a look can begin later', () => {
  const log = new ComponentLog();
  const whole = error(1, 'once');
  log.add(whole.slice(0, 20));
  assert.equal(log.length, 0);
  log.add(whole.slice(20));
  assert.equal(log.errors().length, 1);
  const place = log.length;
  log.add(error(2, 'later'));
  assert.equal(log.errors(place).length, 1);
});
