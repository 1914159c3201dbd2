import assert from 'node:assert/strict';
import { resolve } from 'node:path';
import { test } from 'node:test';
import { UsageError } from '@hangar/core/command-line';
import { operatorFlags, operatorHelp, readOperatorOptions } from './options.ts';
import type { OperatorOptions } from './options.ts';

const read = (...args: string[]): OperatorOptions => {
  const options = readOperatorOptions(args);
  assert.ok(typeof options === 'object');
  return options;
};

test('without options it works on the cluster that kubectl would ask, and tells how it is on this machine only', () => {
  assert.deepEqual(read(), {
    kubeconfig: undefined,
    tenantsKubeconfig: undefined,
    internalUrl: undefined,
    externalUrl: undefined,
    installsDefinitions: false,
    electsLeader: false,
    leaseNamespace: undefined,
    metrics: { host: '127.0.0.1', port: 8080 },
    health: undefined,
    logging: { level: 'info', format: undefined },
  });
});

test('two clusters, two addresses, and where to listen', () => {
  const options = read(
    '--kubeconfig=management',
    '--tenants-kubeconfig=tenants',
    '--internal-url=https://hangar.hangar.svc/',
    '--external-url=https://api.example.com:8443',
    '--install-definitions',
    '--leader-elect',
    '--leader-elect-namespace=hangar',
    '--metrics-listen=0.0.0.0:9090',
    '--health-listen=off',
  );
  assert.deepEqual([options.kubeconfig, options.tenantsKubeconfig], [resolve('management'), resolve('tenants')]);
  assert.deepEqual(
    [options.internalUrl, options.externalUrl],
    ['https://hangar.hangar.svc', 'https://api.example.com:8443'],
  );
  assert.deepEqual([options.metrics, options.health], [{ host: '0.0.0.0', port: 9090 }, false]);
  assert.deepEqual([options.installsDefinitions, options.electsLeader, options.leaseNamespace], [true, true, 'hangar']);
});

test('what cannot be is refused', () => {
  for (const args of [
    ['--internal-url=http://a'],
    ['--external-url=https://a/path'],
    ['--metrics-listen=8080'],
    ['--health-listen=a:99999'],
    ['--leader-elect-namespace=x'],
    ['--log-level=loud'],
    ['--data-dir=x'],
  ]) {
    assert.throws(() => read(...args), UsageError, args.join(' '));
  }
});

test('every option is explained, in lines that fit a terminal', () => {
  const explained = [...operatorHelp.matchAll(/^  (?:-h, )?--([a-z-]+)/gm)].map(([, name]) => name);
  assert.deepEqual(explained.toSorted(), Object.keys(operatorFlags).toSorted());
  for (const line of operatorHelp.split('\n')) assert.ok(line.length <= 100, line);
});
