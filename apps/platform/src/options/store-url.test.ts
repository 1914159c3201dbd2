import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readOptions, UsageError } from './options.ts';
import { endpointsOf } from './store-url.ts';

test('etcd is named by scheme, hosts and ports; the scheme of the first counts for the others', () => {
  const cases: [text: string, ...endpoints: string[]][] = [
    ['etcd://a:2379', 'http://a:2379'],
    ['etcd://a:2379,b:2380', 'http://a:2379', 'http://b:2380'],
    ['etcds://a,b,c', 'https://a:2379', 'https://b:2379', 'https://c:2379'],
    ['https://a:443,https://b:443', 'https://a:443', 'https://b:443'],
    ['http://[::1]:2379/', 'http://[::1]:2379'],
  ];
  for (const [text, ...endpoints] of cases) assert.deepEqual(endpointsOf(text), endpoints, text);
});

test('what is no address of etcd is refused', () => {
  for (const text of [
    'etcd://',
    'etcd://a,,b',
    'etcd://a/path',
    'etcd://user:secret@a:2379',
    'redis://a:2379',
    'constructor://a',
    'etcd://a:99999',
    'etcd://a:b',
    'etcd://a?b',
  ]) {
    assert.throws(() => endpointsOf(text), UsageError, text);
  }
});

test('a store that is named so needs nothing else, takes certificates over TLS alone, and is named once', () => {
  const read = (...args: string[]) => (readOptions(args) as { store: unknown }).store;
  assert.deepEqual(read('--store', 'etcd://a:2379'), {
    type: 'etcd',
    endpoints: ['http://a:2379'],
    tls: undefined,
    compactionIntervalMs: 300_000,
  });
  const files = ['--etcd-cafile=ca', '--etcd-certfile=crt', '--etcd-keyfile=key'];
  const { tls } = read('--store=etcds://a', ...files) as { tls: unknown };
  assert.deepEqual(tls, { ca: 'ca', certificate: 'crt', key: 'key' });
  assert.throws(() => read('--store=etcd://a', ...files), /does not use TLS/);
  assert.throws(() => read('--store=etcd://a', '--etcd-endpoints=http://b:1'), UsageError);
});
