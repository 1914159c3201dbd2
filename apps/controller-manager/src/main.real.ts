/** The program as a user or a Deployment starts it. */

import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { TestGround, until } from './testing/ground.ts';
import { tinyManager } from './testing/tiny-manager.ts';

const hangar = fileURLToPath(new URL('../../../bin/hangar.js', import.meta.url));
const patienceMs = 60_000;

let folder: string;
before(() => void (folder = mkdtempSync(join(tmpdir(), 'hangar-manager-'))));
after(() => rmSync(folder, { recursive: true, force: true }));

/** No program is in PATH. */
const environment = () => ({ PATH: join(folder, 'empty'), HOME: folder, TMPDIR: folder });

function run(...args: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [hangar, 'controller-manager', ...args], {
    encoding: 'utf8',
    timeout: patienceMs,
    env: environment(),
  });
  return { status, stdout, stderr };
}

test('it says how it is used, and which version it is', () => {
  const help = run('--help');
  assert.deepEqual([help.status, help.stderr], [0, '']);
  for (const word of [
    '--cluster-source',
    '--engine',
    '--leader-elect',
    '--secure-port',
    'Flags of kube-controller-manager',
  ]) {
    assert.ok(help.stdout.includes(word), word);
  }
  const version = run('--version');
  assert.deepEqual([version.status, version.stderr], [0, '']);
  assert.match(version.stdout, /^hangar \d+\.\d+\.\d+, Kubernetes 1\.36\.\d+\n$/);
});

test('what cannot be is one line and exit code 2, before anything is begun', () => {
  const refused = (line: RegExp, ...args: string[]): void => {
    const { status, stdout, stderr } = run(...args);
    assert.deepEqual([status, stdout], [2, ''], stderr);
    assert.match(stderr, line);
    assert.equal(stderr.trim().split('\n').length, 1);
  };
  refused(/^hangar: --engine=kube: kube-controller-manager was not found in PATH/, '--engine=kube');
  refused(/^hangar: unknown flag: --kubeconfg; did you mean --kubeconfig\?$/m, '--kubeconfg=x');
  refused(/^hangar: --kubeconfig: /, `--kubeconfig=${folder}/none`);
  const tiny = tinyManager(folder);
  const manager = `--kube-controller-manager=${tiny.path}`;
  refused(/has the flag --profilling; did you mean --profiling\?$/m, manager, '--profilling');
  refused(/kube-controller-manager: --help: |is not a Kubernetes program/, '--kube-controller-manager=/bin/true');
  assert.deepEqual(tiny.starts(), []);
  assert.equal(existsSync(join(folder, 'hangar-controller-manager')), false);
});

describe('as a process', () => {
  const started = async (ground: TestGround, ...flags: string[]) => {
    const child = spawn(process.execPath, [
      hangar,
      'controller-manager',
      `--kubeconfig=${ground.kubeconfig}`,
      `--kube-controller-manager=${ground.tiny.path}`,
      `--work-dir=${join(ground.folder, 'work')}`,
      '--cluster-peer-name=process',
      '--bind-address=127.0.0.1',
      '--secure-port=0',
      '--cluster-port-range=24000-24999',
      ...flags,
    ]);
    const output = outputOf(child);
    await until('it is ready', () => output.stdout.includes('ready ') || child.exitCode !== null);
    assert.equal(child.exitCode, null, output.stderr);
    return { child, output };
  };

  test('it says where it is when it knows its clusters, and ends with 0 when it is asked to, with all that it runs', async () => {
    await using ground = await TestGround.start();
    await ground.register('east');
    const { child, output } = await started(ground);
    try {
      assert.match(output.stdout, /^ready https:\/\/127\.0\.0\.1:\d+\n$/);
      await until('a program', () => ground.tiny.starts().length === 1);
      const exit = once(child, 'exit');
      child.kill('SIGTERM');
      assert.deepEqual(await exit, [0, null]);
      assert.match(output.stderr, /"msg":"received SIGTERM, shutting down"/);
      assert.ok(!output.stderr.includes('declared dead'), output.stderr);
    } finally {
      child.kill('SIGKILL');
    }
  });

  test('a port that is taken is one line and exit code 1', async () => {
    await using ground = await TestGround.start();
    const { child, output } = await started(ground, '--leader-elect=false');
    try {
      const port = /:(\d+)\n/.exec(output.stdout)![1]!;
      const args = [`--kubeconfig=${ground.kubeconfig}`, `--secure-port=${port}`, '--bind-address=127.0.0.1'];
      const second = spawn(process.execPath, [hangar, 'controller-manager', ...args, '--log-level=silent'], {
        env: environment(),
      });
      const said = outputOf(second);
      assert.deepEqual(await once(second, 'exit'), [1, null]);
      assert.match(said.stderr, /^hangar: .*EADDRINUSE.*\n$/);
    } finally {
      child.kill('SIGKILL');
    }
  });
});

function outputOf(child: ChildProcess): { stdout: string; stderr: string } {
  const output = { stdout: '', stderr: '' };
  child.stdout!.on('data', (piece: Buffer) => (output.stdout += piece.toString()));
  child.stderr!.on('data', (piece: Buffer) => (output.stderr += piece.toString()));
  return output;
}
