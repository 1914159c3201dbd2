import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom } from '@hangar/core';
import type { Random } from '@hangar/core';
import { dataHead, flagFin, SpdyError, SpdyReader } from '@hangar/http2/spdy';
import { clientFrame } from './testing/websocket-client.ts';
import { FrameReader, WebSocketError } from './websocket/frames.ts';

const below = (random: Random, max: number): number => Math.floor(random.fraction() * max);

function bytesOf(random: Random, length: number): Buffer {
  return Buffer.from(Array.from({ length }, () => below(random, 256)));
}

function* split(bytes: Buffer, random: Random): Generator<Buffer> {
  for (let at = 0; at < bytes.length;) {
    const end = at + 1 + below(random, 9);
    yield bytes.subarray(at, end);
    at = end;
  }
}

/** Reads frames of a client in pieces, and returns the messages. */
function messagesOf(pieces: Iterable<Buffer>): string[] {
  const messages: string[] = [];
  let current = '';
  const reader = new FrameReader({
    data: (piece, { isFirst, isLast }) => {
      current = (isFirst ? '' : current) + piece.toString('hex');
      if (isLast) messages.push(current);
    },
    ping: (payload) => void messages.push(`ping ${payload.toString('hex')}`),
    close: () => void messages.push('close'),
  });
  for (const piece of pieces) reader.push(piece);
  return messages;
}

test('messages of a client are the same however their bytes are split', () => {
  for (let seed = 0; seed < 200; seed++) {
    const random = seededRandom(seed);
    const expected: string[] = [];
    const frames: Buffer[] = [];
    for (let i = 0; i < 5; i++) {
      const payload = bytesOf(random, below(random, 300));
      expected.push(payload.toString('hex'));
      const middle = below(random, payload.length + 1);
      frames.push(clientFrame(2, payload.subarray(0, middle), { isFinal: false }));
      if (below(random, 2) === 0) {
        frames.push(clientFrame(9, Buffer.from([i])));
        expected.splice(-1, 0, `ping 0${i}`);
      }
      frames.push(clientFrame(0, payload.subarray(middle)));
    }
    frames.push(clientFrame(8, Buffer.alloc(0)), clientFrame(2, Buffer.from('after the close')));
    expected.push('close');
    assert.deepEqual(messagesOf(split(Buffer.concat(frames), random)), expected, `seed ${seed}`);
  }
});

test('random bytes of a client are a WebSocketError or data, nothing else', () => {
  for (let seed = 0; seed < 2_000; seed++) {
    const random = seededRandom(seed);
    try {
      messagesOf(split(bytesOf(random, 200), random));
    } catch (error) {
      assert.ok(error instanceof WebSocketError, `seed ${seed}: ${String(error)}`);
    }
  }
});

function eventsOf(pieces: Iterable<Buffer>): string[] {
  const events: string[] = [];
  const data = new Map<number, string>();
  const reader = new SpdyReader({
    data: (id, piece) => void data.set(id, (data.get(id) ?? '') + piece.toString('hex')),
    fin: (id) => void events.push(`fin ${id} ${data.get(id) ?? ''}`),
    reset: (id) => void events.push(`reset ${id}`),
    ping: (id) => void events.push(`ping ${id.toString('hex')}`),
  });
  for (const piece of pieces) reader.push(piece);
  return events;
}

const control = (type: number, body: Buffer): Buffer => {
  const head = Buffer.from([0x80, 3, 0, type, 0, 0, 0, body.length]);
  return Buffer.concat([head, body]);
};

test('frames of a kubelet are the same however their bytes are split', () => {
  for (let seed = 0; seed < 200; seed++) {
    const random = seededRandom(seed);
    const [first, second] = [bytesOf(random, below(random, 100)), bytesOf(random, 1 + below(random, 100))];
    const frames = [
      control(2, Buffer.concat([Buffer.from([0, 0, 0, 1]), bytesOf(random, 20)])),
      ...(first.length > 0 ? [dataHead(1, first.length, 0), first] : []),
      control(6, Buffer.from([0, 0, 0, 2])),
      control(9, Buffer.alloc(8)),
      control(4, Buffer.alloc(4)),
      dataHead(1, second.length, flagFin),
      second,
      dataHead(3, 0, flagFin),
      control(3, Buffer.from([0, 0, 0, 5, 0, 0, 0, 1])),
      control(7, Buffer.alloc(8)),
    ];
    assert.deepEqual(
      eventsOf(split(Buffer.concat(frames), random)),
      ['ping 00000002', `fin 1 ${first.toString('hex')}${second.toString('hex')}`, 'fin 3 ', 'reset 5'],
      `seed ${seed}`,
    );
  }
});

test('random bytes of a kubelet are a SpdyError or data, nothing else', () => {
  for (let seed = 0; seed < 2_000; seed++) {
    const random = seededRandom(seed);
    try {
      eventsOf(split(bytesOf(random, 200), random));
    } catch (error) {
      assert.ok(error instanceof SpdyError, `seed ${seed}: ${String(error)}`);
    }
  }
});
