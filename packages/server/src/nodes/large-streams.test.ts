/** Streams of megabytes in small pieces: a buffer that is used again too early would change their content. */

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { connect } from 'node:http2';
import { connect as connectTcp } from 'node:net';
import type { Readable, Writable } from 'node:stream';
import { test } from 'node:test';
import { administrator } from '../testing/authentication.ts';
import type { NodeDialer } from './dialer.ts';
import { nodeAddress, pods, startCluster } from './testing/cluster.ts';
import { startKubelet } from './testing/kubelet.ts';

const hosts = [nodeAddress];
/** Shorter and longer than a batch, and longer than a record of TLS. */
const lengths = [1, 100, 1_000, 4_000, 16_384, 70_000];
const rounds = 90;
const piecesTotal = rounds * lengths.length;
const bytesTotal = rounds * lengths.reduce((sum, length) => sum + length);

/** Writes pieces that differ from each other. Returns the digest of all. Stops if the stream is closed. */
async function writePieces(stream: Writable, name = ''): Promise<string> {
  const hash = createHash('sha256');
  for (let at = 0; at < piecesTotal && !stream.destroyed; at++) {
    const piece = Buffer.alloc(lengths[at % lengths.length]!, `${name}${at}`);
    hash.update(piece);
    if (!stream.write(piece)) await drainedOrClosed(stream);
    // Pieces arrive in one turn of the event loop, and in several.
    if (at % 7 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  return hash.digest('hex');
}

const drainedOrClosed = (stream: Writable): Promise<void> =>
  new Promise((resolve) => stream.once('drain', resolve).once('close', resolve));

/** Returns the digest of the pieces. The reader pauses, so that the server has to wait. */
async function digestOf(stream: Readable): Promise<string> {
  const hash = createHash('sha256');
  let chunks = 0;
  let bytes = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    hash.update(chunk);
    if ((bytes += chunk.length) >= bytesTotal) break;
    if (++chunks % 50 === 0) await new Promise((resolve) => setTimeout(resolve, 1));
  }
  return hash.digest('hex');
}

test('a large log of small pieces arrives unchanged over HTTP/1.1 and over HTTP/2', async () => {
  await using cluster = await startCluster();
  const sent: Promise<string>[] = [];
  await using kubelet = await startKubelet({
    authority: cluster.authority,
    hosts,
    handler: (_, response) => void sent.push(writePieces(response)),
  });
  await cluster.populate(kubelet.port);
  const path = `${pods}/web/log?follow=true`;
  assert.equal(await digestOf(await cluster.open('GET', path)), await sent[0]);

  const session = connect(`https://127.0.0.1:${cluster.port}`, { ca: cluster.authority.certificate });
  try {
    const stream = session.request({ ':path': path, authorization: `Bearer ${administrator.token}` });
    assert.equal(await digestOf(stream), await sent[1]);
  } finally {
    session.destroy();
  }
});

for (const isDirect of [true, false]) {
  const name = isDirect ? 'a direct' : 'a tunneled';
  test(`large streams of ${name} upgraded connection arrive unchanged in both directions`, () => echoes(isDirect));
}

async function echoes(isDirect: boolean): Promise<void> {
  let port = 0;
  const tunnel: NodeDialer = { dial: async () => connectTcp(port, '127.0.0.1') };
  await using cluster = await startCluster(isDirect ? {} : { nodes: { tunnel: () => tunnel } });
  await using kubelet = await startKubelet({
    authority: cluster.authority,
    hosts,
    onUpgrade: (_, socket) => {
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n\r\n');
      socket.pipe(socket);
    },
  });
  ({ port } = kubelet);
  await cluster.populate(port);
  const headers = { upgrade: 'SPDY/3.1', 'x-stream-protocol-version': 'v4.channel.k8s.io' };
  const { socket } = await cluster.upgrade('POST', `${pods}/web/exec?command=cat&stdin=1&stdout=1`, headers);
  const [received, sent] = await Promise.all([digestOf(socket), writePieces(socket)]);
  assert.equal(received, sent);
}

test('streams of two control planes that pause and close at any time do not mix', async () => {
  await using opened = new AsyncDisposableStack();
  const streams = await Promise.all(
    ['red', 'blue'].map(async (plane) => {
      const cluster = opened.use(await startCluster());
      const sent = new Map<string, Promise<string>>();
      const { authority } = cluster;
      const kubelet = opened.use(
        await startKubelet({
          authority,
          hosts,
          handler: ({ url }, response) => void sent.set('log', writePieces(response, `${plane} ${url}`)),
          onUpgrade({ url }, socket) {
            socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n\r\n');
            socket.resume();
            sent.set(url!.split('command=')[1]!, writePieces(socket, `${plane} ${url}`));
          },
        }),
      );
      await cluster.populate(kubelet.port);
      return { cluster, sent };
    }),
  );
  const exec = async ({ cluster }: (typeof streams)[0], command: string): Promise<Readable> => {
    const headers = { upgrade: 'SPDY/3.1', 'x-stream-protocol-version': 'v4.channel.k8s.io' };
    return (await cluster.upgrade('POST', `${pods}/web/exec?command=${command}`, headers)).socket;
  };
  const complete = streams.flatMap((one) => [
    async (): Promise<void> => {
      const stream = await exec(one, 'complete');
      assert.equal(await digestOf(stream), await one.sent.get('complete'));
    },
    async (): Promise<void> => {
      const stream = await one.cluster.open('GET', `${pods}/web/log?follow=true`);
      assert.equal(await digestOf(stream), await one.sent.get('log'));
    },
  ]);
  const closing = streams.map((one) => async (): Promise<void> => {
    for (let round = 0; round < 5; round++) {
      const stream = await exec(one, 'closed');
      let bytes = 0;
      for await (const chunk of stream as AsyncIterable<Buffer>) if ((bytes += chunk.length) > round * 300_000) break;
      await one.sent.get('closed');
    }
  });
  await Promise.all([...complete, ...closing].map((run) => run()));
});
