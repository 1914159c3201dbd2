import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import type { AddressInfo } from 'node:net';
import { describe, test } from 'node:test';
import { seededRandom } from '@hangar/core';
import { Scheduler } from '@hangar/core/simulation';
import { frame, frameType, setting, settingsFrame } from '@hangar/http2';
import { heapBytes } from '../http/h2/testing/heap.ts';
import { get, headers, hello, number32, RawClient } from '../http/h2/testing/raw-client.ts';
import { answerHttp1 } from '../http/http1.ts';
import type { Answer, ServerRequest, Sink } from '../http/message.ts';
import { bodyOf } from './pieces.ts';
import type { Pieces } from './pieces.ts';

const mebibyte = 1024 * 1024;
const piecesCount = 40;

interface Made {
  count: number;
  isOver: boolean;
  readonly pieces: WeakRef<Uint8Array>[];
}

/** Pieces of a list that is too long for a Content-Length. Each has its own memory. */
function* longList(made: Made): Pieces {
  try {
    for (; made.count < piecesCount; made.count++) {
      const piece = Buffer.alloc(mebibyte, 0x61 + (made.count % 26));
      made.pieces.push(new WeakRef(piece));
      yield piece;
    }
  } finally {
    made.isOver = true;
  }
}

async function longAnswer(clock: Scheduler): Promise<{ answer: Answer; made: Made }> {
  const made: Made = { count: 0, isOver: false, pieces: [] };
  const { rest } = await bodyOf(longList(made), clock);
  assert.ok(rest, 'the list is sent while it is made');
  assert.ok(rest.isFinite, 'a server that closes does not end it');
  return { answer: { status: 200, headers: {}, body: rest }, made };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Advances virtual time until the promise settles. */
async function passing<T>(clock: Scheduler, promise: Promise<T>): Promise<T> {
  let isDone = false;
  const done = promise.finally(() => (isDone = true));
  done.catch(() => undefined);
  while (!isDone) {
    await clock.advance(5_000);
    await turn();
  }
  return done;
}

describe('a list that is sent while it is made', () => {
  test('is aborted when its client over HTTP/2 takes nothing for a minute, and not when it takes it slowly', async () => {
    const clock = new Scheduler(seededRandom(1));
    const lists = [await longAnswer(clock), await longAnswer(clock)];
    const answers = lists.map(({ answer }) => answer);
    await using client = await RawClient.open(() => Promise.resolve(answers.shift()!), clock);
    client.send(hello, settingsFrame([[setting.initialWindowSize, 0]]), headers(1, get), headers(3, get));
    await client.settled();
    for (let times = 1; times <= 12; times++) {
      client.send(frame(frameType.windowUpdate, 0, 3, number32(17_000)));
      client.send(frame(frameType.windowUpdate, 0, 0, number32(17_000)));
      await client.body(3, 17_000 * times);
      await clock.advance(30_000);
    }
    await client.of(frameType.resetStream, 1);
    assert.ok(lists[0]!.made.isOver, 'its pieces are released');
    await client.settled();
    assert.ok(!client.frames.some(({ type, streamId }) => type === frameType.resetStream && streamId === 3));
  });

  test('is aborted when its client over HTTP/1.1 takes nothing for a minute', async () => {
    const clock = new Scheduler(seededRandom(1));
    const { answer, made } = await longAnswer(clock);
    const request = { method: 'GET', header: () => undefined } as unknown as ServerRequest;
    const server = createServer((_, response) => answerHttp1(response, answer, request, clock));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    try {
      socket.on('error', () => undefined);
      socket.pause();
      const accepted = once(server, 'request');
      socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
      const [, response] = await accepted;
      await passing(clock, once(response, 'close'));
      assert.ok(clock.monotonicMs() >= 60_000);
      assert.ok(!response.writableFinished, 'the client sees an error, not an end');
      while (!made.isOver) await turn();
    } finally {
      socket.destroy();
      server.close();
    }
  });

  test('arrives whole, in writes that are small enough to see that they are taken', async () => {
    const clock = new Scheduler(seededRandom(1));
    const { answer } = await longAnswer(clock);
    const hash: number[] = [];
    const written: number[] = [];
    let drain = (): void => {};
    const sink: Sink = {
      write(chunk) {
        written.push(chunk.length);
        hash.push(chunk[0]!);
        setImmediate(() => drain());
        return false;
      },
      end: () => written.push(0),
      onDrain: (callback) => (drain = callback),
      onClose: () => undefined,
    };
    assert.ok('start' in answer.body);
    answer.body.start(sink);
    while (written.at(-1) !== 0) await turn();
    assert.equal(
      written.reduce((sum, length) => sum + length),
      piecesCount * mebibyte,
    );
    assert.ok(written.every((length) => length <= 16 * 1024));
    const order = Array.from({ length: piecesCount }, (_, at) => 0x61 + (at % 26));
    assert.deepEqual(
      hash.filter((_, at) => at % 64 === 0),
      order,
    );
  });

  test('does not keep the pieces that were written', async () => {
    const clock = new Scheduler(seededRandom(1));
    const { answer, made } = await longAnswer(clock);
    let writtenBytes = 0;
    let drain = (): void => {};
    const sink: Sink = {
      write: (chunk) => (writtenBytes += chunk.length) % mebibyte !== 0,
      end: () => undefined,
      onDrain: (callback) => (drain = callback),
      onClose: () => undefined,
    };
    assert.ok('start' in answer.body);
    answer.body.start(sink);
    for (let at = 0; at < 20; at++) {
      await turn();
      drain();
    }
    await turn();
    heapBytes();
    const kept = made.pieces.slice(0, 20).filter((piece) => piece.deref() !== undefined).length;
    assert.ok(kept <= 2, `${kept} of 20 are kept`);
  });
});
