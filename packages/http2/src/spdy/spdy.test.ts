import assert from 'node:assert/strict';
import { Duplex } from 'node:stream';
import { test } from 'node:test';
import { constants, deflateRawSync, deflateSync } from 'node:zlib';
import { SpdyConnection } from './connection.ts';
import { HeaderWriter, SpdyError } from './frames.ts';
import { dictionaryBytes, HeaderReader } from './headers.ts';
import { SpdyServerConnection } from './server-connection.ts';
import type { SpdyServerStream } from './server-connection.ts';

/** Two ends of a connection in memory. */
function pair(): [Duplex, Duplex] {
  const make = (other: () => Duplex): Duplex =>
    new Duplex({
      read() {},
      write(chunk: Buffer, _encoding, done) {
        other().push(chunk);
        done();
      },
      final(done) {
        other().push(null);
        done();
      },
    });
  const a: Duplex = make(() => b);
  const b: Duplex = make(() => a);
  return [a, b];
}

test('a client and a server exchange streams with headers, data in both directions and their ends', async () => {
  const [near, far] = pair();
  const client = new SpdyConnection(near, () => {});
  const seen: string[] = [];
  const opened: SpdyServerStream[] = [];
  const server = new SpdyServerConnection({
    socket: far,
    head: Buffer.alloc(0),
    onStream(stream) {
      opened.push(stream);
      return {
        data: (piece) => {
          seen.push(`${stream.headers['streamtype']}: ${piece.toString()}`);
          stream.write(Buffer.from(piece.toString().toUpperCase()));
        },
        end: () => {
          seen.push(`${stream.headers['streamtype']} ended`);
          stream.finish();
        },
      };
    },
    onClose: () => seen.push('closed'),
  });
  const { promise, resolve } = Promise.withResolvers<string>();
  let answer = '';
  const error = client.open({ streamtype: 'error' }, { data: () => {}, end: () => {} });
  const stdin = client.open(
    { streamtype: 'stdin', port: '80' },
    { data: (piece) => (answer += piece.toString()), end: () => resolve(answer) },
  );
  client.write(stdin, Buffer.from('hello'));
  client.finish(stdin);
  client.finish(error);
  assert.equal(await promise, 'HELLO');
  assert.deepEqual(
    opened.map(({ headers }) => headers),
    [{ streamtype: 'error' }, { streamtype: 'stdin', port: '80' }],
  );
  server.close();
  await new Promise((done) => far.once('close', done));
  assert.deepEqual(seen, ['stdin: hello', 'stdin ended', 'error ended', 'closed']);
});

test('compressed headers refer to the dictionary and to earlier blocks', () => {
  const text = (word: string): Buffer => {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(Buffer.byteLength(word));
    return Buffer.concat([length, Buffer.from(word)]);
  };
  const block = (name: string, value: string): Buffer => {
    const count = Buffer.alloc(4);
    count.writeUInt32BE(1);
    return Buffer.concat([count, text(name), text(value)]);
  };
  const plain = block('content-type', 'a'.repeat(50));
  const finishFlush = constants.Z_SYNC_FLUSH;
  const first = deflateSync(plain, { dictionary: dictionaryBytes(), finishFlush });
  // A later block of the stream has no head, and can refer to everything before it.
  const second = deflateRawSync(plain, { dictionary: Buffer.concat([dictionaryBytes(), plain]), finishFlush });
  assert.ok(second.length < 20, 'the second block refers to the first');
  const reader = new HeaderReader();
  assert.deepEqual(reader.read(first), { 'content-type': 'a'.repeat(50) });
  assert.deepEqual(reader.read(second), { 'content-type': 'a'.repeat(50) });
  assert.deepEqual(new HeaderReader().read(new HeaderWriter().write({ StreamType: 'data' })), { streamtype: 'data' });
  assert.throws(() => new HeaderReader().read(Buffer.from('no headers at all')), SpdyError);
});
