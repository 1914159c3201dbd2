/**
 * `hangar up --hosted` as a user runs it: a HostedControlPlane with only a version and replicas becomes a control plane of real
 * components on this machine, at the front door of the server. It survives a crash of the server, `hangar down` ends all of its processes, and `hangar up` resumes it.
 */

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { findServer } from '@hangar/core/command-line';
import { freePorts } from '../../tools/free-ports.ts';
import { tool } from '../../tools/tool.ts';
import { until } from '../process-runtime/testing/until.ts';

const run = promisify(execFile);
const program = fileURLToPath(new URL('../../bin/hangar.js', import.meta.url));
const components = ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kube-scheduler'] as const;
const minimal = {
  apiVersion: 'controlplane.cluster.x-k8s.io/v1alpha1',
  kind: 'HostedControlPlane',
  metadata: { name: 'first' },
  spec: { version: 'v1.36.4', replicas: 1 },
};

describe('hangar up --hosted', () => {
  let folder: string;
  let dataFolder: string;
  let port: number;
  /** Of the front door. */
  let doorPort: number;
  let kubectlPath: string;

  const hangar = async (...args: readonly string[]): Promise<string> => {
    const env = { ...process.env, PATH: `${join(folder, 'bin')}:${process.env['PATH']}`, HANGAR_TOOLS_CACHE: folder };
    const { stdout } = await run(process.execPath, [program, ...args, `--data-dir=${dataFolder}`], {
      env,
      cwd: folder,
    });
    return stdout;
  };
  const up = (...args: readonly string[]): Promise<string> =>
    hangar('up', '--detach', '--no-demo', `--port=${port}`, `--front-door-listen=127.0.0.1:${doorPort}`, ...args);
  const kubectl = (kubeconfig: string, ...args: readonly string[]): Promise<string> =>
    run(kubectlPath, [`--kubeconfig=${kubeconfig}`, ...args]).then(({ stdout }) => stdout);
  const management = (...args: readonly string[]): Promise<string> =>
    kubectl(join(dataFolder, 'admin.kubeconfig'), ...args);
  const hosted = (...args: readonly string[]): Promise<string> => kubectl(join(folder, 'first.kubeconfig'), ...args);
  /** Numbers of restarts of the containers of the control plane, by the name of the component. */
  const restarts = async (): Promise<Record<string, number>> => {
    const { items } = JSON.parse(await management('get', 'pods', '--output=json')) as {
      items: { metadata: { name: string }; status: { containerStatuses: { restartCount: number }[] } }[];
    };
    return Object.fromEntries(
      items.map(({ metadata, status }) => [metadata.name, status.containerStatuses[0]!.restartCount]),
    );
  };
  const describeAll = async (): Promise<string> =>
    [
      await management('get', 'pods,hostedcontrolplanes', '--all-namespaces', '--output=yaml').catch(String),
      readFileSync(join(dataFolder, 'hangar.log'), 'utf8').slice(-4_000),
    ].join('\n');
  const ready = (): Promise<true> =>
    until(
      'the control plane is ready',
      async () => {
        const status = await management(
          'get',
          'hostedcontrolplane/first',
          '--output=jsonpath={.status.conditions[?(@.type=="Ready")].status}',
        ).catch(() => '');
        return status === 'True' && (await hosted('get', '--raw=/readyz').catch(() => '')) === 'ok';
      },
      describeAll,
    );
  /** Processes whose command line names the data directory, or that are programs of a container in it. */
  const processes = (): string[] =>
    readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
      .map((pid) => {
        try {
          return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
        } catch {
          return '';
        }
      })
      .filter((line) => line.includes(folder));

  /** Keepers of a server that is gone would end their programs after a minute: this is sooner. */
  const ended = async (): Promise<void> => {
    const untilMs = performance.now() + 40_000;
    while (processes().length > 0 && performance.now() < untilMs) await delay(100);
    assert.deepEqual(processes(), []);
  };

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'hangar-up-'));
    dataFolder = join(folder, 'data');
    [port, doorPort] = (await freePorts(2)) as [number, number];
    kubectlPath = await tool('kubectl');
    // Command lines of all programs contain the folder, so that a leftover is found.
    await mkdir(join(folder, 'bin'));
    for (const name of components) await symlink(await tool(name), join(folder, 'bin', name));
  });
  after(async () => {
    await hangar('down').catch(() => undefined);
    await rm(folder, { recursive: true, force: true });
  });

  test('a HostedControlPlane with a version and replicas becomes a real control plane', async () => {
    await up('--hosted');
    const file = join(folder, 'first.json');
    await writeFile(file, JSON.stringify(minimal));
    await management('apply', `--filename=${file}`);
    await management('wait', '--for=condition=Ready', 'hostedcontrolplane/first', '--timeout=180s');
    await hangar('hosted', 'kubeconfig', 'first', '--output=first.kubeconfig');
    const host = 'first.default.hosted.localhost';
    const row = new RegExp(`^default +first +v1\\.36\\.4 +True +1/1 +https://${host}:${doorPort} `, 'm');
    assert.match(await hangar('hosted', 'list'), row);
    // The name is not in DNS: clients connect to the address, and the name is the TLS server name.
    const kubeconfig = await readFile(join(folder, 'first.kubeconfig'), 'utf8');
    assert.match(kubeconfig, new RegExp(`server: https://127\\.0\\.0\\.1:${doorPort}`));
    assert.match(kubeconfig, new RegExp(`tls-server-name: "?${host}`));
    // The objects in the cluster are those of the newest rendering.
    assert.equal(await hangar('hosted', 'diff', '--all'), '');
    assert.match(await hosted('version'), /Server Version: v1\.36\.4/);
    await hosted('create', 'configmap', 'kept');
  });

  test('kubectl logs and exec reach the pods of the management plane', async () => {
    const pod = 'pod/kube-scheduler-local';
    assert.match(await management('logs', '--namespace=kube-system', pod), /Starting Kubernetes Scheduler/);
    const output = await management('exec', '--namespace=kube-system', pod, '--', 'sh', '-c', 'echo from the pod');
    assert.equal(output, 'from the pod\n');
  });

  test('a server that was killed adopts the processes of its control planes', async () => {
    const found = await findServer(dataFolder);
    assert.equal(found.state, 'running');
    const etcd = (await restarts())['first-etcd-0'];
    process.kill(found.state === 'running' ? found.server.pid : 0, 'SIGKILL');
    await until('the server is dead', async () => (await findServer(dataFolder)).state !== 'running');
    // Without --hosted: the data directory has hosted control planes.
    await up();
    await ready();
    assert.equal((await restarts())['first-etcd-0'], etcd);
    assert.equal(await hosted('get', 'configmap/kept', '--output=name'), 'configmap/kept\n');
  });

  test('hangar down ends all processes, and hangar up resumes the control plane with its data', async () => {
    assert.ok(processes().length > components.length);
    await hangar('down');
    await ended();
    await up();
    await ready();
    assert.equal(await hosted('get', 'configmap/kept', '--output=name'), 'configmap/kept\n');
    await hangar('down');
    await ended();
  });
});
