/**
 * Runs pods with the real programs and the commands that a user types: `hangar up`, `hangar create`, a registration, `hangar
 * controller-manager`. Further scenarios are in tests/controller-manager.
 */

import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { tool } from '../../../tools/tool.ts';
import { until } from './testing/ground.ts';

const hangar = fileURLToPath(new URL('../../../bin/hangar.js', import.meta.url));
const executed = promisify(execFile);

const registration = `apiVersion: controlplane.kplane.dev/v1alpha1
kind: ControlPlaneRegistration
metadata: { name: alpha }
spec: { controlPlaneRef: { name: alpha }, services: [controllers, scheduler] }
`;
const workload = `apiVersion: apps/v1
kind: Deployment
metadata: { name: web }
spec:
  replicas: 3
  selector: { matchLabels: { app: web } }
  template:
    metadata: { labels: { app: web } }
    spec: { containers: [{ name: web, image: web }] }
---
apiVersion: v1
kind: Node
metadata: { name: node }
status: { allocatable: { cpu: '4', memory: 4Gi, pods: '10' }, conditions: [{ type: Ready, status: 'True' }] }
`;

describe('from nothing to pods', () => {
  let folder: string;
  let kubectl: (...words: string[]) => Promise<string>;
  const running: ChildProcess[] = [];

  const started = async (...words: string[]): Promise<ChildProcess> => {
    const child = spawn(process.execPath, [hangar, ...words], { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] });
    running.push(child);
    let said = '';
    child.stdout!.on('data', (piece: Buffer) => (said += piece.toString()));
    await until(`${words[0]} is ready`, () => /^ready https:/m.test(said) || child.exitCode !== null);
    assert.equal(child.exitCode, null);
    return child;
  };
  const children = (): string[] => readdirSync(join(folder, 'work', 'children'));

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'hangar-manager-'));
    const program = await tool('kubectl');
    kubectl = async (...words) => (await executed(program, words, { cwd: folder })).stdout;
    await started('up', '--data-dir=data', '--port=0', '--store=memory');
    await writeFile(join(folder, 'registration.yaml'), registration);
    await writeFile(join(folder, 'workload.yaml'), workload);
    await executed(process.execPath, [hangar, 'create', 'alpha', '--data-dir=data'], { cwd: folder });
    const { stdout } = await executed(process.execPath, [hangar, 'kubeconfig', 'alpha', '--data-dir=data'], {
      cwd: folder,
    });
    await writeFile(join(folder, 'alpha.kubeconfig'), stdout);
  });

  after(async () => {
    for (const child of running.toReversed()) {
      if (child.exitCode !== null) continue;
      const exit = once(child, 'exit');
      child.kill('SIGTERM');
      await exit;
    }
    await rm(folder, { recursive: true, force: true });
  });

  const management = '--kubeconfig=data/admin.kubeconfig';
  const inside = '--kubeconfig=alpha.kubeconfig';

  test('a registered control plane has controllers and a scheduler, and pods of its Deployment are bound', async () => {
    await started(
      'controller-manager',
      management,
      `--kube-controller-manager=${await tool('kube-controller-manager')}`,
      `--kube-scheduler=${await tool('kube-scheduler')}`,
      '--work-dir=work',
      '--bind-address=127.0.0.1',
      '--secure-port=0',
      '--log-level=warn',
      // Passed through. No kubelet renews the status of the node.
      '--concurrent-gc-syncs',
      '5',
      '--node-monitor-grace-period=1h',
      '--kube-scheduler-flag=--kube-api-qps=60',
    );
    await kubectl(management, 'apply', '-f', 'registration.yaml');
    await kubectl(
      management,
      'wait',
      '--for=condition=ControllersReady',
      '--timeout=40s',
      'controlplaneregistration/alpha',
    );
    await kubectl(
      management,
      'wait',
      '--for=condition=SchedulerReady',
      '--timeout=40s',
      'controlplaneregistration/alpha',
    );
    assert.equal(children().length, 2);
    await kubectl(inside, 'apply', '--server-side', '-f', 'workload.yaml');
    await until('three pods on the node', async () => {
      const nodes = await kubectl(inside, 'get', 'pods', '-l', 'app=web', '-o', 'jsonpath={.items[*].spec.nodeName}');
      return nodes === 'node node node';
    });
  });

  test('and nothing of them is left two seconds after the registration is', async () => {
    await kubectl(management, 'delete', '-f', 'registration.yaml');
    const goneAt = performance.now();
    await until('nothing is left', () => children().length === 0);
    assert.ok(performance.now() - goneAt < 2_000, `${performance.now() - goneAt} ms`);
    assert.ok(existsSync(join(folder, 'work', 'owner.lock')), 'it still runs');
    const manager = running.at(-1)!;
    const exit = once(manager, 'exit');
    manager.kill('SIGTERM');
    assert.deepEqual(await exit, [0, null]);
  });
});
