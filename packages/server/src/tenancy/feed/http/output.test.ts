import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { virtualClock } from '../../../testing/test-server.ts';
import { FeedOutput, waitingBytesMax } from './output.ts';
import { ReadingSink } from './testing.ts';
import { WaitingBound } from './waiting-bound.ts';

function opened(bound = new WaitingBound()) {
  const clock = virtualClock();
  const taken: Buffer[] = [];
  const sink = new ReadingSink((chunk) => void taken.push(chunk));
  const ends: string[] = [];
  const output = new FeedOutput({ sink, clock, bound, onOver: () => void ends.push('over') });
  const text = (): string => Buffer.concat(taken).toString();
  return { clock, sink, output, ends, taken, text };
}

const mebibyte = Buffer.alloc(1024 * 1024, 'x');

describe('lines', () => {
  test('of one turn are one chunk', async () => {
    const { clock, output, taken, text } = opened();
    for (let at = 0; at < 100; at++) output.line(`{"at":${at}}`, Buffer.from('{"a":"ü"}'));
    assert.equal(taken.length, 0);
    await clock.advance(1);
    assert.equal(taken.length, 1);
    assert.equal(text().split('\n').length, 201);
    assert.ok(text().endsWith('{"at":99}\n{"a":"ü"}\n'));
  });

  test('are sent before the turn ends when they are many', () => {
    const { output, sink } = opened();
    for (let at = 0; at < 1_000; at++) output.line('x'.repeat(999));
    assert.equal(sink.chunks, 15);
    assert.ok(sink.bytes > 900_000);
  });

  test('have no end of a line within them: what is stored with some is told without', async () => {
    const { clock, output, text } = opened();
    output.line('{"type":"put"}', Buffer.from('{\n  "a": "b\\n"\n}\n'));
    output.line('{"type":"synced"}', undefined);
    await clock.advance(1);
    assert.equal(text(), '{"type":"put"}\n{   "a": "b\\n" } \n{"type":"synced"}\n');
    assert.deepEqual(JSON.parse(text().split('\n')[1]!), { a: 'b\n' });
  });

  test('leave the bytes that they were given as they were', async () => {
    const { clock, output } = opened();
    const stored = Buffer.from('{\n}\n');
    output.line('x', stored);
    await clock.advance(1);
    assert.equal(stored.toString(), '{\n}\n');
  });
});

describe('a reader that does not keep up', () => {
  test('is written no more than it takes; what waits is sent in order when it goes on', async () => {
    const { clock, output, sink, text } = opened();
    sink.takesMore = false;
    output.line('first');
    await clock.advance(1);
    for (let at = 0; at < 10; at++) {
      output.line(`line ${at}`);
      await clock.advance(1);
    }
    assert.equal(text(), 'first\n');
    sink.drain();
    assert.equal(text(), `first\n${Array.from({ length: 10 }, (_, at) => `line ${at}\n`).join('')}`);
  });

  test('makes whoever tells what is there wait', async () => {
    const { clock, output, sink } = opened();
    assert.equal(output.ready(), undefined);
    sink.takesMore = false;
    output.line('a', mebibyte);
    assert.equal(output.ready(), undefined, 'the sink has it');
    output.line('b', mebibyte);
    const waiting = output.ready();
    assert.ok(waiting);
    sink.drain();
    await clock.run(waiting);
    assert.equal(output.ready(), undefined);
  });

  test('is cut off when more than 64 MiB wait for it, and nothing is kept', () => {
    const { output, sink, ends } = opened();
    sink.takesMore = false;
    for (let at = 0; at < 64; at++) output.line('x', mebibyte);
    assert.equal(sink.wasCut, false);
    output.line('x', mebibyte);
    output.line('x', mebibyte);
    assert.equal(sink.wasCut, true);
    assert.deepEqual(ends, ['over']);
    assert.ok(sink.bytes < 2 * mebibyte.length, 'nothing was written that was not taken');
    assert.equal(output.ready(), undefined);
    assert.equal(waitingBytesMax, 64 * mebibyte.length);
  });

  test('is cut off, when too much waits for all of them together, if most of it waits for that one', () => {
    const bound = new WaitingBound(10.5 * mebibyte.length);
    const [slow, slower, late] = [opened(bound), opened(bound), opened(bound)];
    for (const { sink, output } of [slow, slower, late]) {
      sink.takesMore = false;
      output.line('taken');
      output.line('x', mebibyte);
    }
    for (let at = 0; at < 2; at++) slow.output.line('x', mebibyte);
    for (let at = 0; at < 5; at++) slower.output.line('x', mebibyte);
    for (let at = 0; at < 3; at++) late.output.line('x', mebibyte);
    assert.equal(slower.sink.wasCut, false);
    late.output.line('x', mebibyte);
    assert.deepEqual(
      [slow, slower, late].map(({ sink }) => sink.wasCut),
      [false, true, false],
    );
    for (let at = 0; at < 4; at++) late.output.line('x', mebibyte);
    assert.equal(late.sink.wasCut, false, 'who was cut off counts no more');
    slow.sink.drain();
    for (let at = 0; at < 2; at++) late.output.line('x', mebibyte);
    assert.equal(late.sink.wasCut, false, 'nor does what was taken');
    late.output.line('x', mebibyte);
    assert.equal(late.sink.wasCut, true);
  });

  test('is cut off when it takes nothing for a minute, and not when it takes a little now and then', async () => {
    const { clock, output, sink } = opened();
    sink.takesMore = false;
    for (let at = 0; at < 5; at++) output.line('x', mebibyte);
    for (let at = 0; at < 4; at++) {
      await clock.advance(50_000);
      sink.drain();
      sink.takesMore = false;
      output.line('x', mebibyte);
    }
    assert.equal(sink.isClosed, false);
    sink.takesMore = false;
    output.line('x', mebibyte);
    output.line('x', mebibyte);
    await clock.advance(61_000);
    assert.equal(sink.wasCut, true);
  });

  test('lets those go on who wait for it when it leaves', async () => {
    const { clock, output, sink, ends } = opened();
    sink.takesMore = false;
    output.line('a', mebibyte);
    output.line('b', mebibyte);
    const waiting = output.ready()!;
    sink.end();
    await clock.run(waiting);
    assert.deepEqual(ends, ['over']);
    output.line('c');
    assert.equal(sink.chunks, 1);
  });
});

test('an end comes after all that was written, to a reader that is slow, too', () => {
  const { output, sink, text, ends } = opened();
  sink.takesMore = false;
  output.line('a', mebibyte);
  output.line('b', mebibyte);
  output.line('c');
  output.end();
  assert.equal(sink.isClosed, true);
  assert.equal(sink.wasCut, false);
  assert.ok(text().endsWith('\nc\n'));
  assert.deepEqual(ends, ['over']);
});
