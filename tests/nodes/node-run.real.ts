/** `hangar node run` as a user types it: a node of this machine from start to removal, also after its process is killed. */

import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { NodeNetwork, programNames, run, until } from '@hangar/cli/machine';
import { ControlPlane } from '@hangar/controlplane-operator';
import { untilReady } from '../../operators/controlplane/src/testing/until.ts';
import type { NodeState } from '../../apps/cli/src/local-nodes/state.ts';
import { HangarForNodes } from './control-planes/hangar.ts';
import { imageArchives, imageName } from './images/images.ts';
import { removeLeftovers } from './machine/leftovers.ts';
import { interfaceName } from './machine/names.ts';
import { toolPrograms } from './machine/programs.ts';
import { Kubectl } from './testing/kubectl.ts';
import { pod } from './testing/objects.ts';
import { printLogsOfFailures, withLogs } from './testing/report.ts';
import { Session } from './testing/session.ts';

const program = fileURLToPath(new URL('../../bin/hangar.js', import.meta.url));
const timeoutMs = 300_000;

interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

describe('hangar node run', () => {
  const opened = new AsyncDisposableStack();
  let hangar: HangarForNodes;
  let kubectl: Kubectl;
  let runOptions: string[];
  const logs = async (): Promise<string> => hangar?.logs ?? '';

  const node = (...args: string[]): Promise<Ran> =>
    new Promise((resolve) => {
      const words = [program, 'node', ...args, `--data-dir=${hangar.up.dataFolder}`];
      execFile(process.execPath, words, { timeout: timeoutMs }, (error, stdout, stderr) => {
        const code = error === null ? 0 : Number(error.code ?? -1);
        resolve({ code, stdout, stderr });
      });
    });
  const stateFolder = (name: string): string => join(hangar.up.dataFolder, 'nodes', name);
  const stateOf = async (name: string): Promise<NodeState> =>
    JSON.parse(await readFile(join(stateFolder(name), 'node.json'), 'utf8')) as NodeState;
  /** Runs a command on the node. */
  const onNode = async (name: string, ...command: string[]): Promise<string> => {
    const { first } = await stateOf(name);
    const kinds = ['--net', '--mount', '--pid', '--uts', '--ipc'];
    return run('nsenter', '--target', String(first!.pid), ...kinds, '--', ...command);
  };

  /** Finds a cgroup in all hierarchies, also in those that Hangar does not know. */
  const cgroupsOf = (name: string): Promise<string> => run('find', '/sys/fs/cgroup', '-maxdepth', '2', '-name', name);

  /** Asserts that neither this machine nor the control plane has anything of the node. */
  async function assertRemoved({ name, cgroup, bridge, index, first }: NodeState): Promise<void> {
    assert.ok(!existsSync(`/proc/${first!.pid}`), 'the first process of the node');
    assert.ok(!existsSync(stateFolder(name)), 'the folder of the node');
    assert.equal(await cgroupsOf(cgroup), '');
    assert.ok(!existsSync(`/sys/class/net/${bridge}-${index}`), 'the cable of the node');
    assert.equal(await kubectl.run('get', 'node', name, '--ignore-not-found', '--output=name'), '');
  }

  before(() =>
    withLogs(logs, async () => {
      await removeLeftovers();
      // The server listens on an address of this machine that is not a loopback address.
      const network = await NodeNetwork.find({ bridge: interfaceName(), firstNumber: process.pid });
      await network.create();
      opened.defer(() => network.remove());
      hangar = opened.use(await HangarForNodes.start(network));
      // Nodes of a failed test must not outlive it. The folder of the server exists until then.
      opened.defer(async () => void (await node('stop', '--all')));
      const { kubeconfig } = await hangar.createPlane('red');
      kubectl = await Kubectl.of(kubeconfig);
      const folders = new Set<string>();
      for (const name of programNames) folders.add(dirname(await toolPrograms.path(name)));
      const archives = await imageArchives(['pause', 'busybox']);
      runOptions = [
        `--bin-dirs=${[...folders].join(',')}`,
        `--images=${[...archives.values()].join(',')}`,
        `--pause-image=${imageName('pause')}`,
      ];
    }),
  );
  after(() => opened.disposeAsync());
  printLogsOfFailures(logs);

  test('reports the networks that the control plane does not allow, with the command that allows them', async () => {
    const { code, stderr } = await node('run', 'red', ...runOptions);
    assert.equal(code, 1);
    assert.match(stderr, /control plane "red" does not allow connections to the networks of this node/);
    const [, patch] = /kubectl patch controlplane red --type merge -p '(.*)'/.exec(stderr)!;
    await hangar.up.client.patch(ControlPlane, { name: 'red' }, { type: 'merge', body: JSON.parse(patch!) as object });
    await untilReady(hangar.up.client, 'red');
    await until('the networks are allowed', {}, async () => (await node('run', 'red', '--dry-run')).code === 0);
  });

  test('--dry-run prints the files and lacks nothing', async () => {
    const { code, stdout, stderr } = await node('run', 'red', '--dry-run', ...runOptions);
    assert.equal(code, 0);
    assert.equal(stderr, '');
    assert.match(stdout, /^# .*\/nodes\/red-1\/files\/containerd\/config\.toml$/m);
    assert.ok(!existsSync(stateFolder('red-1')));
  });

  test('starts a node in the background, and returns when it is ready', async () => {
    const { code, stdout, stderr } = await node('run', 'red', ...runOptions);
    assert.equal(code, 0, stderr);
    assert.match(stdout, /^node red-1 of control plane red is ready$/m);
    assert.match(
      stderr,
      /^starting containerd\nstarting the kubelet and kube-proxy\nwaiting until Node red-1 is ready$/m,
    );
    await kubectl.wait('condition=Ready', 'node/red-1');
    assert.match((await node('list')).stdout, /^red-1 +red +Running +10\.77\.\d+\.11 /m);
    assert.match((await node('logs', 'red-1', '--tail=5')).stdout, /\n/);
    const again = await node('run', 'red', '--name=red-1', ...runOptions);
    assert.match(again.stderr, /node "red-1" runs already/);
  });

  test('the scheduler assigns pods to the node, and logs and exec work', async () => {
    await kubectl.wait('create', 'serviceaccount/default');
    await kubectl.apply(pod('first', { command: ['sh', '-c', 'echo started; sleep 3600'] }));
    await kubectl.wait('condition=Ready', 'pod/first');
    assert.equal(await kubectl.run('logs', 'first'), 'started\n');
    assert.equal(await kubectl.run('exec', 'first', '--', 'hostname'), 'first\n');
  });

  test('the first process reaps orphans', async () => {
    const orphan = (await onNode('red-1', 'sh', '-c', 'sleep 0.1 > /dev/null & echo $!')).trim();
    assert.match(orphan, /^\d+$/);
    // A zombie stays in /proc.
    await until('the orphan is reaped', {}, async () =>
      (await onNode('red-1', 'ls', '/proc')).split('\n').every((one) => one !== orphan),
    );
  });

  test('a kubelet that is killed starts again', async () => {
    const kill = 'for one in /proc/[0-9]*; do [ "$(cat $one/comm)" = kubelet ] && kill -9 ${one#/proc/}; done; true';
    await onNode('red-1', 'sh', '-c', kill);
    const isReported = async (): Promise<boolean> =>
      (await node('logs', 'red-1', '--program=node')).stdout.includes('kubelet was killed, restarting');
    await until('the supervisor reports the exit', {}, isReported);
    await kubectl.apply(pod('second', { command: ['sleep', '3600'], nodeName: 'red-1' }));
    await kubectl.wait('condition=Ready', 'pod/second');
  });

  test('a second node in the foreground reaches the pods of the first, and Ctrl-C removes it alone', async () => {
    const words = [program, 'node', 'run', 'red', '--foreground', ...runOptions, `--data-dir=${hangar.up.dataFolder}`];
    const child = spawn(process.execPath, words, { stdio: ['pipe', 'pipe', 'pipe'] });
    await using session = new Session(child);
    await session.until(/^node red-2 of control plane red is ready$/m);
    const state = await stateOf('red-2');
    const address = await kubectl.value('{.status.podIP}', 'pod/first');
    const ping = pod('third', { command: ['ping', '-c', '1', '-w', '60', address], nodeName: 'red-2' });
    await kubectl.apply(ping);
    await kubectl.wait('jsonpath={.status.phase}=Succeeded', 'pod/third');
    child.kill('SIGINT');
    assert.equal(await session.exited(), 0);
    await assertRemoved(state);
    assert.ok(existsSync(`/sys/class/net/${state.bridge}`), 'the bridge of the other node');
    await kubectl.wait('condition=Ready', 'node/red-1');
  });

  test('stop removes everything that run created', async () => {
    const state = await stateOf('red-1');
    const { code, stdout, stderr } = await node('stop', 'red-1');
    assert.deepEqual({ code, stdout, stderr }, { code: 0, stdout: 'node red-1 is stopped and removed\n', stderr: '' });
    await assertRemoved(state);
    assert.ok(!existsSync(`/sys/class/net/${state.bridge}`), 'the bridge');
    assert.ok(!existsSync(join(hangar.up.dataFolder, 'nodes')), 'the folder of all nodes');
  });

  test('a node ends with its supervising process, and stop removes the rest', async () => {
    const ran = await node('run', 'red', ...runOptions);
    assert.equal(ran.code, 0, ran.stderr);
    const state = await stateOf('red-1');
    process.kill(state.supervisor.pid, 'SIGKILL');
    await until('the first process of the node has ended', {}, async () => !existsSync(`/proc/${state.first!.pid}`));
    assert.match((await node('list')).stdout, /^red-1 +red +Stopped /m);
    assert.notEqual(await cgroupsOf(state.cgroup), '');
    const { code, stderr } = await node('stop', 'red-1');
    assert.equal(code, 0, stderr);
    await assertRemoved(state);
    assert.ok(!existsSync(`/sys/class/net/${state.bridge}`), 'the bridge');
  });
});
