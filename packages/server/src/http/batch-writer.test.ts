import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BatchWriter } from './batch-writer.ts';
import type { BatchTarget } from './batch-writer.ts';

const kibibyte = 1024;
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Accepts everything, but is full after each write until `drain`. */
class SlowTarget implements BatchTarget {
  readonly written: Uint8Array[] = [];
  isFlushed = (): boolean => this.#unread === 0;
  drained: () => void = () => {};
  #unread = 0;

  write(bytes: Uint8Array): boolean {
    this.written.push(bytes);
    this.#unread += bytes.length;
    return false;
  }

  onDrain(callback: () => void): void {
    this.drained = callback;
  }

  drain(): void {
    this.#unread = 0;
    this.drained();
  }

  get lengths(): number[] {
    return this.written.map(({ length }) => length);
  }
}

class Source {
  isPaused = false;

  pause(): void {
    this.isPaused = true;
  }

  resume(): void {
    this.isPaused = false;
  }
}

test('bytes are collected while the target has not drained', async () => {
  const target = new SlowTarget();
  const writer = new BatchWriter(target, new Source());
  writer.append(Buffer.from('a'));
  await turn();
  writer.append(Buffer.from('b'));
  await turn();
  writer.append(Buffer.from('c'));
  await turn();
  assert.deepEqual(target.lengths, [1]);
  target.drain();
  assert.deepEqual(target.lengths, [1, 2]);
});

test('the source is paused when another batch is full before the target has drained', async () => {
  const target = new SlowTarget();
  const source = new Source();
  const writer = new BatchWriter(target, source);
  writer.append(Buffer.alloc(64 * kibibyte));
  assert.deepEqual([target.lengths, source.isPaused], [[64 * kibibyte], false]);
  writer.append(Buffer.alloc(63 * kibibyte));
  await turn();
  assert.deepEqual([target.lengths, source.isPaused], [[64 * kibibyte], false]);
  writer.append(Buffer.alloc(2 * kibibyte));
  await turn();
  assert.deepEqual([target.lengths, source.isPaused], [[64 * kibibyte, 64 * kibibyte], true]);
  target.drain();
  assert.deepEqual(
    [target.lengths, source.isPaused],
    [[64 * kibibyte, 64 * kibibyte, kibibyte], false],
    'the rest is written, and the source continues',
  );
});

test('the bytes may be changed after they were appended', async () => {
  for (const length of [10, 10 * kibibyte]) {
    const target = new SlowTarget();
    const writer = new BatchWriter(target, new Source());
    const shared = Buffer.alloc(length, 'a');
    writer.append(shared);
    shared.fill('b');
    writer.append(shared);
    writer.flush();
    assert.equal(Buffer.from(target.written[0]!).toString(), 'a'.repeat(length) + 'b'.repeat(length));
  }
});

test('a buffer is used again only after the target has its bytes, and never by another stream', () => {
  const [first, second] = [new SlowTarget(), new SlowTarget()];
  const writers = [first, second].map((target) => new BatchWriter(target, new Source()));
  const write = (index: number, text: string): void => {
    writers[index]!.append(Buffer.alloc(8 * kibibyte, text));
    writers[index]!.flush();
  };
  write(0, 'a');
  write(0, 'b');
  const [a, b] = first.written as [Uint8Array, Uint8Array];
  assert.equal(a.buffer === b.buffer, false);
  assert.deepEqual([a, b], [Buffer.alloc(8 * kibibyte, 'a'), Buffer.alloc(8 * kibibyte, 'b')]);
  first.drain();
  write(1, 'c');
  write(0, 'd');
  const isUsedAgain = (bytes: Uint8Array): boolean => [a, b].some(({ buffer }) => buffer === bytes.buffer);
  assert.deepEqual([second.written[0]!, first.written[2]!].map(isUsedAgain), [false, true]);
});
