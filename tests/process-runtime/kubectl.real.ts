/**
 * kubectl logs, exec, cp, attach and port-forward to pods of the process runtime, through the real kube-apiserver and through Hangar: both
 * connect to the kubelet API of the runtime.
 */

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { connect as connectTcp, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { connect, loadKubeconfig } from '@hangar/client';
import type { Client } from '@hangar/client';
import { Pod } from '@hangar/client/kinds/core-v1';
import { Logger, systemClock, systemRandom } from '@hangar/core';
import { createAuthority, issueCertificate, kubeconfig as kubeconfigText } from '@hangar/pki';
import type { KeyPair } from '@hangar/pki';
import { programsInPath, startProcessRuntime } from '@hangar/process-runtime';
import type { ProcessRuntime } from '@hangar/process-runtime';
import { kubeletPort, signServingRequest } from '../../packages/process-runtime/src/testing/kubelet-client.ts';
import { startCluster } from '../../packages/server/src/nodes/testing/cluster.ts';
import { administrator } from '../../packages/server/src/testing/authentication.ts';
import { tool } from '../../tools/tool.ts';
import { startReal } from '../conformance/servers/real.ts';
import { until } from './testing/until.ts';

const world = { clock: systemClock, random: systemRandom };

interface Plane extends AsyncDisposable {
  readonly kubeconfig: string;
  /** CA of the client certificate of the API server, and of the serving certificate of the kubelet API. */
  readonly authority: KeyPair;
  /** Called with the port of the kubelet API. */
  reach?(port: number): void;
}

async function realPlane(folder: string): Promise<Plane> {
  const authority = createAuthority('kubelets', 1, world);
  const subject = {
    commonName: 'kube-apiserver',
    organizations: ['system:masters'],
    usage: 'client' as const,
    days: 1,
  };
  const { certificate, key } = issueCertificate(authority, subject, world);
  const file = async (name: string, text: string): Promise<string> => {
    const path = join(folder, name);
    await writeFile(path, text, { mode: 0o600 });
    return path;
  };
  const server = await startReal({
    extraArguments: [
      `--kubelet-client-certificate=${await file('client.crt', certificate)}`,
      `--kubelet-client-key=${await file('client.key', key)}`,
      `--kubelet-certificate-authority=${await file('kubelets.crt', authority.certificate)}`,
      '--kubelet-preferred-address-types=InternalIP',
    ],
  });
  return { kubeconfig: server.kubeconfig, authority, [Symbol.asyncDispose]: () => server.stop() };
}

async function hangarPlane(folder: string): Promise<Plane> {
  const cluster = await startCluster();
  const kubeconfig = join(folder, 'kubeconfig');
  const text = kubeconfigText({
    name: 'hangar',
    user: 'admin',
    server: `https://127.0.0.1:${cluster.port}`,
    authority: cluster.authority.certificate,
    credentials: { token: administrator.token },
  });
  await writeFile(kubeconfig, text, { mode: 0o600 });
  return {
    kubeconfig,
    authority: cluster.authority,
    reach: (port) => void cluster.routes.set(`127.0.0.1:${port}`, port),
    [Symbol.asyncDispose]: () => cluster[Symbol.asyncDispose](),
  };
}

for (const [name, startPlane] of [
  ['kube-apiserver', realPlane],
  ['Hangar', hangarPlane],
] as const) {
  describe(`kubectl through ${name}`, () => {
    const cleanup = new AsyncDisposableStack();
    let kubectl: (...args: string[]) => ChildProcess;
    let client: Client;
    let runtime: ProcessRuntime;
    let folder: string;

    before(async () => {
      const program = await tool('kubectl', { log: console.log });
      folder = await mkdtemp(join(tmpdir(), 'hangar-kubectl-'));
      cleanup.defer(() => rm(folder, { recursive: true, force: true }));
      const plane = cleanup.use(await startPlane(folder));
      kubectl = (...args) => spawn(program, [`--kubeconfig=${plane.kubeconfig}`, ...args]);
      client = connect(await loadKubeconfig(plane.kubeconfig));
      cleanup.defer(() => client.close());
      runtime = await startProcessRuntime({
        client,
        nodeName: 'local',
        folder: join(folder, 'node'),
        images: [programsInPath],
        log: new Logger({ level: 'silent', format: 'text', clock: systemClock }),
        kubelet: { clientCa: plane.authority.certificate },
      });
      cleanup.defer(() => runtime.close({ pods: 'stop' }));
      await signServingRequest(client, plane.authority);
      plane.reach?.(await kubeletPort(client));
      await client.create(Pod, {
        metadata: { namespace: 'default', name: 'talks' },
        spec: {
          nodeName: 'local',
          automountServiceAccountToken: false,
          terminationGracePeriodSeconds: 60,
          volumes: [{ name: 'shared', emptyDir: {} }],
          containers: [
            {
              name: 'main',
              image: 'example.com/sh:1',
              command: ['sh', '-c', 'trap "exit 0" TERM; echo one; echo two; while :; do sleep 1 & wait $!; done'],
              volumeMounts: [{ name: 'shared', mountPath: '/shared' }],
            },
          ],
        },
      });
      await until('the log', async () => (await output('logs', 'talks')).stdout === 'one\ntwo\n');
    });
    after(() => cleanup.disposeAsync());

    const output = async (...args: string[]): Promise<{ stdout: string; stderr: string; code: number }> => {
      const child = kubectl(...args);
      child.stdin!.end();
      return collected(child);
    };

    test('logs selects lines and follows', async () => {
      assert.equal((await output('logs', 'talks', '--tail=1')).stdout, 'two\n');
      assert.match((await output('logs', 'talks', '--timestamps', '--tail=1')).stdout, /^\d{4}-\S+Z two\n$/);
      const following = kubectl('logs', 'talks', '--follow', '--tail=1');
      const [first] = (await once(following.stdout!, 'data')) as [Buffer];
      assert.equal(first.toString(), 'two\n');
      following.kill();
      assert.match(
        (await output('logs', 'talks', '--previous')).stderr,
        /previous terminated container "main" in pod "talks" not found/,
      );
    });

    test('exec has input, both outputs and the exit code', async () => {
      const child = kubectl(
        'exec',
        '-i',
        'talks',
        '--',
        'sh',
        '-c',
        'read -r line; echo "out $line"; echo err >&2; exit 5',
      );
      child.stdin!.end('typed\n');
      const { stdout, stderr, code } = await collected(child);
      assert.equal(stdout, 'out typed\n');
      assert.match(stderr, /^err\n/);
      assert.equal(code, 5);
    });

    test('cp writes into a volume and reads from it', async () => {
      const [source, target] = [join(folder, 'source'), join(folder, 'target')];
      const text = 'x'.repeat(300_000);
      await writeFile(source, text);
      assert.equal((await output('cp', source, 'default/talks:/shared/copied')).code, 0);
      assert.equal((await output('cp', 'default/talks:/shared/copied', target)).code, 0);
      assert.equal(await readFile(target, 'utf8'), text);
    });

    test('port-forward reaches a port of the pod', async () => {
      const { status } = await client.get(Pod, { namespace: 'default', name: 'talks' });
      const server = createServer((socket) => socket.on('data', (piece) => socket.end(`echo ${piece.toString()}`)));
      server.listen(0, status!.podIP);
      await once(server, 'listening');
      const { port } = server.address() as { port: number };
      const forwarding = kubectl('port-forward', 'talks', `:${port}`);
      const [line] = (await once(forwarding.stdout!, 'data')) as [Buffer];
      const local = Number(/127\.0\.0\.1:(\d+)/.exec(line.toString())![1]);
      const socket = connectTcp({ host: '127.0.0.1', port: local });
      socket.write('hello');
      const [answer] = (await once(socket, 'data')) as [Buffer];
      assert.equal(answer.toString(), 'echo hello');
      socket.destroy();
      forwarding.kill();
      server.close();
    });
  });
}

async function collected(child: ChildProcess): Promise<{ stdout: string; stderr: string; code: number }> {
  let [stdout, stderr] = ['', ''];
  child.stdout!.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr!.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number];
  return { stdout, stderr, code };
}
