import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Field } from '@hangar/http2';
import { areTrailers, requestHead } from './request-head.ts';
import { get, post } from './testing/raw-client.ts';
import type { Pairs } from './testing/raw-client.ts';

const headOf = (pairs: Pairs) => requestHead(pairs.map(([name, value]) => new Field(name, value)));
const without = (name: string): Pairs => get.filter(([its]) => its !== name);
const having = (name: string, value: string): Pairs => [...without(name), [name, value]];

test('a proper head gives its method, target and length', () => {
  assert.deepEqual(headOf(get), { method: 'GET', target: '/', contentLength: -1 });
  assert.deepEqual(headOf([...post, ['content-length', '7']]), { method: 'POST', target: '/', contentLength: 7 });
  assert.deepEqual(headOf([...post, ['content-length', '7'], ['content-length', '7']])?.contentLength, 7);
  assert.equal(headOf([...get, ['te', 'trailers'], ['host', 'here']])?.target, '/');
  assert.equal(headOf([...without(':authority'), ['host', 'x']])?.target, '/');
  assert.equal(
    headOf([
      [':method', 'OPTIONS'],
      [':scheme', 'https'],
      [':path', '*'],
    ])?.target,
    '*',
  );
  assert.equal(
    headOf([
      [':method', 'CONNECT'],
      [':authority', 'a:1'],
    ])?.target,
    'a:1',
  );
});

test('a head is malformed', () => {
  const cases: Record<string, Pairs> = {
    'without a method': without(':method'),
    'without a scheme': without(':scheme'),
    'without a path': without(':path'),
    'with an empty path': having(':path', ''),
    'with a path that begins nowhere': having(':path', 'a'),
    'with a path of everything, for GET': having(':path', '*'),
    'with a space in its path': having(':path', '/a b'),
    'with bytes in its path that are no ASCII': having(':path', '/\xe4'),
    'with a method that is none': [[':method', 'GE T'], ...get.slice(1)],
    'with two methods': [[':method', 'GET'], ...get],
    'with two paths': [[':path', '/'], ...get],
    'with two schemes': [[':scheme', 'https'], ...get],
    'with two authorities': [[':authority', 'here'], ...get],
    'with a pseudo-header after others': [...without(':path'), ['a', 'b'], [':path', '/']],
    'with a pseudo-header after host': [...without(':path'), ['host', 'here'], [':path', '/']],
    'with a pseudo-header of answers': [...get, [':status', '200']],
    'with a pseudo-header that nobody knows': [...get, [':protocol', 'websocket']],
    'with a name in upper case': [...get, ['X-A', 'b']],
    'with an empty name': [...get, ['', 'b']],
    'with a name with a colon': [...get, ['a:b', 'c']],
    'with connection': [...get, ['connection', 'close']],
    'with keep-alive': [...get, ['keep-alive', '1']],
    'with proxy-connection': [...get, ['proxy-connection', 'close']],
    'with transfer-encoding': [...get, ['transfer-encoding', 'chunked']],
    'with upgrade': [...get, ['upgrade', 'websocket']],
    'with te of more than trailers': [...get, ['te', 'trailers, gzip']],
    'with a line’s end in a value': [...get, ['a', 'b\r\nc: d']],
    'with a zero in a value': [...get, ['a', 'b\0']],
    'with a space around a value': [...get, ['a', ' b']],
    'with another host': [...get, ['host', 'elsewhere']],
    'with two hosts': [...without(':authority'), ['host', 'a'], ['host', 'a']],
    'with a length that is none': [...get, ['content-length', '-1']],
    'with a length in another base': [...get, ['content-length', '0x1']],
    'with two lengths': [...get, ['content-length', '1'], ['content-length', '2']],
    'of CONNECT with a path': [[':method', 'CONNECT'], ...get.slice(1)],
    'of CONNECT to nowhere': [[':method', 'CONNECT']],
  };
  for (const [name, pairs] of Object.entries(cases)) assert.equal(headOf(pairs), undefined, name);
});

test('trailers have no pseudo-headers and nothing of the connection', () => {
  const are = (pairs: Pairs): boolean => areTrailers(pairs.map(([name, value]) => new Field(name, value)));
  assert.ok(are([['grpc-status', '0']]));
  for (const pair of [
    [':path', '/'],
    ['connection', 'x'],
    ['A', 'b'],
    ['content-length', '1'],
  ] as const) {
    assert.ok(!are([pair]), pair[0]);
  }
});
