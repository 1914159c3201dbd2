import assert from 'node:assert/strict';
import { resolve } from 'node:path';
import { tmpdir } from 'node:os';
import { test } from 'node:test';
import { UsageError } from '@hangar/core/command-line';
import { hostedOperatorFlags, hostedOperatorHelp, readOptions } from './options.ts';
import type { HostedOperatorProgramOptions } from './options.ts';

const read = (args: readonly string[], environment = {}): HostedOperatorProgramOptions => {
  const options = readOptions(args, environment);
  assert.ok(typeof options === 'object');
  return options;
};

test('the defaults are those of the documents', () => {
  assert.deepEqual(read([]), {
    kubeconfig: undefined,
    namespace: undefined,
    serviceType: 'LoadBalancer',
    frontDoor: undefined,
    reach: 'service',
    konnectivity: 'always',
    issuer: 'BuiltIn',
    backups: { folder: undefined, scratchFolder: tmpdir(), image: undefined },
    electsLeader: true,
    controllerNamespace: undefined,
    concurrency: 10,
    metrics: { host: '127.0.0.1', port: 8080 },
    health: { host: '127.0.0.1', port: 8081 },
    webhooks: undefined,
    logging: { level: 'info', format: 'json' },
  });
});

test('environment variables set options, and an empty variable counts as unset', () => {
  const environment = {
    LEADER_ELECTION: 'false',
    WEBHOOK_CERT_DIR: '/certificates',
    MAX_CONCURRENT_RECONCILES: '3',
    CONTROLLER_NAMESPACE: 'operators',
    LOG_FORMAT: 'text',
    LOG_LEVEL: 'DEBUG',
  };
  const options = read([], environment);
  assert.equal(options.electsLeader, false);
  assert.deepEqual(options.webhooks, { host: '0.0.0.0', port: 9443, certificateFolder: resolve('/certificates') });
  assert.equal(options.concurrency, 3);
  assert.equal(options.controllerNamespace, 'operators');
  assert.deepEqual(options.logging, { level: 'debug', format: 'text' });
  const empty = Object.fromEntries(Object.keys(environment).map((name) => [name, '']));
  assert.deepEqual(read([], empty), read([]));
});

test('flags take precedence over environment variables', () => {
  const environment = { LEADER_ELECTION: 'false', MAX_CONCURRENT_RECONCILES: '3', LOG_LEVEL: 'debug' };
  const options = read(['--leader-elect=true', '--max-concurrent-reconciles=7', '--log-level=warn'], environment);
  assert.deepEqual([options.electsLeader, options.concurrency, options.logging.level], [true, 7, 'warn']);
});

test('the front door has a domain', () => {
  const args = ['--front-door-domain=hosted.example.com,old.example.com', '--exposure=front-door'];
  assert.deepEqual(read(args).frontDoor, {
    domains: ['hosted.example.com', 'old.example.com'],
    port: 6443,
    exposure: 'front-door',
    allowsAnyHost: false,
  });
  const more = ['--front-door-port=443', '--front-door-hosts=any', '--front-door-address=127.0.0.1:7443'];
  const { port, allowsAnyHost, address } = read([...args, ...more]).frontDoor!;
  assert.deepEqual([port, allowsAnyHost, address], [443, true, { host: '127.0.0.1', port: 7443 }]);
  const wrong: readonly [string, RegExp][] = [
    ['--exposure=front-door', /--exposure front-door needs --front-door-domain/],
    ['--front-door-domain=Example.com', /--front-door-domain: "Example.com" is not a domain/],
    ['--front-door-domain=*.example.com', /is not a domain/],
    ['--front-door-port=65536', /--front-door-port: "65536" is not a number from 1 to 65535/],
    ['--front-door-hosts=all', /is not one of domain, any/],
    ['--front-door-address=host', /is not HOST:PORT/],
  ];
  for (const [arg, message] of wrong) assert.throws(() => readOptions([arg]), message);
});

test('an empty namespace is all namespaces', () => {
  assert.equal(read(['--namespace=']).namespace, undefined);
  assert.equal(read(['--namespace=team']).namespace, 'team');
});

test('wrong values are usage errors', () => {
  for (const args of [
    ['--leader-elect=maybe'],
    ['--max-concurrent-reconciles=0'],
    ['--service-type=ExternalName'],
    ['--reach=proxy'],
    ['--konnectivity=never'],
    ['--issuer=Vault'],
    ['--metrics-listen=8080'],
    ['--log-format=xml'],
    ['extra'],
  ]) {
    assert.throws(() => readOptions(args), UsageError, args.join(' '));
  }
});

test('help describes every flag', () => {
  for (const name of Object.keys(hostedOperatorFlags)) assert.ok(hostedOperatorHelp.includes(`--${name}`), name);
});
