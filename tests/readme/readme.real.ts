/**
 * The first hour of a user who has cloned the repository and types every command of the README, into as many terminals as it names, from
 * top to bottom, twice; and the guides that continue it. The output is as documented, and the log of the server has no errors.
 */

import assert from 'node:assert/strict';
import { cp, mkdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { run } from '../../tools/run.ts';
import { tool } from '../../tools/tool.ts';
import { normalised, readDocument, root } from '../examples/testing/documents.ts';
import { Shell } from '../examples/testing/shell.ts';
import { Terminal } from '../examples/testing/terminal.ts';

const programs = ['kubectl', 'kube-controller-manager', 'kube-scheduler', 'etcd', 'etcdutl', 'kube-apiserver'] as const;
/** Progress of commands: on a terminal it is one line, which is erased when they complete. */
const progress = /^(?:waiting|restoring) .*\n|^(?:Provision|CopyAndFollow|Verify|Switch|Registrations): .*\n/gm;

/** The README twice, in one data directory: its last step leaves `demo` as it was. The second time with the oldest kubectl that it names. */
const passes = [
  { document: 'README.md', kubectl: 'kubectl' },
  { document: 'README.md', kubectl: 'kubectl-1.32' },
  { document: 'docs/guides/controllers-for-a-fleet.md', kubectl: 'kubectl' },
  { document: 'docs/guides/hosted-control-planes.md', kubectl: 'kubectl' },
  { document: 'docs/guides/backup-and-disaster.md', kubectl: 'kubectl' },
  { document: 'docs/guides/migration.md', kubectl: 'kubectl' },
] as const;

describe('the README', () => {
  const opened = new AsyncDisposableStack();
  const terminals = new Map<string, Terminal>();
  let clone: string;
  let home: string;
  let env: Record<string, string | undefined>;

  before(async () => {
    const place = await mkdtemp(join(tmpdir(), 'hangar-readme-'));
    opened.defer(() => rm(place, { recursive: true, force: true }));
    clone = join(place, 'hangar');
    home = join(place, 'home');
    await mkdir(join(home, 'programs'), { recursive: true });
    for (const name of programs) await symlink(await tool(name), join(home, 'programs', name));
    await copyTracked(clone);
    // A separate home, with the caches of earlier downloads and builds.
    env = {
      PATH: `${home}/programs:${process.env['PATH']}`,
      HOME: home,
      XDG_CACHE_HOME: process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'),
      npm_config_cache: process.env['npm_config_cache'] ?? join(homedir(), '.npm'),
      npm_config_prefer_offline: 'true',
      npm_config_update_notifier: 'false',
    };
    opened.defer(() => endAll(terminals));
  });
  after(() => opened.disposeAsync());

  for (const [at, { document, kubectl }] of passes.entries()) {
    test(`${document} works as typed with ${kubectl}, and prints what it shows`, { timeout: 20 * 60_000 }, async () => {
      await rm(join(home, 'programs', 'kubectl'));
      await symlink(await tool(kubectl), join(home, 'programs', 'kubectl'));
      await using shell = new Shell({ cwd: clone, env });
      await using _ = { [Symbol.asyncDispose]: () => endAll(terminals) };
      const servers: Terminal[] = [];
      const blocks = readDocument(document);
      for (const [index, block] of blocks.entries()) {
        if (block.language !== 'sh') continue;
        const next = blocks[index + 1];
        const shown = next?.language === '' ? next.text : '';
        const where = `${document}:${block.line}, time ${at + 1}`;
        const [, name] = /^terminal (\w+)$/.exec(block.about) ?? [];
        if (name === undefined) {
          const [, stopped] = /^stops (\w+)$/.exec(block.about) ?? [];
          if (stopped !== undefined) await terminals.get(stopped)?.end();
          if (stopped !== undefined) terminals.delete(stopped);
          const printed = `${await shell.paste(block.text)}\n`.replaceAll(progress, '');
          reportExited(terminals);
          if (shown) assert.equal(comparable(printed), comparable(shown), where);
          else assert.doesNotMatch(printed, /error/i, where);
          continue;
        }
        await terminals.get(name)?.end();
        const terminal = new Terminal(block.text, { cwd: clone, env });
        terminals.set(name, terminal);
        if (name === 'server') {
          servers.push(terminal);
          await terminal.printed('Press Ctrl-C to stop it.');
        }
        if (shown) assert.ok(comparable(terminal.output).endsWith(comparable(shown)), `${where}\n${terminal.output}`);
      }
      reportExited(terminals);
      await endAll(terminals);
      reportLogs(servers);
    });
  }
});

async function endAll(terminals: Map<string, Terminal>): Promise<void> {
  for (const terminal of [...terminals.values()].reverse()) await terminal.end();
  terminals.clear();
}

/** Fails with the last lines of a program that runs no longer: its own words explain what kubectl says of it. */
function reportExited(terminals: ReadonlyMap<string, Terminal>): void {
  for (const [name, { isRunning, output }] of terminals)
    assert.ok(isRunning, `${name} exited:\n${output.slice(-10_000)}`);
}

/** Fails on a line of level error or fatal, in JSON or as text. Warnings are printed: a reader of the log sees them, too. */
function reportLogs(servers: readonly Terminal[]): void {
  const lines = servers.flatMap(({ output }) => output.split('\n'));
  const warnings = lines.filter((line) => /^\{"level":40,| WARN /.test(line));
  if (warnings.length > 0) console.log(`warnings in the log of the server:\n${warnings.join('\n')}`);
  assert.deepEqual(
    lines.filter((line) => /^\{"level":(50|60),| (ERROR|FATAL) /.test(line)),
    [],
    'the log of the server has errors',
  );
}

/** Removes parts that differ between two runs and between versions of kubectl. */
const comparable = (text: string): string =>
  normalised(
    text
      .replaceAll(/(?<=\s)(?:\d+[dhms])+(?=\s|$)/g, '1s')
      .replaceAll(/\b\d+(?:\.\d+)? ?(?:B|KiB)(?=[\s)]|$)/g, '<size>')
      .replaceAll(/(?<=^(?:red|green) +)\d+/gm, '<objects>')
      .replaceAll(/\b\d+\.\d s$|\b\d+ ms$/gm, '<time>')
      .replaceAll(/(?<=" deleted) from \S+ namespace$/gm, '')
      .replaceAll(/(?<=deleted user robot from ).*$/gm, '<file>'),
  );

/** Copies the files that a clone of the working tree would have. */
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
