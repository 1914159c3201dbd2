/** Cases: commands of kubectl whose data goes through the API server to the kubelet. */

import { folderPrefix } from '../machine/names.ts';
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import type { ClusterOf } from '../testing/cluster.ts';
import { pod } from '../testing/objects.ts';
import { Session } from '../testing/session.ts';

const counting = 'n=0; while true; do n=$((n+1)); echo line $n; sleep 0.1; done';
const echoing = 'while read -r line; do echo "got $line"; done';

export function streamCases(cluster: ClusterOf): void {
  const session = (...args: string[]): Session => new Session(cluster().kubectl.start(...args));

  test('the pods of these cases run on both nodes', async () => {
    const { kubectl } = cluster();
    await kubectl.apply(
      pod('counting', { command: ['sh', '-c', counting], nodeName: 'node-a' }),
      pod('echoing', { command: ['sh', '-c', echoing], nodeName: 'node-b', stdin: true }),
      pod('server', { image: 'agnhost', command: ['/agnhost', 'netexec', '--http-port=8080'], nodeName: 'node-b' }),
    );
    await kubectl.wait('condition=Ready', 'pod/counting', 'pod/echoing', 'pod/server');
  });

  test('logs prints the selected lines and ends', async () => {
    const { kubectl } = cluster();
    assert.match(await kubectl.run('logs', 'counting', '--limit-bytes=13'), /^line 1\nline 2/);
    assert.match(
      await kubectl.run('logs', 'counting', '--tail=1', '--timestamps'),
      /^\d{4}-\d\d-\d\dT\S+Z line \d+\n$/,
    );
  });

  test('logs -f prints new lines while the pod writes them', async () => {
    await using logs = session('logs', '--follow', '--tail=1', 'counting');
    const first = Number((await logs.until(/^line (\d+)\n/))[1]);
    await logs.until(new RegExp(`\\nline ${first + 10}\\n`));
  });

  test('exec passes input, output and the exit code', async () => {
    const { kubectl } = cluster();
    assert.equal(await kubectl.run('exec', 'server', '--', 'hostname'), 'server\n');
    await using cat = session('exec', '--stdin', 'counting', '--', 'cat');
    cat.write('some input\n');
    cat.endInput();
    assert.equal(await cat.exited(), 0);
    assert.equal(cat.output, 'some input\n');
    await using failing = session('exec', 'counting', '--', 'sh', '-c', 'exit 7');
    assert.equal(await failing.exited(), 7);
  });

  test('exec -it has a terminal', async () => {
    const { kubectl } = cluster();
    const [program, ...args] = kubectl.command('exec', '--stdin', '--tty', 'server', '--', 'sh');
    const quoted = [program, ...args].map((word) => `'${word}'`).join(' ');
    const stdio = ['pipe', 'pipe', 'pipe'] as const;
    // `script` gives kubectl a terminal.
    await using shell = new Session(
      spawn('script', ['--quiet', '--return', '--command', quoted, '/dev/null'], { stdio: [...stdio] }),
    );
    await shell.until(/# /);
    shell.write('tty; stty size\n');
    await shell.until(/\/dev\/pts\/\d+/);
    shell.write('exit 5\n');
    assert.equal(await shell.exited(), 5);
  });

  test('attach reads and writes the streams of a running container', async () => {
    await using attached = session('attach', '--stdin', 'echoing');
    attached.write('hello\n');
    await attached.until(/got hello\n/);
    attached.write('again\n');
    await attached.until(/got again\n/);
  });

  test('cp copies a file into a container and back', async (context) => {
    const { kubectl } = cluster();
    const folder = await mkdtemp(`${folderPrefix()}copy-`);
    context.after(() => rm(folder, { recursive: true, force: true }));
    const [there, back] = [join(folder, 'there'), join(folder, 'back')];
    const content = randomBytes(3 * 1024 * 1024);
    await writeFile(there, content);
    await kubectl.run('cp', there, 'server:/tmp/copy');
    await kubectl.run('cp', 'server:/tmp/copy', back);
    assert.ok(content.equals(await readFile(back)));
  });

  test('port-forward leads to a port of a pod, for several connections', async () => {
    await using forward = session('port-forward', 'pod/server', ':8080');
    const [, port] = await forward.until(/^Forwarding from 127\.0\.0\.1:(\d+) -> 8080$/m);
    const ask = async (path: string): Promise<string> => (await fetch(`http://127.0.0.1:${port}${path}`)).text();
    assert.deepEqual(await Promise.all([1, 2, 3].map(() => ask('/hostname'))), ['server', 'server', 'server']);
    assert.equal(await ask('/echo?msg=once+more'), 'once more');
  });

  test('the proxies of pods, services and nodes lead to their servers', async () => {
    const { kubectl } = cluster();
    const pods = '/api/v1/namespaces/default/pods';
    assert.equal(await kubectl.run('get', `--raw=${pods}/server:8080/proxy/hostname`), 'server');
    assert.match(await kubectl.run('get', '--raw=/api/v1/namespaces/default/services/web/proxy/hostname'), /^web-/);
    assert.equal(await kubectl.run('get', '--raw=/api/v1/nodes/node-b/proxy/healthz'), 'ok');
  });
}
