/** How a user starts Hangar: through npx, through a link in PATH, by its file; and how it stops when its launcher exits. */

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));
const entry = join(root, 'bin', 'hangar.js');
const patienceMs = 120_000;

let place: string;

before(async () => {
  place = await mkdtemp(join(tmpdir(), 'hangar-launch-'));
  await mkdir(join(place, 'programs'));
  await mkdir(join(place, 'folder'));
  await symlink(entry, join(place, 'programs', 'hangar'));
});
after(() => rm(place, { recursive: true, force: true }));

/** As in a terminal: without what npm gave to the test. */
function environment(more: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !/^npm_(?!config)|^INIT_CWD$|^HANGAR_|^LOG_/.test(name));
  const path = `${dirname(process.execPath)}${delimiter}${process.env['PATH']}`;
  return { ...Object.fromEntries(kept), PATH: path, KUBECONFIG: '', ...more };
}

class Launched {
  readonly child: ChildProcess;
  out = '';

  constructor(words: readonly string[], { cwd, env }: { readonly cwd: string; readonly env?: NodeJS.ProcessEnv }) {
    const [program = '', ...args] = words;
    this.child = spawn(program, args, {
      cwd,
      env: env ?? environment(),
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    for (const stream of [this.child.stdout!, this.child.stderr!]) {
      stream.setEncoding('utf8').on('data', (text: string) => (this.out += text));
    }
    process.once('exit', () => this.killAll());
  }

  async until(isSo: () => boolean | Promise<boolean>): Promise<void> {
    const endMs = performance.now() + patienceMs;
    while (!(await isSo())) {
      if (performance.now() > endMs) throw new Error(`it did not happen:\n${this.out}`);
      await sleep(20);
    }
  }

  async ended(): Promise<number | null> {
    const { exitCode, signalCode } = this.child;
    if (exitCode === null && signalCode === null) await once(this.child, 'exit');
    return this.child.exitCode;
  }

  killAll(): void {
    try {
      process.kill(-this.child.pid!, 'SIGKILL');
    } catch {
      // All have exited.
    }
  }
}

async function said(words: readonly string[], cwd: string, env?: NodeJS.ProcessEnv): Promise<string> {
  const launched = new Launched(words, { cwd, ...(env ? { env } : {}) });
  await launched.ended();
  await launched.until(() => launched.out.includes('\n'));
  return launched.out;
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

describe('commands that Hangar prints begin with words that work where the user is', () => {
  test('node and the file, where it is started so', async () => {
    const folder = join(place, 'folder');
    assert.ok((await said(['node', entry, 'get'], folder)).includes(`start Hangar with: node ${entry} up\n`));
    assert.match(
      await said(['node', 'bin/hangar.js', 'get', '--data-dir=no'], root),
      /: node bin\/hangar\.js up --data-dir no\n/,
    );
  });

  test('hangar, where it is in PATH', async () => {
    const env = environment();
    const out = await said(['hangar', 'get'], join(place, 'folder'), {
      ...env,
      PATH: `${join(place, 'programs')}${delimiter}${env['PATH']}`,
    });
    assert.match(out, /start Hangar with: hangar up\n/);
  });

  test('npx hangar, in the checkout', async () => {
    assert.match(
      await said(['npx', '--no-install', 'hangar', 'get', '--data-dir=no'], root),
      /: npx hangar up --data-dir no\n/,
    );
  });
});

describe('the server stops', () => {
  const serverOf = async (data: string): Promise<number> =>
    (JSON.parse(await readFile(join(data, 'server.json'), 'utf8')) as { pid: number }).pid;

  async function up(name: string, words: readonly string[], cwd: string): Promise<Launched & { data: string }> {
    const data = join(place, name);
    const launched = new Launched([...words, 'up', '--bare', '--data-dir', data, '--port', '0'], { cwd });
    await launched.until(() => launched.out.includes('Press Ctrl-C'));
    return Object.assign(launched, { data });
  }

  test('when npx is killed', async () => {
    const launched = await up('npx', ['npx', '--no-install', 'hangar'], root);
    const pid = await serverOf(launched.data);
    try {
      assert.notEqual(pid, launched.child.pid);
      launched.child.kill('SIGKILL');
      await launched.until(() => !isRunning(pid));
      assert.match(launched.out, /the process that started Hangar has exited; stopping/);
    } finally {
      launched.killAll();
    }
  });

  test('when its parent exits, with --exit-with-parent', async () => {
    const data = join(place, 'parent');
    const script = `"$@" --exit-with-parent & wait`;
    const words = ['sh', '-c', script, 'sh', 'node', entry, 'up', '--bare', '--data-dir', data, '--port', '0'];
    const launched = new Launched(words, { cwd: place });
    try {
      await launched.until(() => launched.out.includes('Press Ctrl-C'));
      const pid = await serverOf(data);
      launched.child.kill('SIGKILL');
      await launched.until(() => !isRunning(pid));
    } finally {
      launched.killAll();
    }
  });

  test('when its process group is signalled, as a terminal that is closed does', async () => {
    for (const signal of ['SIGHUP', 'SIGTERM'] as const) {
      const launched = await up(signal, ['node', entry], place);
      const pid = await serverOf(launched.data);
      process.kill(-launched.child.pid!, signal);
      await launched.until(() => !isRunning(pid));
      assert.equal(await launched.ended(), 0, launched.out);
    }
  });

  test('when its data directory is removed, and says so', async () => {
    const launched = await up('removed', ['node', entry], place);
    await rm(launched.data, { recursive: true });
    assert.equal(await launched.ended(), 1);
    assert.match(launched.out, /hangar: the data directory .*removed was removed; stopping\n/);
  });
});
