import assert from 'node:assert/strict';
import { resolve } from 'node:path';
import { test } from 'node:test';
import { readOptions, UsageError } from './options.ts';
import type { PlatformOptions } from './options.ts';
import { readTokens } from './tokens.ts';

const read = (...args: string[]): PlatformOptions => {
  const options = readOptions(args);
  assert.ok(typeof options === 'object');
  return options;
};

test('without options everything is in .data, and served on this machine only', () => {
  assert.deepEqual(read(), {
    dataDirectory: resolve('.data'),
    host: '127.0.0.1',
    port: 6443,
    kubeconfig: resolve('.data/admin.kubeconfig'),
    store: { type: 'embedded' },
    tokenFile: undefined,
    hosts: [],
  });
});

test('addresses are a host and a port', () => {
  const cases: [text: string, host: string, port: number][] = [
    ['127.0.0.1:0', '127.0.0.1', 0],
    ['localhost:8443', 'localhost', 8443],
    [':6443', '0.0.0.0', 6443],
    ['[::1]:6443', '::1', 6443],
    ['0.0.0.0:65535', '0.0.0.0', 65_535],
  ];
  for (const [text, host, port] of cases) {
    const found = read('--listen', text);
    assert.deepEqual([found.host, found.port], [host, port], text);
  }
  for (const text of [
    '',
    '6443',
    'localhost',
    'localhost:',
    'localhost:x',
    'localhost:65536',
    '::1:6443',
    '[::1]',
    'a:b:1',
  ]) {
    assert.throws(() => readOptions(['--listen', text]), UsageError, text);
  }
});

test('stores are embedded, in memory, or etcd with its endpoints', () => {
  assert.deepEqual(read('--store', 'memory').store, { type: 'memory' });
  assert.deepEqual(read('--store', 'etcd', '--etcd-endpoints', 'http://a:1,http://b:2').store, {
    type: 'etcd',
    endpoints: ['http://a:1', 'http://b:2'],
  });
  for (const args of [
    ['--store', 'etcd'],
    ['--store', 'sqlite'],
    ['--store', 'memory', '--etcd-endpoints', 'http://a:1'],
    ['--store', '__proto__'],
  ]) {
    assert.throws(() => readOptions(args), UsageError, args.join(' '));
  }
});

test('the kubeconfig follows the data, unless it has a place of its own', () => {
  assert.equal(read('--data-dir', '/x').kubeconfig, '/x/admin.kubeconfig');
  assert.equal(read('--data-dir', '/x', '--kubeconfig', '/y/config').kubeconfig, '/y/config');
  assert.deepEqual(read('--host', 'a', '--host', '10.1.2.3').hosts, ['a', '10.1.2.3']);
});

test('help and version come before everything else, and what is unknown is refused', () => {
  assert.equal(readOptions(['--help', '--listen', 'nonsense']), 'help');
  assert.equal(readOptions(['-h']), 'help');
  assert.equal(readOptions(['--version']), 'version');
  for (const args of [['--unknown'], ['positional'], ['--listen']]) {
    assert.throws(() => readOptions(args), UsageError, args.join(' '));
  }
});

test('tokens are lines of token, user, uid and groups', () => {
  const text = [
    '# a comment',
    '',
    'abc,jane,1',
    'def,joe,2,"a,b"\r',
    'ghi,"quoted ""name""",3,c',
    '  jkl,ann,,  ',
  ].join('\n');
  assert.deepEqual(readTokens(text), [
    { token: 'abc', user: 'jane', uid: '1', groups: [] },
    { token: 'def', user: 'joe', uid: '2', groups: ['a', 'b'] },
    { token: 'ghi', user: 'quoted "name"', uid: '3', groups: ['c'] },
    { token: 'jkl', user: 'ann', uid: '', groups: [] },
  ]);
  assert.deepEqual(readTokens(''), []);
});

test('lines that are none are refused without showing the token', () => {
  for (const line of ['abc', 'abc,jane', ',jane,1', 'secret-token,,1']) {
    assert.throws(
      () => readTokens(`ok,jane,1\n${line}`),
      (error: Error) =>
        error instanceof UsageError && error.message.includes('entry 2') && !error.message.includes('secret'),
      line,
    );
  }
});
