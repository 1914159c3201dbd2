/** Follows docs/install.md on a machine that has only Node, npm, kubectl and the tarballs: npx, a project, and a server in the background. */

import assert from 'node:assert/strict';
import { copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { run } from '../../tools/run.ts';
import { readDocument, root } from '../examples/testing/documents.ts';
import { Shell } from '../examples/testing/shell.ts';
import { build, startMachine } from './testing/machine.ts';

const page = 'docs/install.md';
const pasteTimeoutMs = 5 * 60_000;

describe('the installation page', () => {
  const opened = new AsyncDisposableStack();
  before(build, { timeout: 10 * 60_000 });
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
