import assert from 'node:assert/strict';
import { test } from 'node:test';
import { kubeFlagsIn } from './kube-help.ts';
import { managerHelp } from './testing/programs.ts';

test('every flag of a help text is read with what follows it', () => {
  const { flags, letters } = kubeFlagsIn(managerHelp);
  const values = [...flags].filter(([, { takesValue }]) => takesValue).map(([name]) => name);
  const switches = [...flags].filter(([, { takesValue }]) => !takesValue).map(([name]) => name);
  assert.deepEqual(switches, [
    'contention-profiling',
    'profiling',
    'allocate-node-cidrs',
    'leader-elect',
    'help',
    'version',
  ]);
  assert.deepEqual(values, [
    'cluster-cidr',
    'cluster-name',
    'controllers',
    'feature-gates',
    'kube-api-qps',
    'root-ca-file',
    'terminated-pod-gc-threshold',
    'tls-min-version',
    'master',
    'v',
    'vmodule',
  ]);
  assert.equal(flags.get('vmodule')!.type, 'pattern=N,...');
  assert.deepEqual(
    [...letters],
    [
      ['v', 'v'],
      ['h', 'help'],
    ],
  );
});

test('lines of explanation are no flags, even if they look like it', () => {
  assert.equal(kubeFlagsIn(managerHelp).flags.has('not-a-flag'), false);
  assert.equal(kubeFlagsIn('--flag string\n        --deep string\n').flags.size, 0);
});

test('what another system wrote may end its lines in another way', () => {
  assert.deepEqual([...kubeFlagsIn('      --on   text\r\n      --name string\r\n').flags.keys()], ['on', 'name']);
});
