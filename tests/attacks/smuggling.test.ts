/**
 * Requests hidden inside of others. This server and a proxy before it must never disagree on where a request ends: an ambiguous one is
 * refused, and the connection with it, so that nothing after it is read as a request. Each of these carries `DELETE trinket` where a
 * lenient parser would find a second request.
 */

import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import { headers, hello, RawFrames } from './testing/raw-frames.ts';
import type { Pairs } from './testing/raw-frames.ts';
import { Victim, mine } from './testing/victim.ts';

let victim: Victim;
before(async () => void (victim = await Victim.start()));
after(() => victim[Symbol.asyncDispose]());

/** The hidden request would be sent as the tenant, and would be allowed: if it has no effect, it was not parsed. */
const hidden = (): string =>
  `DELETE ${mine}/configmaps/trinket HTTP/1.1\r\nHost: x\r\n${victim.tenant.credentials}\r\n`;

afterEach(async () => {
  assert.equal(
    (await victim.tenant.get(`${mine}/configmaps/trinket`)).metadata.name,
    'trinket',
    'the hidden request was read',
  );
});

/** Returns the head of a creation with these lines, and the body. */
const post = (lines: string, body: string): string =>
  `POST ${mine}/configmaps?dryRun=All HTTP/1.1\r\nHost: x\r\n${victim.tenant.credentials}Content-Type: application/json\r\n${lines}\r\n${body}`;

const statuses = (text: string): string[] => [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => status!);

/** Refused once, or closed without an answer; never two answers, and the connection is closed. */
async function isRefused(bytes: string): Promise<void> {
  const text = await victim.tenant.raw(Buffer.from(bytes, 'latin1'));
  assert.deepEqual(
    statuses(text).filter((status) => status !== '400'),
    [],
    text.slice(0, 500),
  );
  assert.ok(statuses(text).length <= 1, text);
}

const empty = '0\r\n\r\n';

describe('HTTP/1.1: a head that can be read in two ways is refused with its connection', () => {
  const cases: Readonly<Record<string, () => string>> = {
    'a length and chunks': () =>
      post(`Content-Length: ${empty.length}\r\nTransfer-Encoding: chunked\r\n`, empty + hidden()),
    'chunks and a length': () => post(`Transfer-Encoding: chunked\r\nContent-Length: 4\r\n`, empty + hidden()),
    'two different lengths': () => post(`Content-Length: 2\r\nContent-Length: 0\r\n`, `{}${hidden()}`),
    'two equal lengths': () => post(`Content-Length: 2\r\nContent-Length: 2\r\n`, `{}${hidden()}`),
    'a list of lengths': () => post(`Content-Length: 2, 2\r\n`, `{}${hidden()}`),
    'a length with a sign': () => post(`Content-Length: +2\r\n`, `{}${hidden()}`),
    'a negative length': () => post(`Content-Length: -1\r\n`, hidden()),
    'a length in hexadecimal': () => post(`Content-Length: 0x2\r\n`, `{}${hidden()}`),
    'a length with text behind it': () => post(`Content-Length: 2a\r\n`, `{}${hidden()}`),
    'an empty length': () => post(`Content-Length: \r\n`, hidden()),
    'a length that is too large': () => post(`Content-Length: 18446744073709551618\r\n`, `{}${hidden()}`),
    'a space before the colon': () => post(`Content-Length : 0\r\n`, hidden()),
    'a space before the colon of an encoding': () =>
      post(`Content-Length: 5\r\nTransfer-Encoding : chunked\r\n`, empty + hidden()),
    'a header that is folded': () =>
      post(`Content-Length: 5\r\nX: a\r\n Transfer-Encoding: chunked\r\n`, empty + hidden()),
    'an encoding that is folded': () =>
      post(`Transfer-Encoding:\r\n chunked\r\nContent-Length: 5\r\n`, empty + hidden()),
    'an encoding that nobody knows': () => post(`Transfer-Encoding: xchunked\r\n`, empty + hidden()),
    'chunks that are not last': () => post(`Transfer-Encoding: chunked, identity\r\n`, empty + hidden()),
    'chunks twice': () => post(`Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n`, empty + hidden()),
    'chunks and then something else': () =>
      post(`Transfer-Encoding: chunked\r\nTransfer-Encoding: x\r\n`, empty + hidden()),
    identity: () => post(`Transfer-Encoding: identity\r\nContent-Length: 0\r\n`, hidden()),
    'an encoding after a vertical tab': () =>
      post(`Transfer-Encoding: \x0bchunked\r\nContent-Length: 5\r\n`, empty + hidden()),
    'an encoding in quotes': () => post(`Transfer-Encoding: "chunked"\r\n`, empty + hidden()),
    'an end of line without its return': () => post(`X: a\nContent-Length: 0\r\n`, hidden()),
    'a return without its end of line': () => post(`X: a\rContent-Length: 2\r\n`, `{}${hidden()}`),
    'a zero byte in a header': () => post(`X: a\0b\r\nContent-Length: 0\r\n`, hidden()),
    'a header without a name': () => post(`: a\r\nContent-Length: 0\r\n`, hidden()),
    'a header without a colon': () => post(`Transfer-Encoding chunked\r\nContent-Length: 0\r\n`, hidden()),
    'a chunk whose size is no number': () => post(`Transfer-Encoding: chunked\r\n`, `zz\r\n${hidden()}`),
    'a chunk whose size has a sign': () => post(`Transfer-Encoding: chunked\r\n`, `+2\r\n{}\r\n${empty}${hidden()}`),
    'a chunk whose size has a prefix': () => post(`Transfer-Encoding: chunked\r\n`, `0x2\r\n{}\r\n${empty}${hidden()}`),
    'a chunk whose size is too large': () =>
      post(`Transfer-Encoding: chunked\r\n`, `10000000000000002\r\n{}\r\n${empty}${hidden()}`),
    'a chunk that ends without its return': () => post(`Transfer-Encoding: chunked\r\n`, `2\n{}\n0\n\n${hidden()}`),
    'a chunk longer than it says': () => post(`Transfer-Encoding: chunked\r\n`, `1\r\n{}\r\n${empty}${hidden()}`),
    'a chunk’s extension with a line end': () =>
      post(`Transfer-Encoding: chunked\r\n`, `2;a=\nb\r\n{}\r\n${empty}${hidden()}`),
    'a line before the first one': () => ` ${post(`Content-Length: 0\r\n`, hidden())}`,
    'another version': () => post(`Content-Length: 0\r\n`, '').replace('HTTP/1.1', 'HTTP/1.2') + hidden(),
    'no version': () => `GET ${mine}/configmaps\r\n\r\n${hidden()}`,
    'HTTP/2 in plain words': () => `PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n${hidden()}`,
  };
  for (const [name, bytes] of Object.entries(cases)) test(name, () => isRefused(bytes()));

  test('no host: an ordinary refusal, and nothing behind it is read', async () => {
    await isRefused(
      `GET ${mine}/configmaps HTTP/1.1\r\n${victim.tenant.credentials}Connection: close\r\n\r\n${hidden()}`,
    );
  });
});

describe('HTTP/1.1: what a body holds is a body', () => {
  const until = (count: number) => (text: string) => statuses(text).length >= count;
  const next = (): string => `GET /version HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`;

  test('a request inside of a body by its length is not read, whatever answers the first', async () => {
    for (const path of [`${mine}/configmaps`, `${mine}/nothing`, '/version', '/healthz']) {
      const body = hidden();
      const bytes = `POST ${path} HTTP/1.1\r\nHost: x\r\n${victim.tenant.credentials}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}${next()}`;
      const text = await victim.tenant.raw(bytes);
      const [first, second, ...rest] = statuses(text);
      assert.match(first ?? '', /^4\d\d$/, text);
      assert.deepEqual([second ?? '200', rest], ['200', []], path);
    }
  });

  test('a body of a GET is not the next request', async () => {
    const body = hidden();
    const bytes = `GET ${mine}/configmaps HTTP/1.1\r\nHost: x\r\n${victim.tenant.credentials}Content-Length: ${body.length}\r\n\r\n${body}${next()}`;
    assert.deepEqual(statuses(await victim.tenant.raw(bytes, { until: until(2) })), ['200', '200']);
  });

  test('chunks, their extensions and trailers are of the body alone', async () => {
    const object = JSON.stringify({ metadata: { name: 'chunked' } });
    const chunks = `${object.length.toString(16)};a="b;c"\r\n${object}\r\n0\r\nAuthorization: Bearer other\r\n`;
    const text = await victim.tenant.raw(post('Transfer-Encoding: chunked\r\n', `${chunks}\r\n${next()}`), {
      until: until(2),
    });
    assert.deepEqual(statuses(text), ['201', '200']);
    await isRefused(post('Transfer-Encoding: chunked\r\n', `${chunks}Content-Length: 0\r\n\r\n${hidden()}`));
  });

  test('an upgrade that is not taken does not hand the connection over', async () => {
    for (const upgrade of ['h2c', 'TLS/1.0', 'websocket', 'spdy/3.1']) {
      const lines = `Connection: Upgrade, HTTP2-Settings\r\nUpgrade: ${upgrade}\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n`;
      const bytes = `GET ${mine}/configmaps/none HTTP/1.1\r\nHost: x\r\n${victim.tenant.credentials}${lines}\r\n`;
      const text = await victim.tenant.raw(bytes, { until: until(1) });
      assert.deepEqual(statuses(text), ['404'], upgrade);
    }
  });

  test('a request that waits for 100-continue and is refused hides nothing behind it', async () => {
    const lines = `Content-Length: ${hidden().length}\r\nExpect: 100-continue\r\n`;
    const text = await victim.nobody.raw(
      `POST ${mine}/configmaps HTTP/1.1\r\nHost: x\r\n${victim.nobody.credentials}${lines}Connection: close\r\n\r\n${hidden()}`,
    );
    assert.deepEqual(
      statuses(text).filter((status) => status !== '100'),
      ['403'],
    );
  });
});

describe('HTTP/2: what HTTP/1.1 would read otherwise is malformed', () => {
  const path = `${mine}/configmaps/trinket`;
  const asked = (...more: Pairs): Pairs => [
    [':method', 'GET'],
    [':scheme', 'https'],
    [':authority', 'x'],
    [':path', path],
    ['authorization', victim.tenant.credentials.slice(15).trim()],
    ...more,
  ];
  const cases: Readonly<Record<string, () => Pairs>> = {
    'transfer-encoding': () => asked(['transfer-encoding', 'chunked']),
    connection: () => asked(['connection', 'x-remote-user']),
    upgrade: () => asked(['upgrade', 'h2c']),
    'proxy-connection': () => asked(['proxy-connection', 'keep-alive']),
    'te that is not trailers': () => asked(['te', 'gzip']),
    'a line end in a value': () => asked(['x', `a\r\n\r\n${hidden()}`]),
    'a bare line end in a value': () => asked(['x', 'a\nb: c']),
    'a zero byte in a value': () => asked(['x', 'a\0b']),
    'a line end in a name': () => asked(['x: y\r\nz', 'a']),
    'a colon in a name': () => asked(['x:y', 'a']),
    'a space in a name': () => asked(['x y', 'a']),
    'a name in upper case': () => asked(['X-Remote-User', 'admin']),
    'a line end in the path': () => asked().map(([n, v]) => (n === ':path' ? [n, `${v} HTTP/1.1\r\nHost: y`] : [n, v])),
    'a space in the path': () => asked().map(([n, v]) => (n === ':path' ? [n, `${v} x`] : [n, v])),
    'an empty path': () => asked().map(([n, v]) => (n === ':path' ? [n, ''] : [n, v])),
    'a path without its slash': () => asked().map(([n, v]) => (n === ':path' ? [n, 'x'] : [n, v])),
    'two paths': () => [...asked().slice(0, 4), [':path', '/version'], ...asked().slice(4)],
    'a pseudo-header behind others': () => asked([':path', '/version']),
    'a pseudo-header that nobody knows': () => [[':user', 'admin'], ...asked()],
    'two lengths': () => asked(['content-length', '0'], ['content-length', '5']),
    'a length where nothing comes': () => asked(['content-length', '5']),
    'CONNECT with a protocol': () => [
      [':protocol', 'websocket'],
      ...asked().map(([n, v]) => [n, n === ':method' ? 'CONNECT' : v] as const),
    ],
    'a method that is none': () => asked().map(([n, v]) => (n === ':method' ? [n, 'GET /x HTTP/1.1\r\n'] : [n, v])),
  };
  for (const [name, pairs] of Object.entries(cases)) {
    test(`${name}: the stream is reset or refused, and the connection goes on`, async () => {
      await using client = await RawFrames.open(await victim.tenant.socket('h2'));
      client.send(hello, headers(1, pairs()));
      const first = await client.outcome(1);
      assert.ok(first === 'reset' || first === '400', `${name}: ${first}`);
      client.send(headers(3, asked()));
      assert.equal(await client.outcome(3), '200');
    });
  }
});

test('HTTP/2: CONNECT opens no way through, whoever asks', async () => {
  await using client = await RawFrames.open(await victim.administrator.socket('h2'));
  client.send(
    hello,
    headers(1, [
      [':method', 'CONNECT'],
      [':authority', `127.0.0.1:${victim.port}`],
    ]),
  );
  assert.match(await client.outcome(1), /^(4\d\d|reset)$/);
});

describe('answers cannot be split by what was asked', () => {
  test('names of unknown fields, users and paths come back without ends of lines, over both protocols', async () => {
    for (const name of ['a\r\nSet-Cookie: x=y', 'a\nX: y', 'a\0b', 'é', '\u{1f600}', 'a"b\\', '\u2028', '\ud800']) {
      const body = JSON.stringify({ metadata: { name: 'split' }, [name]: 1 });
      const path = `${mine}/configmaps?dryRun=All&fieldValidation=Warn`;
      const first = await victim.tenant.request('POST', path, { body });
      const second = await victim.tenant.request2('POST', path, { body });
      for (const { status, headers: got } of [first, second]) {
        assert.equal(status, 201, JSON.stringify(name));
        assert.match(String(got['warning']), /^299 - "unknown field/, JSON.stringify(name));
        assert.equal(got['set-cookie'], undefined);
        assert.equal(got['x'], undefined);
      }
    }
  });

  test('escapes in a path do not become lines of a header or of the log', async () => {
    const { headers: got, status } = await victim.tenant.request('GET', `${mine}/configmaps/a%0d%0aSet-Cookie:%20x=y`);
    assert.equal(status, 400);
    assert.equal(got['set-cookie'], undefined);
    await victim.tenant.request('GET', '/x%0a%7b%22level%22:60%7d');
    for (const line of victim.log) assert.equal(typeof JSON.parse(line), 'object');
  });
});
