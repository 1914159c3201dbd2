import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as fc from 'fast-check';
import { ClientHelloReader, helloBytesMax, normalizedHost } from './client-hello.ts';
import type { ClientHello } from './client-hello.ts';
import { helloOf, refragmented } from './testing/hellos.ts';

const read = (...chunks: readonly Uint8Array[]): ClientHello => {
  const reader = new ClientHelloReader();
  for (const chunk of chunks) reader.push(chunk);
  return reader.result;
};

/** Cuts the bytes at these positions. */
function cut(bytes: Buffer, positions: readonly number[]): Buffer[] {
  const at = [0, ...positions.map((one) => one % (bytes.length + 1)), bytes.length].sort((a, b) => a - b);
  return at.slice(1).map((end, i) => bytes.subarray(at[i], end));
}

const vector = (prefix: number, content: Buffer): Buffer => {
  const length = Buffer.alloc(prefix);
  length.writeUIntBE(content.length, 0, prefix);
  return Buffer.concat([length, content]);
};
const extension = (type: number, content: Buffer): Buffer =>
  Buffer.concat([Buffer.from([type >> 8, type & 255]), vector(2, content)]);
const serverName = (...names: readonly string[]): Buffer =>
  extension(
    0,
    vector(
      2,
      Buffer.concat(names.map((name) => Buffer.concat([Buffer.from([0]), vector(2, Buffer.from(name, 'latin1'))]))),
    ),
  );
const grease = extension(0x5a5a, Buffer.alloc(0));

/** A ClientHello with these extensions. Undefined: it has no block of extensions. */
function hello(extensions: readonly Buffer[] | undefined, version: readonly [number, number] = [3, 1]): Buffer {
  const body = Buffer.concat([
    Buffer.from([3, 3]),
    Buffer.alloc(32, 7),
    vector(1, Buffer.alloc(32, 1)),
    vector(2, Buffer.from([0x5a, 0x5a, 0x13, 0x01])),
    vector(1, Buffer.from([0])),
    ...(extensions ? [vector(2, Buffer.concat(extensions))] : []),
  ]);
  const message = Buffer.concat([Buffer.from([1]), vector(3, body)]);
  return Buffer.concat([Buffer.from([22, ...version]), vector(2, message)]);
}

const malformed = { kind: 'not-tls', reason: 'malformed' };

describe('a ClientHello of Node', () => {
  for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
    test(`of ${version} has its server name and protocols`, async () => {
      const options = { servername: 'demo.team.example.com', ALPNProtocols: ['h2', 'http/1.1'] };
      const bytes = await helloOf({ ...options, minVersion: version, maxVersion: version });
      const expected = { kind: 'server-name', serverName: 'demo.team.example.com', protocols: ['h2', 'http/1.1'] };
      assert.deepEqual(read(bytes), expected);
      for (const size of [1, 3, 7, 100]) assert.deepEqual(read(refragmented(bytes, size)), expected);
    });
  }

  test('of TLS 1.0 has its server name', async () => {
    const options = { minVersion: 'TLSv1', maxVersion: 'TLSv1', ciphers: 'ALL:@SECLEVEL=0' } as const;
    const bytes = await helloOf({ servername: 'old.example.com', ...options });
    assert.deepEqual(read(bytes), { kind: 'server-name', serverName: 'old.example.com', protocols: [] });
  });

  test('without a server name', async () => {
    assert.deepEqual(read(await helloOf({})), { kind: 'no-server-name', protocols: [] });
  });

  test('is incomplete until its last byte', async () => {
    const bytes = await helloOf({ servername: 'demo.example.com' });
    for (let end = 0; end < bytes.length; end++) assert.equal(read(bytes.subarray(0, end)).kind, 'incomplete');
    assert.equal(read(bytes).kind, 'server-name');
  });

  test('gives the same result for every division into segments and records', async () => {
    const bytes = await helloOf({ servername: 'demo.example.com', ALPNProtocols: ['h2'] });
    const expected = read(bytes);
    fc.assert(
      fc.property(fc.array(fc.nat()), fc.integer({ min: 1, max: 600 }), (positions, size) => {
        assert.deepEqual(read(...cut(refragmented(bytes, size), positions)), expected);
      }),
    );
  });
});

describe('server names', () => {
  const nameOf = (...extensions: readonly Buffer[]) => read(hello(extensions));

  test('are normalized', () => {
    for (const name of ['Demo.Example.COM', 'demo.example.com.']) {
      assert.deepEqual(nameOf(serverName(name)), {
        kind: 'server-name',
        serverName: 'demo.example.com',
        protocols: [],
      });
    }
  });

  test('are found among unknown extensions and GREASE', () => {
    const all = [
      grease,
      extension(10, Buffer.from([0, 2, 0, 29])),
      serverName('a.example'),
      extension(21, Buffer.alloc(9)),
    ];
    assert.equal((nameOf(...all) as { serverName?: string }).serverName, 'a.example');
  });

  test('of unknown types are skipped', () => {
    const other = Buffer.concat([Buffer.from([9]), vector(2, Buffer.from('x'))]);
    const host = Buffer.concat([Buffer.from([0]), vector(2, Buffer.from('a.example'))]);
    const content = extension(0, vector(2, Buffer.concat([other, host])));
    assert.equal((nameOf(content) as { serverName?: string }).serverName, 'a.example');
  });

  test('that occur twice, or are not host names, are malformed', () => {
    assert.deepEqual(nameOf(serverName('a.example', 'b.example')), malformed);
    assert.deepEqual(nameOf(serverName('a.example'), serverName('b.example')), malformed);
    for (const name of [
      '',
      'a\0.example',
      'a..example',
      '-a',
      'bücher.example',
      'a b',
      `${'a'.repeat(64)}.example`,
      '.',
    ]) {
      assert.deepEqual(nameOf(serverName(name)), malformed, name);
    }
    assert.equal(normalizedHost(`${'a.'.repeat(126)}a`), `${'a.'.repeat(126)}a`);
    assert.equal(normalizedHost(`${'a.'.repeat(127)}a`), undefined);
  });

  test('are absent in a ClientHello without extensions', () => {
    assert.deepEqual(read(hello(undefined)), { kind: 'no-server-name', protocols: [] });
    assert.deepEqual(read(hello([])), { kind: 'no-server-name', protocols: [] });
  });
});

describe('other bytes', () => {
  test('a request without TLS', () => {
    for (const text of ['GET / HTTP/1.1\r\n', 'POST /api', 'PRI * HTTP/2.0\r\n', 'DELETE /api']) {
      assert.deepEqual(read(Buffer.from(text)), { kind: 'not-tls', reason: 'http-request' });
    }
    assert.equal(read(Buffer.from('GET')).kind, 'incomplete');
    assert.deepEqual(read(Buffer.from('SSH-2.0-x')), { kind: 'not-tls', reason: 'record-type' });
  });

  test('records that are not those of a ClientHello', () => {
    const reasonOf = (...bytes: readonly number[]) => (read(Buffer.from(bytes)) as { reason?: string }).reason;
    assert.equal(reasonOf(0x80), 'record-type');
    assert.equal(reasonOf(21, 3, 1), 'record-type');
    assert.equal(reasonOf(22, 2), 'record-version');
    assert.equal(reasonOf(22, 3, 1, 0, 0), 'record-length');
    assert.equal(reasonOf(22, 3, 1, 0x40, 1), 'record-length');
    assert.equal(reasonOf(22, 3, 1, 0, 1, 2), 'not-a-client-hello');
    assert.equal(reasonOf(22, 3, 1, 0, 1, 1, 23), 'record-type');
    assert.equal(reasonOf(22, 3, 1, 0, 9, 1, 1, 0, 0), 'too-long');
  });

  test('a ClientHello that never ends is refused at the limit', () => {
    const endless = refragmented(
      Buffer.concat([Buffer.from([22, 3, 1, 0x3f, 0, 1, 0, 0x3e, 0xfc]), Buffer.alloc(0x3efc)]),
      1,
    );
    const reader = new ClientHelloReader();
    for (const byte of endless.subarray(0, helloBytesMax)) reader.push(Buffer.from([byte]));
    assert.deepEqual(reader.result, { kind: 'not-tls', reason: 'too-long' });
    assert.deepEqual(read(endless), reader.result);
  });

  test('bytes beyond the limit are kept apart', () => {
    const bytes = Buffer.concat([hello([serverName('a.example')]), Buffer.alloc(helloBytesMax, 5)]);
    const reader = new ClientHelloReader();
    assert.equal(reader.push(bytes).kind, 'server-name');
    assert.deepEqual(Buffer.concat([reader.bytes, reader.excess]), bytes);
  });

  test('truncated vectors are malformed', () => {
    const bytes = hello([serverName('a.example'), extension(16, vector(2, vector(1, Buffer.from('h2'))))]);
    // The lengths of record and message stay correct, so that only the vectors inside are wrong.
    for (let removed = 1; removed < bytes.length - 43; removed++) {
      const body = bytes.subarray(9, bytes.length - removed);
      const message = Buffer.concat([Buffer.from([1]), vector(3, body)]);
      const result = read(Buffer.concat([Buffer.from([22, 3, 1]), vector(2, message)]));
      if (result.kind === 'no-server-name') continue; // It ends before the extensions.
      assert.deepEqual(result, malformed, String(removed));
    }
  });

  test('any bytes give a result, the same for every division', () => {
    const valid = hello([grease, serverName('a.example')]);
    const mutated = fc.array(fc.tuple(fc.nat(valid.length - 1), fc.nat(255)), { maxLength: 4 }).map((changes) => {
      const bytes = Buffer.from(valid);
      for (const [at, value] of changes) bytes[at] = value;
      return bytes;
    });
    const anyBytes = fc.uint8Array({ maxLength: 64 }).map((bytes) => Buffer.from(bytes));
    fc.assert(
      fc.property(fc.oneof(mutated, anyBytes), fc.array(fc.nat()), (bytes, positions) => {
        assert.deepEqual(read(...cut(bytes, positions)), read(bytes));
      }),
      { numRuns: 2_000 },
    );
  });
});
