import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readOptions } from '../options/options.ts';
import type { PlatformOptions } from '../options/options.ts';
import { explanation } from './explain.ts';

const options = readOptions(['--data-dir=/data', '--store=etcd://a:2379']) as PlatformOptions;
const failure = (code: string, more = {}) => Object.assign(new Error(`why ${code}`), { code, ...more });

test('what goes wrong is told with what to do about it', () => {
  for (const [error, expected] of [
    [failure('EADDRINUSE', { syscall: 'listen' }), /--port.*hangar doctor.*: why EADDRINUSE$/],
    [failure('EADDRNOTAVAIL', { syscall: 'listen' }), /no address 127\.0\.0\.1.*--listen/],
    [failure('EACCES', { syscall: 'listen' }), /1024.*--port/],
    [failure('EACCES', { syscall: 'mkdir' }), /--data-dir \(\/data\)/],
    [failure('ENOSPC'), /\/data is full/],
    [failure('Unavailable'), /etcd does not answer at http:\/\/a:2379.*--store/],
    [failure('Unauthenticated'), /--etcd-certfile/],
    [failure('StorageInUse'), /^why StorageInUse$/],
  ] as const) {
    assert.match(explanation(error, options)!, expected);
  }
});

test('what nobody expected is not explained away', () => {
  assert.equal(explanation(new TypeError('x is undefined'), options), undefined);
  assert.equal(explanation('text', options), undefined);
});
