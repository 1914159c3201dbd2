/**
 * docs/guides/write-an-operator.md, done by somebody who types everything that it says: its files are type-checked in every version
 * that they have, its commands are run, and what it shows is what they print.
 */

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { run } from '../../tools/run.ts';
import { tool } from '../../tools/tool.ts';
import { startHangar } from '../conformance/servers/index.ts';
import type { ControlPlane } from '../conformance/servers/index.ts';
import { freePorts } from '../../tools/free-ports.ts';
import { normalised, readDocument, root } from './testing/documents.ts';
import { Shell } from './testing/shell.ts';

const guide = 'docs/guides/write-an-operator.md';
const operator = 'examples/team-operator';

describe('the guide', () => {
  const opened = new AsyncDisposableStack();
  const blocks = readDocument(guide);
  const versions: { readonly path: string; readonly text: string }[] = [];
  let folder: string;
  let plane: ControlPlane;
  let here: (text: string) => string;
  let env: Record<string, string>;
  let shell: Shell;
  let running: ChildProcess | undefined;

  before(async () => {
    const place = await mkdtemp(join(tmpdir(), 'hangar-guide-'));
    opened.defer(() => rm(place, { recursive: true, force: true }));
    folder = join(place, 'hangar');
    const home = join(place, 'home');
    await mkdir(join(home, 'programs'), { recursive: true });
    await symlink(await tool('kubectl'), join(home, 'programs/kubectl'));
    await checkOut(folder);
    plane = opened.use(await startHangar(['--store=memory']));
    const [port] = await freePorts(1);
    env = {
      PATH: `${home}/programs:${dirname(process.execPath)}:${process.env['PATH']}`,
      HOME: home,
      PORT: String(port),
      npm_config_offline: 'true',
      npm_config_update_notifier: 'false',
    };
    here = (text) =>
      text
        .replaceAll('/tmp/', `${home}/`)
        .replaceAll('8080', String(port))
        .replaceAll(/(\$PWD\/)?\.data\/admin\.kubeconfig/g, plane.kubeconfig);
    shell = opened.use(new Shell({ cwd: folder, env }));
    opened.defer(() => endOperator());
  });
  after(() => opened.disposeAsync());

  /** With Ctrl-C. */
  async function endOperator(): Promise<void> {
    if (!running) return;
    const ended = once(running, 'exit');
    if (running.exitCode === null) process.kill(-running.pid!, 'SIGINT');
    await ended;
    running = undefined;
  }

  async function startOperator(text: string): Promise<void> {
    await endOperator();
    running = spawn('bash', ['-c', here(text)], { cwd: folder, env, detached: true, stdio: 'ignore' });
  }

  test('what it says to type works, and prints what it shows', { timeout: 5 * 60_000 }, async () => {
    for (const [at, { language, about, text, line }] of blocks.entries()) {
      if (about === 'terminal server') assert.equal(text, 'npm start\n');
      else if (about === 'terminal operator') await startOperator(text);
      else if (language === 'sh') {
        const printed = await shell.paste(here(text));
        const expected = blocks[at + 1];
        const shown = expected?.language === '' ? expected.text : '';
        if (shown) assert.equal(normalised(printed), normalised(shown), `${guide}:${line}`);
        else assert.doesNotMatch(printed, /error/i, `${guide}:${line}`);
      } else if (language !== '') {
        assert.match(about, new RegExp(`^${operator}/`), `${guide}:${line}: which file is it?`);
        await writeFile(join(folder, about), text);
        versions.push({ path: about, text });
      }
    }
    assert.equal(running?.exitCode, null, 'the operator still runs');
    await endOperator();
  });

  test('every version of its files is type-checked, by the rules of this repository', async () => {
    const sources = join(folder, operator, 'src');
    const typed = versions.filter(({ path }) => path.endsWith('.ts'));
    assert.ok(typed.length >= 7);
    // Earlier versions are checked beside the last one.
    for (const [at, { path, text }] of typed.entries()) {
      await writeFile(join(folder, path.replace(/\.ts$/, `.${at}.ts`)), text);
    }
    assert.ok((await readdir(sources)).includes('team.ts'));
    await writeFile(
      join(folder, operator, 'tsconfig.json'),
      JSON.stringify({ extends: '../../tsconfig.json', include: ['src'] }),
    );
    const { stdout, failure } = await run(join(root, 'node_modules/.bin/tsc'), ['-p', join(folder, operator)], {
      timeoutMs: 120_000,
    });
    assert.equal(failure, undefined, stdout);
  });

  test('an image has everything that the operator needs', async () => {
    const dockerfile = versions.find(({ path }) => path.endsWith('Dockerfile'))!.text;
    const image = join(folder, 'image');
    for (const [, from] of dockerfile.matchAll(/^COPY (\S+) \S+$/gm)) {
      await cp(join(root, from!), join(image, from!), { recursive: true }).catch(() =>
        cp(join(folder, from!), join(image, from!), { recursive: true }),
      );
    }
    // What the manifests ask for is what `npm install` brings.
    await mkdir(join(image, 'node_modules/@hangar'), { recursive: true });
    for (const name of await readdir(join(image, 'packages'))) {
      await symlink(`../../packages/${name}`, join(image, 'node_modules/@hangar', name));
    }
    for (const name of await productionDependencies(image)) {
      await mkdir(dirname(join(image, 'node_modules', name)), { recursive: true });
      await symlink(join(root, 'node_modules', name), join(image, 'node_modules', name));
    }
    const [, program] = /^CMD \["node", "(.*)"\]$/m.exec(dockerfile)!;
    const check = `import('${join(image, program!)}').catch(({ code, message }) => console.log(code, message))`;
    const { stdout, stderr, failure } = await run(process.execPath, ['--eval', check], {
      timeoutMs: 60_000,
      cwd: image,
      env: { HOME: image, PATH: env['PATH'] },
    });
    assert.equal(failure, undefined, stderr);
    assert.match(stdout, /^InvalidKubeconfig no cluster/);
  });
});

/** As the repository is after `npm ci`, without what this test writes: files of its own, everything else linked. */
async function checkOut(folder: string): Promise<void> {
  await mkdir(join(folder, 'examples'), { recursive: true });
  for (const file of ['package.json', 'package-lock.json', 'tsconfig.json']) {
    await copyFile(join(root, file), join(folder, file));
  }
  await symlink(join(root, 'packages'), join(folder, 'packages'));
  const modules = join(folder, 'node_modules');
  await mkdir(join(modules, '.bin'), { recursive: true });
  for (const name of await readdir(join(root, 'node_modules'))) {
    if (name !== '.bin') await symlink(join(root, 'node_modules', name), join(modules, name));
  }
  for (const name of await readdir(join(root, 'node_modules/.bin'))) {
    if (name !== 'hangar-types') await symlink(join(root, 'node_modules/.bin', name), join(modules, '.bin', name));
  }
  await symlink(join(root, 'packages/client/bin/hangar-types.js'), join(modules, '.bin/hangar-types'));
}

/** Of all packages, that are not packages of this repository. */
async function productionDependencies(folder: string): Promise<Set<string>> {
  const names = new Set<string>();
  for (const name of await readdir(join(folder, 'packages'))) {
    const manifest = await readFile(join(folder, 'packages', name, 'package.json'), 'utf8').catch(() => '{}');
    const { dependencies = {} } = JSON.parse(manifest) as { dependencies?: Record<string, string> };
    for (const dependency of Object.keys(dependencies)) if (!dependency.startsWith('@hangar/')) names.add(dependency);
  }
  return names;
}
