/** Flags that the real programs list and refuse. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { UsageError } from '@hangar/core/command-line';
import { tool } from '../../../../tools/tool.ts';
import { kubePrograms } from './kube-programs.ts';
import { readOptions } from './options.ts';
import { sortFlags } from './sorting.ts';

const programs = kubePrograms({ PATH: '' });

test('the real kube-controller-manager lists its flags with what follows them', async () => {
  const { flags, letters } = await programs.flagsOf(await tool('kube-controller-manager'));
  assert.ok(flags.size > 130, String(flags.size));
  assert.equal(letters.get('v'), 'v');
  for (const [name, type] of [
    ['concurrent-gc-syncs', 'int32'],
    ['root-ca-file', 'string'],
    ['node-monitor-grace-period', 'duration'],
    ['controllers', 'strings'],
    ['vmodule', 'pattern=N,...'],
    ['profiling', ''],
    ['use-service-account-credentials', ''],
  ] as const) {
    assert.deepEqual(flags.get(name), { type, takesValue: type !== '' }, name);
  }
});

test('none of its flags is taken for a misspelt one of ours where there is no program', async () => {
  const { flags } = await programs.flagsOf(await tool('kube-controller-manager'));
  for (const [name, { takesValue }] of flags) {
    if (['master', 'help'].includes(name)) continue;
    const args = takesValue ? [`--${name}`, 'x'] : [`--${name}`];
    assert.doesNotThrow(() => sortFlags(args, { kube: undefined, folder: '/' }), name);
  }
});

test('it is asked what it thinks of flags and their values, and does nothing else', async () => {
  const manager = await tool('kube-controller-manager');
  assert.equal(
    await programs.complaint(manager, ['--concurrent-gc-syncs=3', '--controllers=*,-ttl-controller']),
    undefined,
  );
  assert.match((await programs.complaint(manager, ['--concurrent-gc-syncs=x']))!, /^invalid argument "x" for/);
  assert.equal(await programs.complaint(manager, ['--no-such-flag=1']), 'unknown flag: --no-such-flag');
  assert.match((await programs.complaint('/does/not/exist', []))!, /ENOENT/);
});

test('a command line for the real programs is understood as a whole', async () => {
  const [manager, scheduler] = [await tool('kube-controller-manager'), await tool('kube-scheduler')];
  const world = { environment: {}, folder: '/here', temporaryFolder: '/tmp', hostName: 'h', cores: 2, programs };
  const read = (...args: string[]) =>
    readOptions([`--kube-controller-manager=${manager}`, `--kube-scheduler=${scheduler}`, ...args], world);
  const options = await read(
    '--v',
    '2',
    '--concurrent-gc-syncs',
    '3',
    '--root-ca-file=ca',
    '--kube-scheduler-flag=--v=3',
  );
  assert.ok(typeof options === 'object');
  assert.deepEqual(options.managerFlags, ['--v=2', '--concurrent-gc-syncs=3', '--root-ca-file=/here/ca']);
  const refuses = (like: RegExp, ...args: string[]) =>
    assert.rejects(read(...args), (error: Error) => error instanceof UsageError && like.test(error.message));
  await refuses(/has the flag --concurent-gc-syncs; did you mean --concurrent-gc-syncs/, '--concurent-gc-syncs=3');
  await refuses(/rejects a flag: invalid argument "x"/, '--concurrent-gc-syncs=x');
  await refuses(/kube-scheduler rejects it: unknown flag: --nonsense/, '--kube-scheduler-flag=--nonsense');
});
