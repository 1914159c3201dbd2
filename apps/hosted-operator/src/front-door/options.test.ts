import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defaultLimits } from '@hangar/front-door';
import { UsageError } from '@hangar/core/command-line';
import { frontDoorFlags, frontDoorHelp, readFrontDoorOptions } from './options.ts';
import type { FrontDoorProgramOptions } from './options.ts';

const read = (...args: readonly string[]): FrontDoorProgramOptions => {
  const options = readFrontDoorOptions(args);
  assert.ok(typeof options === 'object');
  return options;
};

test('the defaults are those of the documents and of the package', () => {
  assert.deepEqual(read(), {
    kubeconfig: undefined,
    namespace: undefined,
    domains: undefined,
    listen: { host: '0.0.0.0', port: 6443 },
    limits: defaultLimits,
    handshakeTimeoutMs: 10_000,
    drainMs: 30_000,
    trustedProxies: [],
    backendProxyProtocol: undefined,
    metrics: { host: '127.0.0.1', port: 8080 },
    health: { host: '127.0.0.1', port: 8081 },
    logging: { level: 'info', format: 'json' },
  });
});

test('flags set options', () => {
  const options = read('--listen=[::]:443', '--domain=a.example,b.example', '--trusted-proxies=10.0.0.0/8,::1');
  assert.deepEqual(options.listen, { host: '::', port: 443 });
  assert.deepEqual(options.domains, ['a.example', 'b.example']);
  assert.deepEqual(options.trustedProxies, ['10.0.0.0/8', '::1']);
  assert.equal(read('--backend-proxy-protocol=v2').backendProxyProtocol, 'v2');
});

test('wrong values are usage errors', () => {
  const wrong = [
    '--listen=off',
    '--listen=x',
    '--max-connections=0',
    '--drain-timeout=1s',
    '--domain=*',
    '--backend-proxy-protocol=v3',
  ];
  for (const arg of wrong) assert.throws(() => readFrontDoorOptions([arg]), UsageError, arg);
});

test('help names every flag', () => {
  for (const name of Object.keys(frontDoorFlags)) assert.ok(frontDoorHelp.includes(`--${name}`), name);
});
