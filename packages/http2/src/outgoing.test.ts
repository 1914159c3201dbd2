import { test } from 'node:test';
import { deepEqual, equal } from 'node:assert/strict';
import { Duplex } from 'node:stream';
import { Outgoing } from './outgoing.ts';

/** Records the pieces of each write. */
class Recorder extends Duplex {
  readonly writes: Buffer[][] = [];

  override _write(piece: Buffer, _: string, done: () => void): void {
    this.writes.push([piece]);
    done();
  }

  override _writev(pieces: { chunk: Buffer }[], done: () => void): void {
    this.writes.push(pieces.map(({ chunk }) => chunk));
    done();
  }

  override _read(): void {}

  get bytes(): Buffer {
    return Buffer.concat(this.writes.flat());
  }
}

function outgoing(): { socket: Recorder; out: Outgoing } {
  const socket = new Recorder();
  return { socket, out: new Outgoing(socket, () => undefined) };
}

test('small frames that were created together are one buffer in one write', () => {
  const { socket, out } = outgoing();
  const frames = [Buffer.from('a'), Buffer.from('bc'), Buffer.from('d')];
  for (const frame of frames) out.append(frame);
  out.flush();
  deepEqual(
    socket.writes.map((pieces) => pieces.map(String)),
    [['abcd']],
  );
});

test('large frames are one write in their order, without a copy', () => {
  const { socket, out } = outgoing();
  const frames = Array.from({ length: 6 }, (_, i) => Buffer.alloc(5_000, i));
  for (const frame of frames) out.append(frame);
  out.flush();
  equal(socket.writes.length, 1);
  deepEqual(socket.bytes, Buffer.concat(frames));
  equal(socket.writes[0]![0]!.buffer, frames[0]!.buffer);
});
