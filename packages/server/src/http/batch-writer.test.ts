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

/** Always keeps up. Like a TLS socket, it reports a write as flushed at the end of the turn. */
class FastTarget extends SlowTarget {
  override write(bytes: Uint8Array): boolean {
    super.write(bytes);
    setImmediate(() => this.drain());
    return true;
  }
}

/** Like a TCP socket, it reports a write as flushed at once. */
class AtOnceTarget extends FastTarget {
  override isFlushed = (): boolean => true;
}

/** Does not report whether writes are flushed. */
const unknowingTarget = (): FastTarget => Object.assign(new FastTarget(), { isFlushed: undefined });

const fastTargets = [() => new FastTarget(), () => new AtOnceTarget(), unknowingTarget];

test('a short piece is written at once, and further pieces of its turn together', async () => {
  for (const newTarget of fastTargets) {
    const target = newTarget();
    const writer = new BatchWriter(target, new Source());
    for (const round of [1, 2, 3]) {
      writer.append(Buffer.from('one'));
      assert.deepEqual(target.lengths, Array<number>(round).fill(3));
      await turn();
    }
    for (const text of ['a', 'bc', 'def']) writer.append(Buffer.from(text));
    assert.deepEqual(target.lengths, [3, 3, 3, 1]);
    await turn();
    assert.deepEqual(target.lengths, [3, 3, 3, 1, 5]);
  }
});

test('short pieces of several turns are written together until the target has the first one', async () => {
  const target = new SlowTarget();
  target.write = (bytes) => (SlowTarget.prototype.write.call(target, bytes), true);
  const writer = new BatchWriter(target, new Source());
  writer.append(Buffer.from('a'));
  await turn();
  for (const text of ['b', 'c']) writer.append(Buffer.from(text));
  assert.deepEqual(target.lengths, [1]);
  await turn();
  assert.deepEqual(target.lengths, [1, 2]);
});

test('after a turn with several pieces, all pieces of the next turn are written together', async () => {
  for (const newTarget of fastTargets) await assertTogether(newTarget());
});

async function assertTogether(target: FastTarget): Promise<void> {
  const writer = new BatchWriter(target, new Source());
  const append = async (count: number): Promise<void> => {
    for (let piece = 0; piece < count; piece++) writer.append(Buffer.from('x'));
    await turn();
  };
  await append(3);
  await append(4);
  assert.deepEqual(target.lengths, [1, 2, 4]);
  await append(1);
  writer.append(Buffer.from('x'));
  assert.deepEqual(target.lengths, [1, 2, 4, 1, 1], 'a turn with one piece ends the rule');
}

test('a long piece waits for the end of its turn, and an empty one is not written', async () => {
  const target = new FastTarget();
  const writer = new BatchWriter(target, new Source());
  writer.append(Buffer.alloc(0));
  writer.append(Buffer.alloc(16 * kibibyte));
  assert.deepEqual(target.lengths, []);
  await turn();
  assert.deepEqual(target.lengths, [16 * kibibyte]);
});

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
  target.drain();
  writer.append(Buffer.from('d'));
  assert.deepEqual(target.lengths, [1, 2, 1], 'a short piece after a wait is written at once');
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
    assert.equal(Buffer.concat(target.written).toString(), 'a'.repeat(length) + 'b'.repeat(length));
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
