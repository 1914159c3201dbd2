/**
 * The README, and the guide that goes on from it, done by somebody who has just cloned the repository and types everything that they
 * say, into as many terminals as they say; what they show is what is printed.
 */

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { run } from '../../tools/run.ts';
import { tool } from '../../tools/tool.ts';
import { normalised, readDocument, root } from '../examples/testing/documents.ts';
import { Shell } from '../examples/testing/shell.ts';

const programs = ['kubectl', 'kube-controller-manager', 'kube-scheduler'] as const;
const startTimeoutMs = 5 * 60_000;
/** What commands say while they wait: on a terminal it is one line, which is gone when they have ended. */
const progress = /^(?:waiting|restoring) .*\n/gm;
/** The README's test command is what runs this. */
const notRun = 'test';

describe('the README', () => {
  const opened = new AsyncDisposableStack();
  const terminals = new Map<string, Terminal>();
  let clone: string;
  let env: Record<string, string | undefined>;

  before(async () => {
    const place = await mkdtemp(join(tmpdir(), 'hangar-readme-'));
    opened.defer(() => rm(place, { recursive: true, force: true }));
    clone = join(place, 'hangar');
    const home = join(place, 'home');
    await mkdir(join(home, 'programs'), { recursive: true });
    for (const name of programs) await symlink(await tool(name), join(home, 'programs', name));
    await copyTracked(clone);
    // A home of its own, with what was downloaded and built before.
    env = {
      PATH: `${home}/programs:${process.env['PATH']}`,
      HOME: home,
      XDG_CACHE_HOME: process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'),
      npm_config_cache: process.env['npm_config_cache'] ?? join(homedir(), '.npm'),
      npm_config_prefer_offline: 'true',
      npm_config_update_notifier: 'false',
    };
    opened.defer(async () => {
      for (const terminal of [...terminals.values()].reverse()) await terminal.end();
    });
  });
  after(() => opened.disposeAsync());

  for (const document of ['README.md', 'docs/guides/controllers-for-a-fleet.md']) {
    test(`${document}: what it says to type works, and prints what it shows`, { timeout: 10 * 60_000 }, async () => {
      await using shell = new Shell({ cwd: clone, env });
      for (const terminal of [...terminals.values()].reverse()) await terminal.end();
      terminals.clear();
      const blocks = readDocument(document);
      for (const [at, { language, about, text, line }] of blocks.entries()) {
        if (language !== 'sh') continue;
        const next = blocks[at + 1];
        const shown = next?.language === '' ? next.text : '';
        const [, name] = /^terminal (\w+)$/.exec(about) ?? [];
        if (name === notRun) continue;
        if (name === undefined) {
          const printed = `${await shell.paste(text)}\n`.replaceAll(progress, '');
          if (shown) assert.equal(normalised(printed), normalised(shown), `${document}:${line}`);
          else assert.doesNotMatch(printed, /error/i, `${document}:${line}`);
          continue;
        }
        await terminals.get(name)?.end();
        const terminal = new Terminal(text, { cwd: clone, env });
        terminals.set(name, terminal);
        if (name === 'server') await terminal.printed('Ctrl-C ends it.');
        if (shown) assert.ok(normalised(terminal.output).endsWith(normalised(shown)), `${document}:${line}`);
      }
      for (const [name, { isRunning, output }] of terminals) assert.ok(isRunning, `${name} ended:\n${output}`);
    });
  }
});

/** As a clone of what is here now would have them. */
async function copyTracked(to: string): Promise<void> {
  const { stdout } = await run('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
    timeoutMs: 60_000,
  });
  for (const name of stdout.split('\0').filter(Boolean)) {
    await mkdir(dirname(join(to, name)), { recursive: true });
    await cp(join(root, name), join(to, name), { verbatimSymlinks: true }).catch((error: NodeJS.ErrnoException) => {
      // Deleted, and not committed yet.
      if (error.code !== 'ENOENT') throw error;
    });
  }
}

/** One in which something runs until Ctrl-C. */
class Terminal {
  readonly #child: ChildProcess;
  #output = '';

  constructor(text: string, { cwd, env }: { readonly cwd: string; readonly env: Record<string, string | undefined> }) {
    this.#child = spawn('bash', ['-c', text], { cwd, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
    for (const stream of [this.#child.stdout!, this.#child.stderr!]) {
      stream.setEncoding('utf8').on('data', (more: string) => (this.#output += more));
    }
  }

  get output(): string {
    return this.#output;
  }

  get isRunning(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  async printed(wanted: string): Promise<void> {
    const endMs = performance.now() + startTimeoutMs;
    while (!this.#output.includes(wanted)) {
      if (!this.isRunning || performance.now() > endMs) throw new Error(`no "${wanted}" in\n${this.#output}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  /** With Ctrl-C, which everything in a terminal gets. Resolves with the exit code. */
  async end(): Promise<number | null> {
    if (!this.isRunning) return this.#child.exitCode;
    const ended = once(this.#child, 'exit');
    process.kill(-this.#child.pid!, 'SIGINT');
    await ended;
    return this.#child.exitCode;
  }
}
