/** Follows docs/install.md and the start of the README on a machine that has only Node, npm, kubectl and the tarballs. */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { libraryNode } from '../../scripts/build/manifest.ts';
import { run } from '../../tools/run.ts';
import { tool } from '../../tools/tool.ts';
import { version } from '../deploy/testing/files.ts';
import { blocksOf, normalised, readDocument, root } from '../examples/testing/documents.ts';
import type { Block } from '../examples/testing/documents.ts';
import { Shell } from '../examples/testing/shell.ts';
import { build, startMachine } from './testing/machine.ts';

const page = 'docs/install.md';
const pasteTimeoutMs = 5 * 60_000;

before(build, { timeout: 10 * 60_000 });

describe('the installation page', () => {
  const opened = new AsyncDisposableStack();
  after(() => opened.disposeAsync());

  test('its commands work as typed', { timeout: 15 * 60_000 }, async () => {
    const machine = opened.use(await startMachine(process.execPath));
    const shell = opened.use(new Shell({ cwd: root, env: machine.env, pasteTimeoutMs }));
    const project = join(machine.home, 'try-hangar');
    opened.defer(async () => {
      await run('npx', ['hangar', 'down'], { timeoutMs: 60_000, cwd: project, env: machine.env });
    });
    const blocks = readDocument(page).filter(({ language }) => language === 'sh');
    assert.equal(blocks.length, 3);
    const [byNpx, start, use] = blocks.map(({ text }) =>
      text.replaceAll('/tmp/', `${machine.home}/`).replace('up --detach', 'up --detach --port 0'),
    );
    assert.match(await shell.paste(byNpx!), /^Client: hangar \d+\.\d+\.\d+ \(Node v26\.\d+\.\d+\)$/m);
    const ready = await shell.paste(start!);
    assert.match(ready, /^ready https:\/\/127\.0\.0\.1:\d+$/m);
    assert.match(ready, /^Stop it with: npx hangar down$/m);
    const used = await shell.paste(use!);
    for (const pattern of [
      /^configmap\/hello created$/m,
      /^NAME\s.*\n(?:.*\n)*demo\s.*\n(?:.*\n)*team-a\s/m,
      /^State: +Running\nPID: +\d+\nVersion: +\d+\.\d+\.\d+\nAddress: +https:\/\/127\.0\.0\.1:\d+\n/m,
      /^Control planes: +2$/m,
      /^stopped process \d+, which served https:\/\/127\.0\.0\.1:\d+$/m,
      /^Hangar does not run in .*\nexit code 1$/m,
    ]) {
      assert.match(used, pattern);
    }
    const log = await readFile(join(project, '.data/hangar.log'), 'utf8');
    assert.match(log, /^ready https:/m);
    assert.doesNotMatch(log, /"level":(?:50|60),/);
  });
});

for (const { name, node } of [
  { name: `Node ${libraryNode}`, node: () => tool('node-22') },
  { name: 'Node 26', node: async () => process.execPath },
]) {
  test(`the start of the README works from the tarball on ${name}`, { timeout: 15 * 60_000 }, async () => {
    await using opened = new AsyncDisposableStack();
    const machine = opened.use(await startMachine(await node()));
    const shell = opened.use(new Shell({ cwd: machine.home, env: machine.env, pasteTimeoutMs }));
    // The registry of the machine does not have Node 26, which npm installs as an optional dependency.
    const node26 = join(root, 'node_modules', `node-linux-${process.arch}`);
    const tarball = join(root, 'dist/tarballs', `hangar-${version}.tgz`);
    await shell.paste(
      `mkdir start && cd start && npm init --yes > npm.log && npm install --silent ${tarball} ${node26}\n`,
    );
    opened.defer(async () => {
      await run('npx', ['hangar', 'down'], { timeoutMs: 60_000, cwd: join(machine.home, 'start'), env: machine.env });
    });
    assert.match(await shell.paste('npx hangar up --detach --port 0\n'), /^ready https:\/\/127\.0\.0\.1:\d+$/m);
    const blocks = startOfReadme();
    assert.ok(blocks.filter(({ language }) => language === 'sh').length >= 3);
    for (const [at, { language, text, line }] of blocks.entries()) {
      if (language !== 'sh') continue;
      assert.equal(normalised(await shell.paste(text)), normalised(blocks[at + 1]!.text), `README.md:${line}`);
    }
  });
}

/** Returns the blocks of the section "Five minutes" that follow the start of the server. */
function startOfReadme(): Block[] {
  const text = readFileSync(join(root, 'README.md'), 'utf8');
  const [, , section = ''] = /^## (Five minutes)\n([^]*?)^## /m.exec(text) ?? [];
  const blocks = blocksOf(section);
  const server = blocks.findIndex(({ about }) => about === 'terminal server');
  assert.ok(server >= 0);
  // The output of the server follows its command.
  return blocks.slice(server + 2);
}

describe('the unit of systemd', () => {
  test('keeps the server from gaining rights, and restarts it', async () => {
    const lines = (await readFile(join(root, 'deploy/systemd/hangar.service'), 'utf8')).split('\n');
    for (const line of ['NoNewPrivileges=yes', 'ProtectSystem=strict', 'DynamicUser=yes', 'Restart=on-failure']) {
      assert.ok(lines.includes(line), line);
    }
  });

  test('passes systemd-analyze verify', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'hangar-unit-'));
    try {
      // Verification requires the program of the unit, which need not be installed here.
      const text = await readFile(join(root, 'deploy/systemd/hangar.service'), 'utf8');
      const program = join(folder, 'hangar');
      await copyFile('/bin/true', program);
      const unit = join(folder, 'hangar.service');
      await writeFile(unit, text.replace('/usr/local/bin/hangar', program));
      const { failure, stdout, stderr } = await run('systemd-analyze', ['verify', unit], { timeoutMs: 60_000 });
      // Machines without systemd cannot verify the unit.
      if (failure?.includes('ENOENT')) return;
      assert.deepEqual([failure, stdout, stderr], [undefined, '', '']);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});
