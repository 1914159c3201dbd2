import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, before, test } from 'node:test';
import { flags, readOptions, UsageError } from './options.ts';
import type { PlatformOptions } from './options.ts';

let file: string;
before(() => void (file = join(mkdtempSync(join(tmpdir(), 'hangar-config-')), 'hangar.yaml')));
after(() => rmSync(join(file, '..'), { recursive: true, force: true }));

function read(text: string, args: readonly string[] = [], environment = {}): PlatformOptions {
  writeFileSync(file, text);
  const options = readOptions(['--config', file, ...args], environment);
  assert.ok(typeof options === 'object');
  return options;
}

test('a file says what a command line would, with lists for what may be repeated', () => {
  const text = [
    'data-dir: /var/lib/hangar',
    'listen: 0.0.0.0:7443',
    'host: [a.example.com, 10.0.0.1]',
    'store: etcds://a:2379,b',
    'etcd-cafile: ca.crt',
    'anonymous-auth: false',
    'max-requests-inflight: 800',
    'no-demo: true',
    'leader-elect: false',
    'log-level: warn',
  ].join('\n');
  const options = read(text);
  assert.equal(options.dataDirectory, resolve('/var/lib/hangar'));
  assert.deepEqual([options.host, options.port], ['0.0.0.0', 7443]);
  assert.deepEqual(options.hosts, ['a.example.com', '10.0.0.1']);
  assert.deepEqual('endpoints' in options.store && options.store.endpoints, ['https://a:2379', 'https://b:2379']);
  assert.equal(options.authentication.anonymous, false);
  assert.equal(options.flow.readOnlyMax, 800);
  assert.deepEqual(options.services, {
    isBare: false,
    makesDemo: false,
    hasProjects: false,
    aggregated: [],
    electsLeader: false,
  });
  assert.equal(options.logging.level, 'warn');
});

test('what is typed wins, also over switches that are on in the file, and lists are not joined', () => {
  const text = 'listen: 0.0.0.0:7443\nbare: true\nhost: [a]\nlog-level: warn';
  const options = read(text, ['--port=8443', '--bare=false', '--host=b', '--log-level', 'debug']);
  assert.deepEqual([options.host, options.port, options.services.isBare], ['0.0.0.0', 8443, false]);
  assert.deepEqual(options.hosts, ['b']);
  assert.equal(options.logging.level, 'debug');
});

test('the environment is above the file and below what is typed', () => {
  assert.equal(read('log-level: warn', [], { LOG_LEVEL: 'error' }).logging.level, 'error');
  assert.equal(read('log-level: warn', ['--log-level=trace'], { LOG_LEVEL: 'error' }).logging.level, 'trace');
});

test('an empty file says nothing', () => {
  assert.equal(read('').port, 6443);
  assert.equal(read('# nothing\n').port, 6443);
});

test('keys that are no flags and values of the wrong type are told with file and key', () => {
  for (const [text, expected] of [
    ['dataDir: x', /dataDir: unknown flag; did you mean data-dir\?/],
    ['colour: red', /colour: unknown flag/],
    ['__proto__: x', /__proto__: unknown flag/],
    ['constructor: x', /constructor: unknown flag/],
    ['bare: "yes"', /bare: "yes" must be true or false/],
    ['bare: 1', /bare: 1 must be true or false/],
    ['host: a', /host: "a" must be a list/],
    ['host: [a, {b: c}]', /host: \{"b":"c"\} must be a string/],
    ['data-dir: [a]', /data-dir: \["a"\] must be a string/],
    ['data-dir: true', /data-dir: true must be a string/],
    ['data-dir:', /data-dir: null must be a string/],
    ['anonymous-auth: {}', /anonymous-auth: \{\} must be true or false/],
    ['help: true', /help: can only be set on the command line/],
    ['config: x', /config: can only be set on the command line/],
    ['port: 1\nport: 2', /port/],
    ['- a', /must be a map of flags/],
    ['text', /must be a map of flags/],
    ['a: [', /hangar\.yaml/],
    ['port: 99999', /--port: "99999" is not a port/],
  ] as const) {
    assert.throws(
      () => read(text),
      (error: Error) => {
        assert.ok(error instanceof UsageError, `${text}: ${error.stack}`);
        assert.match(error.message, expected);
        return error.message.includes(file) || text === 'port: 99999';
      },
      text,
    );
  }
  assert.throws(() => readOptions(['--config', join(file, 'absent')]), UsageError);
});

test('every flag can stand in a file', () => {
  for (const [name, { type, multiple }] of Object.entries(flags) as [string, { type: string; multiple?: boolean }][]) {
    if (['help', 'version', 'config'].includes(name)) continue;
    const value = type === 'boolean' ? 'true' : multiple ? '["1"]' : '"1"';
    // Whether the value makes sense is another matter: the key is known, and its type is right.
    try {
      read(`${name}: ${value}`);
    } catch (error) {
      assert.ok(error instanceof UsageError);
      assert.doesNotMatch(error.message, /unknown flag|must be a (?:list|string)|can only be set on/, name);
    }
  }
});
