import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as fc from 'fast-check';
import { proxyHeader, readProxyHeader } from './proxy-protocol.ts';

const peer = (address: string, port: number) => ({ address, port });
const ipv4 = { source: peer('192.0.2.7', 40_000), destination: peer('198.51.100.1', 6443) };
const ipv6 = { source: peer('2001:db8::7', 40_000), destination: peer('::1', 6443) };

describe('PROXY protocol headers', () => {
  test('version 1 is a line of text', () => {
    assert.equal(String(proxyHeader('v1', ipv4)), 'PROXY TCP4 192.0.2.7 198.51.100.1 40000 6443\r\n');
    assert.equal(String(proxyHeader('v1', ipv6)), 'PROXY TCP6 2001:db8::7 ::1 40000 6443\r\n');
    assert.equal(String(proxyHeader('v1', undefined)), 'PROXY UNKNOWN\r\n');
  });

  test('version 2 has the bytes of the specification', () => {
    const expected = '0d0a0d0a000d0a515549540a2111000cc0000207c63364019c40192b';
    assert.equal(proxyHeader('v2', ipv4).toString('hex'), expected);
    const named = proxyHeader('v2', ipv4, 'a.example').toString('hex');
    assert.equal(named, `${expected.replace('2111000c', '21110018')}020009${Buffer.from('a.example').toString('hex')}`);
    assert.equal(proxyHeader('v2', undefined).toString('hex'), '0d0a0d0a000d0a515549540a20000000');
  });

  test('are read back with the bytes after them left', () => {
    for (const version of ['v1', 'v2'] as const) {
      for (const connection of [ipv4, ipv6, undefined]) {
        const header = proxyHeader(version, connection, 'a.example');
        const result = readProxyHeader(Buffer.concat([header, Buffer.from('rest')]));
        assert.deepEqual(result, { kind: 'header', connection, bytes: header.length });
        for (let end = 0; end < header.length; end++) {
          assert.equal(readProxyHeader(header.subarray(0, end)).kind, 'incomplete');
        }
      }
    }
  });

  test('an address without a peer of its family gives a header without addresses', () => {
    const mixed = { source: ipv6.source, destination: ipv4.destination };
    assert.equal(String(proxyHeader('v1', mixed)), 'PROXY UNKNOWN\r\n');
  });

  test('invalid ones are rejected', () => {
    const lines = ['GET / HTTP/1.1', 'PROXY TCP4 1.2.3 4.5.6.7 1 2\r\n', 'PROXY TCP4 1.2.3.4 4.5.6.7 1 65536\r\n'];
    lines.push(
      'PROXY TCP4 ::1 ::1 1 2\r\n',
      'PROXY TCP4 1.2.3.4 4.5.6.7 1\r\n',
      `PROXY UNKNOWN ${'x'.repeat(100)}\r\n`,
    );
    for (const line of lines) assert.equal(readProxyHeader(Buffer.from(line)).kind, 'invalid', line);
    const unix = proxyHeader('v2', ipv4);
    unix[13] = 0x31;
    assert.equal(readProxyHeader(unix).kind, 'invalid');
    const long = proxyHeader('v2', ipv4);
    long.writeUInt16BE(0xff_ff, 14);
    assert.equal(readProxyHeader(long).kind, 'invalid');
  });

  test('random bytes never throw', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 120 }), fc.boolean(), (bytes, isSigned) => {
        const start = isSigned ? proxyHeader('v2', undefined).subarray(0, 12) : Buffer.alloc(0);
        readProxyHeader(Buffer.concat([start, bytes]));
      }),
    );
  });
});
