/**
 * The operator as its chart's Deployment starts it: on a real kube-apiserver with exactly the permissions of the chart, with tenants of a
 * Hangar in which it has exactly the permissions of `tenants-rights.yaml`.
 */

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { template } from '../../scripts/generate/manifests/render.ts';
import { run } from '../../tools/run.ts';
import { tool } from '../../tools/tool.ts';
import { startHangar, startReal } from '../conformance/servers/index.ts';
import type { ControlPlane } from '../conformance/servers/index.ts';
import { freePorts } from '../../tools/free-ports.ts';
import { eventually } from '../tenancy/testing/hangars.ts';
import { objectsOf, podTemplates, root } from './testing/files.ts';

const namespace = 'hangar-system';
const program = join(root, 'bin/hangar.js');

describe('the operator of the chart', () => {
  let folder: string;
  let management: ControlPlane;
  let hangar: ControlPlane;
  let operator: ChildProcess;
  let port: number;
  let log = '';
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'hangar-operator-'));
    [management, hangar] = await Promise.all([
      startReal({ extraArguments: ['--authorization-mode=RBAC'] }),
      startHangar(),
    ]);
    const rendered = await template('hangar-operator', '--include-crds');
    await inFile('chart.yaml', rendered);
    await kubectl(
      management,
      'apply',
      '--server-side',
      `--filename=${root}deploy/manifests/hangar-operator/namespace.yaml`,
    );
    await kubectl(management, 'apply', '--server-side', `--filename=${folder}/chart.yaml`);
    await kubectl(management, 'wait', '--for=condition=Established', 'crd', '--all', '--timeout=30s');
    await kubectl(hangar, 'apply', '--server-side', `--filename=${root}deploy/manifests/tenants-rights.yaml`);
    const pod = podTemplates(objectsOf(rendered)).find(({ of }) => of === 'Deployment hangar-operator')!;
    [port] = (await freePorts(1)) as [number];
    const args = pod.spec.containers[0].args.map((arg: string) =>
      arg.replace('/etc/hangar/tenants', folder).replace('0.0.0.0:8080', `127.0.0.1:${port}`),
    );
    await inFile('kubeconfig', await operatorInHangar());
    await inFile('management', await operatorInManagement());
    operator = spawn(process.execPath, [program, ...args, `--kubeconfig=${folder}/management`], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    operator.stderr!.on('data', (text: Buffer) => (log += text.toString()));
  });
  after(async () => {
    operator?.kill('SIGKILL');
    await Promise.all([management?.stop(), hangar?.stop()]);
    await rm(folder, { recursive: true, force: true });
  });

  const inFile = (name: string, text: string): Promise<void> => writeFile(join(folder, name), text, { mode: 0o600 });

  /** By a certificate, for the user of `tenants-rights.yaml`. */
  async function operatorInHangar(): Promise<string> {
    const keys = join(dirname(hangar.kubeconfig), 'data/pki');
    const args = [
      program,
      'pki',
      'kubeconfig',
      `--pki-dir=${keys}`,
      `--server=${hangar.url}`,
      '--user=hangar-operator',
    ];
    const { stdout, stderr, failure } = await run(process.execPath, args, { timeoutMs: 30_000 });
    assert.equal(failure, undefined, stderr);
    return stdout;
  }

  /** By a token of the chart's ServiceAccount, as its pods have one. */
  async function operatorInManagement(): Promise<string> {
    const token = await kubectl(management, 'create', 'token', 'hangar-operator', `--namespace=${namespace}`);
    const view = JSON.parse(await kubectl(management, 'config', 'view', '--raw', '--flatten', '--output=json'));
    view.users = view.users.map(({ name }: { name: string }) => ({ name, user: { token: token.trim() } }));
    return JSON.stringify(view);
  }

  test('gets ready, tells its metrics, and leads by a lease in its own namespace', async () => {
    const status = async (path: string): Promise<number> => (await fetch(`http://127.0.0.1:${port}${path}`)).status;
    await eventually(
      'it is ready',
      () =>
        status('/readyz').then(
          (code) => code === 200,
          () => false,
        ),
      20_000,
    );
    assert.equal(await status('/livez'), 200);
    const leads = async (): Promise<boolean> =>
      /^leader_election_master_status\{.*\} 1$/m.test(await (await fetch(`http://127.0.0.1:${port}/metrics`)).text());
    await eventually('it leads', leads);
    await kubectl(management, 'get', 'lease', 'hangar-operator', `--namespace=${namespace}`);
  });

  test('makes a control plane of the real cluster a tenant of Hangar, whose kubeconfig works', async () => {
    await inFile(
      'plane.yaml',
      'apiVersion: controlplane.kplane.dev/v1alpha1\nkind: ControlPlane\nmetadata: { name: red }\n',
    );
    await kubectl(management, 'create', `--filename=${folder}/plane.yaml`);
    await kubectl(management, 'wait', '--for=condition=Ready', 'controlplane/red', '--timeout=20s');
    const secret = ['get', 'secret', 'controlplane-red-kubeconfig', '--namespace=kplane-cp-red'];
    const encoded = await kubectl(management, ...secret, '--output=jsonpath={.data.kubeconfig}');
    await inFile('red', Buffer.from(encoded, 'base64').toString());
    await kubectl({ kubeconfig: join(folder, 'red') }, 'create', 'configmap', 'hello');
    await kubectl(hangar, 'get', 'tenant', 'red');
  });

  test('is refused nothing that it asks for', () => {
    assert.doesNotMatch(log, /forbidden/i);
  });

  test('ends when it is asked to, and lets go of the lease', async () => {
    const ended = once(operator, 'exit');
    operator.kill('SIGTERM');
    assert.deepEqual(await ended, [0, null], log.slice(-2_000));
    const lease = ['get', 'lease', 'hangar-operator', `--namespace=${namespace}`];
    assert.equal(await kubectl(management, ...lease, '--output=jsonpath={.spec.holderIdentity}'), '');
  });
});

async function kubectl({ kubeconfig }: Pick<ControlPlane, 'kubeconfig'>, ...args: readonly string[]): Promise<string> {
  const all = [...args, `--kubeconfig=${kubeconfig}`];
  const { stdout, stderr, failure } = await run(await tool('kubectl'), all, { timeoutMs: 60_000 });
  assert.equal(failure, undefined, `kubectl ${args.join(' ')}: ${stdout}${stderr}`);
  return stdout;
}
