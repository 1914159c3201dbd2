import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ChunkDecoder } from './chunked-body.ts';
import { nodeAddress, pods, startCluster } from './testing/cluster.ts';
import { startKubelet } from './testing/kubelet.ts';

/** Decodes pieces of the given length. Returns the text, and whether it is complete. */
function decoded(text: string, pieceLength = text.length): [text: string, isWhole: boolean] {
  let data = '';
  const decoder = new ChunkDecoder((bytes, start, end) => (data += bytes.toString('latin1', start, end)));
  for (let at = 0; at < text.length; at += pieceLength) {
    if (decoder.push(Buffer.from(text.slice(at, at + pieceLength), 'latin1'))) return [data, true];
  }
  return [data, false];
}

const whole = '5\r\nhello\r\n00a;name="value"\r\n0123456789\r\nB\r\n, \r\n0\r\n\r\n12\r\n0\r\nA: b\r\nC: d\r\n\r\n';

test('a chunked body is decoded in pieces of any length', () => {
  for (let length = 1; length <= whole.length; length++) {
    assert.deepEqual(decoded(whole, length), ['hello0123456789, \r\n0\r\n\r\n12', true], `pieces of ${length} bytes`);
  }
  assert.deepEqual(decoded('0\r\n\r\n5\r\nafter\r\n'), ['', true]);
});

test('a body without its last chunk is not complete', () => {
  for (let length = 0; length < whole.length; length++) {
    assert.equal(decoded(whole.slice(0, length))[1], false, `${length} bytes`);
  }
});

test('a malformed body throws', () => {
  const long = 'x'.repeat(20_000);
  const malformed = [
    '\r\nhello',
    'g\r\n',
    '-1\r\n',
    ' 5\r\nhello\r\n',
    '5 \r\nhello\r\n',
    '0x5\r\nhello\r\n',
    '5\nhello\r\n',
    '5\r\nhello!\r\n',
    '5\r\nhello\r!',
    '1000000000000\r\n',
    `5;${long}\r\n`,
    `0\r\n${long}\r\n\r\n`,
  ];
  for (const text of malformed) {
    assert.throws(() => decoded(text), { code: 'ProtocolError' }, JSON.stringify(text.slice(0, 40)));
  }
});

test('extensions of many chunks are not limited together', () => {
  const chunk = `5;${'x'.repeat(10_000)}\r\nhello\r\n`;
  assert.deepEqual(decoded(`${chunk}${chunk}${chunk}0\r\n\r\n`), ['hellohellohello', true]);
});

const ok = 'HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n';
const chunkedHead = `${ok}Transfer-Encoding: chunked\r\n\r\n`;

test('the body of a followed log may have any framing', async () => {
  await using cluster = await startCluster();
  let answer = '';
  await using kubelet = await startKubelet({
    authority: cluster.authority,
    hosts: [nodeAddress],
    handler: ({ socket }) => void socket.end(answer),
  });
  await cluster.populate(kubelet.port);
  const path = `${pods}/web/log?follow=true`;
  const complete = [
    `${chunkedHead}5\r\nline\n\r\n0\r\n\r\n`,
    `HTTP/1.1 103 Early Hints\r\nLink: <a>\r\n\r\n${chunkedHead}5\r\nline\n\r\n0\r\n\r\n`,
    `${ok}Content-Length: 5\r\n\r\nline\n`,
    `${ok}Connection: close\r\n\r\nline\n`,
  ];
  for (answer of complete) {
    const { status, text } = await cluster.request('GET', path);
    assert.deepEqual([status, text], [200, 'line\n'], answer);
  }
  const incomplete = [
    `${chunkedHead}5\r\nline\n\r\n`,
    `${chunkedHead}5\r\nline\n\r\nnot a chunk`,
    `HTTP/1.1 103 Early Hints\r\n\r\n${chunkedHead}5\r\nline\n\r\n`,
    `${ok}Content-Length: 6\r\n\r\nline\n`,
  ];
  for (answer of incomplete) await assert.rejects(cluster.request('GET', path), { code: 'ECONNRESET' }, answer);
  for (answer of [`${ok}X: ${'x'.repeat(100_000)}\r\n\r\n`, ok.slice(0, 30), 'no head\r\n\r\n']) {
    assert.equal((await cluster.request('GET', path)).status, 500, answer.slice(0, 40));
  }
  await cluster.idle();
});
