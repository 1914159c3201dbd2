import assert from 'node:assert/strict';
import { test } from 'node:test';
import { flagGroups, flags, readOptions, UsageError } from './options.ts';
import type { PlatformOptions } from './options.ts';
import { operatorFlagGroups, operatorFlags } from '../operator/options.ts';

test('documents are given every flag once, with what follows it and whether it may be repeated', () => {
  for (const [groups, table] of [
    [flagGroups, flags],
    [operatorFlagGroups, operatorFlags],
  ] as const) {
    const described = groups.flatMap((group) => group.flags);
    assert.deepEqual(described.map(({ name }) => name).toSorted(), Object.keys(table).toSorted());
    for (const { name, argument, meaning, isRepeatable } of described) {
      const { type, multiple = false } = (table as Record<string, { type: string; multiple?: boolean }>)[name]!;
      assert.equal(argument === undefined, type === 'boolean', name);
      assert.equal(isRepeatable, multiple, name);
      assert.ok(meaning.length > 5, name);
    }
  }
});

test('what runs beside the server follows from the store, and can be said', () => {
  const read = (...args: string[]) => (readOptions(args) as { services: object }).services;
  assert.deepEqual(read(), { isBare: false, makesDemo: true, hasProjects: false, aggregated: [], electsLeader: false });
  assert.deepEqual(read('--store=etcd://a'), {
    isBare: false,
    makesDemo: false,
    hasProjects: false,
    aggregated: [],
    electsLeader: true,
  });
  assert.deepEqual(read('--store=etcd://a', '--leader-elect=false'), {
    isBare: false,
    makesDemo: false,
    hasProjects: false,
    aggregated: [],
    electsLeader: false,
  });
  assert.deepEqual(read('--leader-elect', '--no-demo'), {
    isBare: false,
    makesDemo: false,
    hasProjects: false,
    aggregated: [],
    electsLeader: true,
  });
  assert.deepEqual(read('--bare', '--store=etcd://a'), {
    isBare: true,
    makesDemo: false,
    hasProjects: false,
    aggregated: [],
    electsLeader: false,
  });
  assert.throws(() => read('--bare', '--leader-elect'), UsageError);
});

test('hosted control planes depend on the data directory, unless a flag is given', () => {
  const hosted = (...args: string[]) => (readOptions(args) as PlatformOptions).hosted;
  assert.equal(hosted().isOn, undefined);
  assert.equal(hosted('--hosted').isOn, true);
  assert.equal(hosted('--hosted=false').isOn, false);
  assert.equal(hosted('--bare').isOn, false);
  assert.deepEqual(hosted('--hosted-bin-dirs', '/opt/a,,/opt/b').binDirs, ['/opt/a', '/opt/b']);
  assert.deepEqual(hosted('--front-door-listen=:7443').frontDoor, {
    host: '127.0.0.1',
    port: 7443,
    domain: 'hosted.localhost',
  });
  for (const wrong of ['--front-door-listen=7443', '--front-door-listen=127.0.0.1:0']) {
    assert.throws(() => readOptions([wrong]), /--front-door-listen: ".*" is not HOST:PORT/);
  }
  const both = ['--front-door-listen=:7443', '--front-door-domain=Example'];
  assert.throws(() => readOptions(both), /--front-door-domain: "Example" is not a domain/);
  assert.throws(() => readOptions(['--bare', '--hosted']), /--hosted and --bare cannot be used together/);
});

test('--services names aggregated API servers that run beside the server', () => {
  const read = (...args: string[]) => (readOptions(args) as PlatformOptions).services;
  assert.deepEqual(read('--services', 'activity,activity').aggregated, ['activity']);
  assert.throws(() => read('--services', 'activity,weather'), /unknown service "weather"/);
  assert.throws(() => read('--services', 'activity', '--bare'), /cannot be used together/);
});
