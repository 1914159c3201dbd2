/** The program as a user starts it. */

import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

const hangar = fileURLToPath(new URL('../../../bin/hangar.js', import.meta.url));
const patienceMs = 60_000;
let folder: string;
before(() => void (folder = mkdtempSync(join(tmpdir(), 'hangar-'))));
after(() => rmSync(folder, { recursive: true, force: true }));

const run = (...args: string[]) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [hangar, ...args], {
    encoding: 'utf8',
    timeout: patienceMs,
  });
  return { status, stdout, stderr };
};

test('it says how it is used, and which version it is', () => {
  const help = run('up', '--help');
  assert.deepEqual([help.status, help.stderr], [0, '']);
  for (const option of ['--data-dir', '--listen', '--kubeconfig', '--token-file', '--store'])
    assert.ok(help.stdout.includes(option));
  const version = run('up', '--version');
  assert.equal(version.status, 0);
  assert.match(version.stdout, /^hangar \d+\.\d+\.\d+, Kubernetes 1\.36\.\d+\n$/);
});

test('a command line that cannot be is one line, and no stack; flags without a command are those of up', () => {
  assert.equal(run('up', '--listen', 'nonsense').status, 2);
  const { status, stdout, stderr } = run('--listen', 'nonsense');
  assert.deepEqual([status, stdout, stderr], [2, '', 'hangar: --listen: "nonsense" is not HOST:PORT\n']);
});

test('under an old Node it ends as the one that it started ended, also by a signal', () => {
  const ended = (program: string) => {
    // An old Node, whose newer one runs this program instead.
    const preload = `import { createRequire, syncBuiltinESMExports } from 'node:module';
      Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.0.0' } });
      const processes = createRequire(${JSON.stringify(import.meta.url)})('node:child_process');
      const { spawn } = processes;
      processes.spawn = () => spawn(process.execPath, ['-e', ${JSON.stringify(program)}], { stdio: 'inherit' });
      syncBuiltinESMExports();`;
    const preloaded = `data:text/javascript,${encodeURIComponent(preload)}`;
    const options = { encoding: 'utf8', timeout: patienceMs } as const;
    const { status, signal } = spawnSync(process.execPath, ['--import', preloaded, hangar, 'version'], options);
    return signal ?? status;
  };
  assert.equal(ended('process.exit(3)'), 3);
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGKILL']) {
    assert.equal(ended(`process.kill(process.pid, '${signal}'); setInterval(() => {}, 1000)`), signal);
  }
});

test('a kubeconfig that cannot be written is one line, and the end', () => {
  const data = join(folder, 'odd');
  const { status, stdout, stderr } = run(
    'up',
    '--bare',
    '--store',
    'memory',
    '--listen',
    '127.0.0.1:0',
    '--data-dir',
    data,
    '--kubeconfig',
    folder,
  );
  assert.deepEqual([status, stdout], [1, '']);
  assert.match(stderr, /^hangar: E[A-Z]+: .*\n$/);
});

test('a port in use names the process that listens there, without a stack', async () => {
  const occupant = createServer().listen(0, '127.0.0.1');
  await once(occupant, 'listening');
  const { port } = occupant.address() as AddressInfo;
  const child = spawn(process.execPath, [
    hangar,
    'up',
    '--bare',
    '--store',
    'memory',
    '--data-dir',
    join(folder, 'taken'),
    '--listen',
    `127.0.0.1:${port}`,
  ]);
  try {
    const output = outputOf(child);
    const [status] = await once(child, 'exit');
    assert.equal(status, 1);
    assert.match(
      output.stderr,
      new RegExp(
        `^hangar: port ${port} of 127\\.0\\.0\\.1 is in use by process ${process.pid} .*\\n +stop it.*--port \\d+\\n$`,
      ),
    );
    assert.equal(output.stdout, '');
  } finally {
    child.kill('SIGKILL');
    occupant.close();
  }
});

function outputOf(child: ChildProcess): { stdout: string; stderr: string } {
  const output = { stdout: '', stderr: '' };
  child.stdout!.on('data', (piece: Buffer) => (output.stdout += piece.toString()));
  child.stderr!.on('data', (piece: Buffer) => (output.stderr += piece.toString()));
  return output;
}

interface Started {
  readonly child: ChildProcess;
  readonly output: { stdout: string; stderr: string };
  readonly url: string;
}

async function started(...args: string[]): Promise<Started> {
  const child = spawn(process.execPath, [hangar, 'up', '--bare', '--listen', '127.0.0.1:0', ...args]);
  const output = outputOf(child);
  const deadline = Date.now() + patienceMs;
  while (!output.stdout.includes('Ctrl-C')) {
    if (child.exitCode !== null || Date.now() > deadline) {
      child.kill('SIGKILL');
      assert.fail(`it did not start: ${output.stdout}${output.stderr}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return { child, output, url: /https:\/\/127\.0\.0\.1:\d+/.exec(output.stdout)![0] };
}

async function stopped({ child }: Started, signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> {
  const exit = once(child, 'exit');
  child.kill(signal);
  const [code] = await exit;
  return code as number | null;
}

/** By the kubeconfig that was written, as kubectl would. */
async function ask(kubeconfig: string, path: string, token?: string): Promise<{ status: number; body: string }> {
  const text = readFileSync(kubeconfig, 'utf8');
  const field = (name: string): string => new RegExp(`${name}: (\\S+)`).exec(text)![1]!;
  const pem = (name: string): Buffer => Buffer.from(field(name), 'base64');
  const client = { cert: pem('client-certificate-data'), key: pem('client-key-data') };
  const asked = request(`${field('server')}${path}`, {
    ca: pem('certificate-authority-data'),
    agent: false,
    ...(token === undefined ? client : { headers: { authorization: `Bearer ${token}` } }),
  });
  asked.end();
  const [response] = await once(asked, 'response');
  let body = '';
  for await (const piece of response) body += String(piece);
  return { status: response.statusCode, body };
}

describe('when it is started', () => {
  test('it serves, says how to use it, keeps its secrets to itself, and stops when it is told to', async () => {
    const data = join(folder, 'data');
    const tokenFile = join(folder, 'tokens');
    writeFileSync(tokenFile, 'the-token,jane,1,"system:masters"\njoes-token,joe,2\n');
    const kubeconfig = join(data, 'admin.kubeconfig');
    let running = await started('--data-dir', data, '--token-file', tokenFile);
    let certificate: string;
    try {
      const second = run('up', '--bare', '--data-dir', data, '--listen', '127.0.0.1:0');
      assert.equal(second.status, 1);
      assert.match(
        second.stderr,
        new RegExp(
          `^hangar: the data directory .* is in use by process \\d+, which serves ${running.url}\\n +stop it.*--data-dir .*\\n$`,
        ),
      );
      assert.match(
        running.output.stdout,
        new RegExp(`^Hangar serves the API of Kubernetes 1\\.36\\.\\d+ at ${running.url}$`, 'm'),
      );
      assert.ok(running.output.stdout.includes(`kubectl --kubeconfig ${kubeconfig} `), running.output.stdout);
      assert.deepEqual(await ask(kubeconfig, '/readyz'), { status: 200, body: 'ok' });
      assert.equal((await ask(kubeconfig, '/api/v1/namespaces')).status, 200);
      assert.equal((await ask(kubeconfig, '/api/v1/namespaces', 'the-token')).status, 200);
      assert.equal((await ask(kubeconfig, '/api/v1/namespaces', 'wrong')).status, 401);
      assert.equal((await ask(kubeconfig, '/api/v1/namespaces', 'joes-token')).status, 403);
      assert.equal((await ask(kubeconfig, '/apis', 'joes-token')).status, 200);
      for (const secret of [
        kubeconfig,
        join(data, 'pki/ca.key'),
        join(data, 'pki/admin.key'),
        join(data, 'pki/server.key'),
      ]) {
        assert.equal(statSync(secret).mode & 0o077, 0, secret);
      }
      certificate = readFileSync(join(data, 'pki/ca.crt'), 'utf8');
    } finally {
      assert.equal(await stopped(running), 0);
    }
    assert.equal(running.output.stderr, '');
    // Again on the same data: what was made is kept.
    running = await started('--data-dir', data);
    try {
      assert.equal(readFileSync(join(data, 'pki/ca.crt'), 'utf8'), certificate);
      assert.equal((await ask(kubeconfig, '/api/v1/namespaces/default')).status, 200);
    } finally {
      assert.equal(await stopped(running, 'SIGINT'), 0);
    }
  });

  test('on a store in memory it says that nothing is kept', async () => {
    const running = await started('--store', 'memory', '--data-dir', join(folder, 'memory'));
    try {
      assert.match(running.output.stdout, /The store is in memory: all data is lost/);
    } finally {
      assert.equal(await stopped(running), 0);
    }
  });
});
