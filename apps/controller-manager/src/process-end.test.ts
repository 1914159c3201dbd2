import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { test } from 'node:test';
import { Logger } from '@hangar/core';
import { virtualClock } from '@hangar/testkit';
import { ProcessEnd } from './process-end.ts';

function world() {
  const clock = virtualClock();
  const lines: string[] = [];
  const exits: number[] = [];
  const process = Object.assign(new EventEmitter(), { exit: (code: number) => void exits.push(code) });
  const log = new Logger({ level: 'info', format: 'text', clock, write: (line) => lines.push(line) });
  const end = new ProcessEnd({ clock, log, withinMs: 5_000, process: process as never });
  return { clock, lines, exits, process, end };
}

test('the first signal asks for a good end, and the same Ctrl-C twice is one', async () => {
  const { clock, exits, process, end } = world();
  process.emit('SIGINT', 'SIGINT');
  assert.deepEqual([end.signal.aborted, end.hasFailed], [true, false]);
  await clock.advance(100);
  process.emit('SIGINT', 'SIGINT');
  assert.deepEqual(exits, []);
  await clock.advance(1_000);
  process.emit('SIGTERM', 'SIGTERM');
  assert.deepEqual(exits, [1]);
});

test('what does not end in time is ended', async () => {
  const { clock, exits, lines, process } = world();
  process.emit('SIGTERM', 'SIGTERM');
  await clock.advance(4_999);
  assert.deepEqual(exits, []);
  await clock.advance(1);
  assert.deepEqual(exits, [1]);
  assert.match(lines.at(-1)!, /shutdown timed out/);
});

test('what fails unattended is told and ends everything, once', async () => {
  const { clock, exits, lines, process, end } = world();
  process.emit('unhandledRejection', new Error('first'));
  process.emit('uncaughtException', 'second');
  assert.deepEqual([end.signal.aborted, end.hasFailed, exits], [true, true, []]);
  assert.equal(lines.filter((line) => line.includes('unhandled error')).length, 2);
  end.close();
  await clock.advance(10_000);
  assert.deepEqual(exits, [], 'it has ended in time');
  assert.deepEqual(process.eventNames(), []);
});
