/**
 * The whole story of a user and a script: `hangar up`, every command through the entry, and the real kubectl with the files that they
 * wrote.
 */

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { tool } from '../../../tools/tool.ts';

const bin = fileURLToPath(new URL('../../../bin/', import.meta.url));

interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

let folder: string;
let server: ChildProcess;
let url: string;
let kubectlPath: string;

const environment = (): NodeJS.ProcessEnv => ({
  ...process.env,
  HOME: folder,
  KUBECONFIG: '',
  PATH: `${folder}:${dirname(kubectlPath)}:${process.env['PATH']}`,
});

async function run(program: string, args: readonly string[]): Promise<Ended> {
  const child = spawn(program, args, { cwd: folder, env: environment(), stdio: ['ignore', 'pipe', 'pipe'] });
  let [out, err] = ['', ''];
  child.stdout.on('data', (data: Buffer) => (out += data.toString()));
  child.stderr.on('data', (data: Buffer) => (err += data.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, out, err };
}

const hangar = (...words: string[]): Promise<Ended> => run(process.execPath, [join(bin, 'hangar.js'), ...words]);
const kubectl = (...words: string[]): Promise<Ended> => run(kubectlPath, words);

async function well(ended: Promise<Ended>): Promise<string> {
  const { code, out, err } = await ended;
  assert.equal(code, 0, `${out}\n${err}`);
  return out;
}

before(async () => {
  kubectlPath = await tool('kubectl');
  folder = await mkdtemp(join(tmpdir(), 'hangar-story-'));
  await symlink(join(bin, 'kubectl-hangar.js'), join(folder, 'kubectl-hangar'));
  server = spawn(process.execPath, [join(bin, 'hangar.js'), 'up', '--data-dir', '.data', '--port', '0'], {
    cwd: folder,
    env: environment(),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  for await (const line of createInterface(server.stdout!)) {
    assert.match(line, /^ready https:\/\/127\.0\.0\.1:\d+$/);
    url = line.slice('ready '.length);
    break;
  }
});

after(async () => {
  if (server.exitCode === null) {
    server.kill('SIGTERM');
    await once(server, 'exit');
  }
  await rm(folder, { recursive: true, force: true });
});

describe('a person and a script', { concurrency: false }, () => {
  test('make a control plane, whose kubeconfig can be used at once', async () => {
    const created = await hangar('create', 'shop', '--data-dir', '.data', '-o', 'shop.kubeconfig');
    assert.equal(created.code, 0, created.err);
    assert.equal((await stat(join(folder, 'shop.kubeconfig'))).mode & 0o777, 0o600);
    const made = await well(kubectl('--kubeconfig', 'shop.kubeconfig', 'create', 'configmap', 'kept'));
    assert.equal(made, 'configmap/kept created\n');
    assert.equal((await hangar('create', 'shop')).code, 1);
  });

  test('look at it', async () => {
    assert.match(
      await well(hangar('get', 'shop')),
      new RegExp(
        `^NAME {3}MODE {6}READY {3}PHASE {3}ENDPOINT +AGE\nshop {3}Virtual {3}True {4}Ready {3}${url}/clusters/shop/control-plane +\\d+s\n$`,
      ),
    );
    assert.match(await well(hangar('describe', 'shop')), /Ready +True +Reconciled/);
    assert.match(await well(hangar('top', '--once', '--interval', '200ms')), /^shop +[\d.]+ +[1-9]\d* +/m);
    const doctor = await hangar('doctor');
    assert.equal(doctor.code, 0, doctor.out);
    assert.match(doctor.out, /✔ clock: the same time as the server/);
    assert.match(await well(hangar('version')), /Server: Kubernetes v1\./);
  });

  test('let kubectl use it, beside what was in its file', async () => {
    const file = join(folder, '.kube', 'config');
    await mkdir(dirname(file));
    await writeFile(file, 'preferences: {colors: true}\nusers:\n- {name: "no", user: {token: "017"}}\n');
    await well(hangar('use', 'shop'));
    assert.match(await well(kubectl('get', 'configmaps')), /^kept /m);
    assert.equal((await well(kubectl('config', 'current-context'))).trim(), 'hangar-shop');
    const kept = await well(
      kubectl('config', 'view', '--raw', '-o', 'jsonpath={.preferences.colors} {.users[?(@.name=="no")]}'),
    );
    assert.equal(kept, 'true {"name":"no","user":{"token":"017"}}');
  });

  test('suspend and resume it', async () => {
    await well(hangar('suspend', 'shop'));
    assert.match((await kubectl('create', 'configmap', 'refused')).err, /read-only until it is resumed/);
    await well(hangar('suspend', 'shop', '--offline'));
    assert.match((await kubectl('get', 'configmaps')).err, /suspended until it is resumed/);
    await well(hangar('resume', 'shop'));
    await well(kubectl('create', 'configmap', 'welcome'));
  });

  test('keep it in a file, and make another one of it, which the operator looks after', async () => {
    await well(hangar('backup', 'shop', '-o', 'shop.backup'));
    await well(hangar('restore', 'copy', '-f', 'shop.backup'));
    await well(hangar('kubeconfig', 'copy', '-o', 'copy.kubeconfig'));
    assert.match(await well(kubectl('--kubeconfig', 'copy.kubeconfig', 'get', 'configmaps')), /^kept /m);
    const claim = await well(
      kubectl(
        '--kubeconfig',
        '.data/admin.kubeconfig',
        'get',
        'tenant',
        'copy',
        '-o',
        'jsonpath={.metadata.annotations}',
      ),
    );
    assert.match(claim, /"controlplane\.kplane\.dev\/name":"copy"/);
    assert.doesNotMatch(claim, /adopt-by/);
  });

  test('find what is like what they mistyped', async () => {
    const { code, err } = await hangar('use', 'shpo');
    assert.deepEqual([code, err], [1, 'hangar: there is no control plane "shpo"\n        did you mean "shop"?\n']);
  });

  test('do the same with kubectl hangar', async () => {
    const { code, out, err } = await kubectl('hangar', 'get', '-o', 'name');
    assert.equal(code, 0, err);
    assert.match(out, /^controlplane\.controlplane\.kplane\.dev\/shop$/m);
    assert.match(await well(kubectl('hangar', 'help')), /Usage:\n {2}kubectl hangar COMMAND/);
  });

  // Of the processor, because other tests are not the command's fault.
  test('wait little: a command that asks the server takes less than 300 ms', async () => {
    const measured = 'TIMEFORMAT="%U %S"; time "$@" > /dev/null';
    const times: number[] = [];
    for (let round = 0; round < 5; round++) {
      const { code, err } = await run('bash', [
        '-c',
        measured,
        'bash',
        process.execPath,
        join(bin, 'hangar.js'),
        'get',
      ]);
      assert.equal(code, 0, err);
      times.push(
        err
          .trim()
          .split(' ')
          .map(Number)
          .reduce((sum, seconds) => sum + seconds * 1_000, 0),
      );
    }
    console.log(`hangar get: ${times.map((ms) => Math.round(ms)).join(', ')} ms of processor time`);
    assert.ok(Math.min(...times) < 300, `the fastest took ${Math.min(...times)} ms`);
  });

  test('see retained data with both programs, and purge it', async () => {
    await well(hangar('create', 'brief', '-o', 'brief.kubeconfig'));
    await well(hangar('use', 'brief'));
    await well(kubectl('create', 'configmap', 'left'));
    const { err } = await hangar('delete', 'brief');
    assert.match(err, /context hangar-brief removed from /);
    assert.equal((await well(kubectl('config', 'current-context'))).trim(), 'hangar-shop');
    assert.match(await well(hangar('get', '--retained')), /^brief +Virtual +\d+ +[\d.]+KiB +false +\d+s$/m);
    const admin = ['--kubeconfig', '.data/admin.kubeconfig'];
    assert.match(await well(kubectl(...admin, 'get', 'retainedtenants')), /^brief +\d+ +\d+ +false +\d+s$/m);
    await well(hangar('purge', 'brief', '--yes'));
    assert.equal(await well(kubectl(...admin, 'get', 'retainedtenants', '-o', 'name')), '');
  });

  test('run a command in it', async () => {
    const out = await well(hangar('connect', 'shop', '--', 'kubectl', 'get', 'configmaps', '-o', 'name'));
    assert.match(out, /^configmap\/kept$/m);
    assert.equal((await hangar('connect', 'shop', '--', 'sh', '-c', 'exit 7')).code, 7);
  });

  test('get a hint when kubectl drops the path of the server URL', async () => {
    const old = await tool('kubectl-1.32');
    const { code, err } = await run(old, ['--kubeconfig', 'shop.kubeconfig', 'get', '--raw', '/metrics']);
    assert.equal(code, 1);
    assert.match(err, /send the request to \/clusters\/NAME\/control-plane/);
    const whole = '/clusters/shop/control-plane/metrics';
    assert.match(
      await well(run(old, ['--kubeconfig', 'shop.kubeconfig', 'get', '--raw', whole])),
      /apiserver_request_total/,
    );
    assert.match(
      await well(kubectl('--kubeconfig', 'shop.kubeconfig', 'get', '--raw', '/metrics')),
      /apiserver_request_total/,
    );
  });

  test('delete it, and what was deleted without --destroy comes back', async () => {
    await well(hangar('delete', 'shop'));
    await well(hangar('create', 'shop', '-o', 'again.kubeconfig'));
    assert.match(await well(kubectl('--kubeconfig', 'again.kubeconfig', 'get', 'configmaps')), /^kept /m);
    const refused = await hangar('delete', 'shop', '--destroy');
    assert.equal(refused.code, 1);
    assert.match(refused.err, /no terminal for the confirmation\n +.*add --yes/);
    await well(hangar('delete', 'shop', '--destroy', '--yes'));
    await well(hangar('create', 'shop', '-o', 'again.kubeconfig'));
    assert.doesNotMatch(await well(kubectl('--kubeconfig', 'again.kubeconfig', 'get', 'configmaps')), /^kept /m);
  });

  test('are told when the server is away', async () => {
    server.kill('SIGTERM');
    await once(server, 'exit');
    const { code, err } = await hangar('get');
    assert.equal(code, 1);
    assert.match(
      err,
      /the server cannot be reached: .*\n +check that it is running; start it with: node \/.*bin\/hangar\.js up\n$/,
    );
    const doctor = await hangar('doctor');
    assert.equal(doctor.code, 1);
    assert.match(doctor.out, /✖ nothing listens at 127\.0\.0\.1:\d+: Hangar is not running/);
  });
});
