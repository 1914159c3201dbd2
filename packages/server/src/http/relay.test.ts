import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import type { Sink } from './message.ts';
import { pass } from './relay.ts';

class RecordingSink implements Sink {
  /** The buffers as they were passed. */
  readonly written: Uint8Array[] = [];
  isWritten = true;
  onEnd: () => void = () => {};

  write(chunk: Uint8Array): boolean {
    this.written.push(chunk);
    return true;
  }

  isFlushed(): boolean {
    return this.isWritten;
  }

  end(): void {
    this.onEnd();
  }

  onDrain(): void {}

  onClose(): void {}
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Passes two batches, of two pieces each. */
async function passBatches(sink: RecordingSink): Promise<string[]> {
  const response = new PassThrough();
  pass(response, sink);
  const seen: string[] = [];
  for (const letter of ['a', 'b']) {
    for (let piece = 0; piece < 2; piece++) response.write(letter.repeat(4_096));
    while (sink.written.length < seen.length + 1) await turn();
    seen.push(sink.written.map((chunk) => String.fromCharCode(chunk[0]!, chunk.at(-1)!)).join(' '));
  }
  return seen;
}

test('pieces that arrive in one turn are written together', async () => {
  const sink = new RecordingSink();
  await passBatches(sink);
  assert.deepEqual(
    sink.written.map(({ length }) => length),
    [8_192, 8_192],
  );
});

test('a buffer is not used again while the client has not received it', async () => {
  const sink = new RecordingSink();
  sink.isWritten = false;
  assert.deepEqual(await passBatches(sink), ['aa', 'aa bb']);
});

test('a buffer that the client has received is used again', async () => {
  const sink = new RecordingSink();
  await passBatches(sink);
  const [first, second] = sink.written;
  assert.equal(first!.buffer, second!.buffer);
});

test('the last pieces are written before the end', async () => {
  const sink = new RecordingSink();
  const response = new PassThrough();
  const ended = new Promise<void>((resolve) => (sink.onEnd = resolve));
  pass(response, sink);
  response.write('first');
  response.end('last');
  await ended;
  assert.equal(Buffer.concat(sink.written).toString(), 'firstlast');
});
