/**
 * A dedicated control plane as a user creates it: `hangar up --hosted`, then `hangar create big --mode dedicated`. Its commands are those of
 * a virtual control plane beside it. It has a host name at the front door, and is backed up and restored by its name. `hangar delete` retains
 * its data, which the next one of the name adopts; with --destroy it leaves nothing.
 */

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { freePorts } from '../../tools/free-ports.ts';
import { tool } from '../../tools/tool.ts';
import { until } from '../process-runtime/testing/until.ts';

const run = promisify(execFile);
const program = fileURLToPath(new URL('../../bin/hangar.js', import.meta.url));
const programs = ['etcd', 'etcdutl', 'kube-apiserver', 'kube-controller-manager', 'kube-scheduler'] as const;
const group = 'controlplane.kplane.dev/v1alpha1';

interface Listed {
  readonly items: readonly { readonly metadata: { readonly name: string } }[];
}

describe('hangar create --mode dedicated', () => {
  let folder: string;
  let dataFolder: string;
  let [port, doorPort]: [number, number] = [0, 0];
  let kubectlPath: string;

  const hangar = async (...args: readonly string[]): Promise<string> => {
    const env = {
      ...process.env,
      PATH: `${join(folder, 'bin')}:${process.env['PATH']}`,
      HANGAR_TOOLS_CACHE: folder,
      KUBECONFIG: join(folder, 'user.kubeconfig'),
    };
    const options = { env, cwd: folder };
    const { stdout } = await run(process.execPath, [program, ...args, `--data-dir=${dataFolder}`], options);
    return stdout;
  };
  const kubectl = (kubeconfig: string, ...args: readonly string[]): Promise<string> =>
    run(kubectlPath, [`--kubeconfig=${kubeconfig}`, ...args]).then(({ stdout }) => stdout);
  const management = (...args: readonly string[]): Promise<string> =>
    kubectl(join(dataFolder, 'admin.kubeconfig'), ...args);
  const big = (...args: readonly string[]): Promise<string> => kubectl(join(folder, 'big.kubeconfig'), ...args);
  const kept = (): Promise<string> => big('get', 'configmap/kept', '-o', 'name');
  const applied = async (object: object): Promise<void> => {
    const file = join(folder, 'object.json');
    await writeFile(file, JSON.stringify(object));
    await management('apply', `--filename=${file}`);
  };
  const failure = (args: readonly string[]): Promise<string> =>
    hangar(...args).then(
      () => assert.fail(`hangar ${args.join(' ')} succeeded`),
      (error: { readonly stderr: string }) => error.stderr,
    );
  const describeAll = async (): Promise<string> =>
    [
      await management('get', 'controlplanes,hostedcontrolplanes,pods', '-A', '--output=yaml').catch(String),
      readFileSync(join(dataFolder, 'hangar.log'), 'utf8').slice(-4_000),
    ].join('\n');
  /** Programs of a control plane whose command line names the data directory. */
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
      .filter((line) => line.includes(join(folder, 'bin')));

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'hangar-dedicated-'));
    dataFolder = join(folder, 'data');
    [port, doorPort] = (await freePorts(2)) as [number, number];
    kubectlPath = await tool('kubectl');
    await mkdir(join(folder, 'bin'));
    for (const name of programs) await symlink(await tool(name), join(folder, 'bin', name));
  });
  after(async () => {
    await hangar('down').catch(() => undefined);
    await rm(folder, { recursive: true, force: true });
  });

  test('without --hosted, the message says what to do', async () => {
    await hangar('up', '--detach', '--no-demo', `--port=${port}`);
    const text = await failure(['create', 'big', '--mode', 'dedicated']);
    assert.match(text, /DedicatedNotAvailable/);
    assert.match(text, /hangar up --hosted/);
    await hangar('delete', 'big', '--yes');
    await hangar('down');
  });

  test('it is created with a kubeconfig, the addons of its class and a registration', async () => {
    await hangar(
      'up',
      '--detach',
      '--no-demo',
      '--hosted',
      `--port=${port}`,
      `--front-door-listen=127.0.0.1:${doorPort}`,
    );
    await applied({
      apiVersion: group,
      kind: 'ControlPlaneClass',
      metadata: { name: 'gold' },
      spec: { addons: ['starter'], registration: { enabled: true, services: ['controllers', 'workloads'] } },
    });
    await hangar('create', 'small', '--deletion-policy', 'Destroy');
    const host = ['--host', 'big.hosted.localhost'];
    await hangar('create', 'big', '--mode', 'dedicated', '--class', 'gold', ...host, '-o', 'big.kubeconfig').catch(
      async (error: unknown) => {
        throw new Error(await describeAll(), { cause: error });
      },
    );
    assert.match(await big('version'), /Server Version: v1\.36\.4/);
    assert.equal(await big('auth', 'whoami', '--output=jsonpath={.status.userInfo.username}'), 'controlplane-admin');
    await big('create', 'configmap', 'kept');
    assert.equal(await big('get', 'configmap/welcome', '-n', 'kplane-system', '-o', 'name'), 'configmap/welcome\n');
    await until(
      'the registration is ready',
      async () =>
        (await management('get', 'controlplaneregistration/big', '-o', 'jsonpath={.status.ready} {.spec.services}')) ===
        'true ["workloads"]',
      describeAll,
    );
  });

  test('get, describe, use, kubeconfig and status treat both modes alike', async () => {
    const table = await hangar('get');
    assert.match(table, /^big +Dedicated +True +Ready +https:\/\/127\.0\.0\.1:\d+ /m);
    assert.match(table, /^small +Virtual +True +Ready +https:/m);
    const page = await hangar('describe', 'big');
    assert.match(page, /^Mode: +Dedicated$/m);
    assert.match(page, /^Deletion: +Retain\b/m);
    assert.match(page, /HostedControlPlane kplane-cp-big\/big/);
    assert.match(page, /Version: +v1\.36\.4/);
    const kubeconfig = await hangar('kubeconfig', 'big', '--external');
    assert.match(kubeconfig, new RegExp(`server: https://127\\.0\\.0\\.1:${doorPort}`));
    assert.match(kubeconfig, /tls-server-name: big\.hosted\.localhost/);
    await hangar('use', 'big');
    assert.equal(await kubectl(join(folder, 'user.kubeconfig'), 'get', 'cm', 'kept', '-o', 'name'), 'configmap/kept\n');
    assert.match(await hangar('status'), /2/);
  });

  test('nodes join with the printed command, whose token and hash the control plane has', async () => {
    const command = await hangar('node', 'join-command', 'big');
    const [, address, token, hash] =
      /^kubeadm join (\S+) --token (\S+) --discovery-token-ca-cert-hash (sha256:\w+)$/m.exec(command) ?? [];
    const endpoint = await management(
      'get',
      'hostedcontrolplane/big',
      '-n',
      'kplane-cp-big',
      '-o',
      'jsonpath={.spec.controlPlaneEndpoint.host}:{.spec.controlPlaneEndpoint.port}',
    );
    assert.equal(address, endpoint);
    assert.ok(hash);
    const id = token!.split('.')[0]!;
    await big('get', `secret/bootstrap-token-${id}`, '-n', 'kube-system');
    // The controller manager of the control plane signs cluster-info for the token: kubeadm verifies it.
    await until('cluster-info is signed', async () =>
      (await big('get', 'configmap/cluster-info', '-n', 'kube-public', '-o', 'yaml')).includes(`jws-kubeconfig-${id}`),
    );
  });

  test('commands and registrations that it does not support are refused with a clear message', async () => {
    assert.match(await failure(['suspend', 'big']), /mode Dedicated: the command supports only mode Virtual/);
    assert.match(
      await failure(['backup', 'big', '-o', 'big.backup']),
      /mode Dedicated: the command supports only mode/,
    );
    const spec = { controlPlaneRef: { name: 'big' }, services: ['controllers'] };
    await applied({ apiVersion: group, kind: 'ControlPlaneRegistration', metadata: { name: 'kcm' }, spec });
    await until('the registration is refused', async () =>
      (await management('get', 'controlplaneregistration/kcm', '-o', 'yaml')).includes('reason: ServiceIncluded'),
    );
  });

  test('it is backed up and restored in place by its name', async () => {
    const metadata = { name: 'big-1', namespace: 'hangar-system' };
    const controlPlaneRef = { kind: 'ControlPlane', name: 'big' };
    const complete = (kind: string): Promise<string> =>
      management('wait', '-n', metadata.namespace, '--for=condition=Complete', `${kind}/big-1`, '--timeout=90s').catch(
        async (error: unknown) => {
          const object = await management('get', kind, 'big-1', '-n', metadata.namespace, '-o', 'yaml').catch(String);
          throw new Error(`${object}\n${await describeAll()}`, { cause: error });
        },
      );
    await applied({
      apiVersion: 'backup.hangar.dev/v1alpha1',
      kind: 'ControlPlaneBackup',
      metadata,
      spec: { controlPlaneRef, destination: { folder: { name: 'big' } } },
    });
    await complete('controlplanebackup');
    await big('delete', 'configmap', 'kept');
    await applied({
      apiVersion: 'backup.hangar.dev/v1alpha1',
      kind: 'ControlPlaneRestore',
      metadata,
      spec: { source: { backupName: 'big-1' }, controlPlaneRef, mode: 'InPlace', confirmation: 'big' },
    });
    await complete('controlplanerestore');
    await until('the restored object is served', async () => (await kept().catch(() => '')) === 'configmap/kept\n');
  });

  test('delete retains the data without its programs, and the next one of the name has it', async () => {
    assert.match(await hangar('delete', 'big'), /data retained; to use it again: .* create big --mode dedicated/);
    await until('its programs have ended', () => processes().every((line) => !line.includes('kplane-cp-big')));
    assert.match(await hangar('get', '--retained'), /^big +Dedicated /m);
    await hangar('create', 'big', '--mode', 'dedicated', '--class', 'gold', '-o', 'again.kubeconfig').catch(
      async (error: unknown) => {
        throw new Error(await describeAll(), { cause: error });
      },
    );
    const again = join(folder, 'again.kubeconfig');
    assert.equal(await kubectl(again, 'get', 'cm', 'kept', '-o', 'name'), 'configmap/kept\n');
    // A kubeconfig from before is valid again: authority and address are the same.
    assert.equal(await kept(), 'configmap/kept\n');
    assert.equal(
      (await management('get', 'secrets', '-n', 'kplane-system', '-o', 'name')).includes('retained-big'),
      false,
    );
  });

  test('delete leaves nothing: no object, no process, no volume', async () => {
    assert.match(await failure(['delete', 'big', '--destroy']), /--yes/);
    await hangar('delete', 'big', '--destroy', '--yes');
    await hangar('delete', 'small', '--yes');
    for (const kinds of ['controlplanes', 'hostedcontrolplanes', 'controlplaneregistrations']) {
      const { items } = JSON.parse(await management('get', kinds, '-A', '-o', 'json')) as Listed;
      assert.deepEqual(
        items.filter(({ metadata }) => metadata.name === 'big'),
        [],
        kinds,
      );
    }
    const gone = (...args: readonly string[]) =>
      until(
        `${args.join(' ')} is gone`,
        async () => (await management('get', ...args, '-o', 'name').catch(() => '')) === '',
        describeAll,
      );
    await gone('namespace', 'kplane-cp-big');
    await gone('persistentvolumes');
    await until('its programs have ended', () => processes().every((line) => !line.includes('kplane-cp-big')));
    assert.equal(
      readdirSync(join(dataFolder, 'hosted'), { recursive: true }).filter((path) =>
        String(path).includes('kplane-cp-big'),
      ).length,
      0,
    );
  });
});
