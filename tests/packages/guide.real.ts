/**
 * Follows docs/guides/write-an-operator.md from installed packages, on the oldest Node that the libraries support and on Node 26: writes its
 * files, runs its commands and compares their output.
 */

import assert from 'node:assert/strict';
import { cp, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { libraryNode } from '../../scripts/build/manifest.ts';
import { freePorts } from '../../tools/free-ports.ts';
import { run } from '../../tools/run.ts';
import { tool } from '../../tools/tool.ts';
import { normalised, readDocument, root } from '../examples/testing/documents.ts';
import { Shell } from '../examples/testing/shell.ts';
import { Terminal } from '../examples/testing/terminal.ts';
import { build, startMachine } from './testing/machine.ts';
import type { Machine } from './testing/machine.ts';

const guide = 'docs/guides/write-an-operator.md';
const blocks = readDocument(guide);
/** npm installs a dozen packages. */
const pasteTimeoutMs = 5 * 60_000;

before(build, { timeout: 6 * 60_000 });

for (const { name, node } of [
  { name: `Node ${libraryNode}`, node: () => tool('node-22') },
  { name: 'Node 26', node: async () => process.execPath },
]) {
  describe(`the guide on ${name}`, () => {
    const opened = new AsyncDisposableStack();
    const versions: { readonly path: string; readonly text: string }[] = [];
    let machine: Machine;
    let project: string;
    let env: Record<string, string>;
    before(async () => {
      machine = opened.use(await startMachine(await node()));
      project = join(machine.home, 'team-operator');
    });
    after(() => opened.disposeAsync());

    test('its commands work as typed and print the output that it shows', { timeout: 15 * 60_000 }, async () => {
      const [port] = await freePorts(1);
      const here = (text: string): string =>
        text
          .replaceAll('/tmp/', `${machine.home}/`)
          .replaceAll('8080', String(port))
          .replace(/^npx hangar up$/m, 'npx hangar up --port 0 --store memory');
      // Node 22 prints a warning when it runs TypeScript.
      env = { ...machine.env, PORT: String(port), NODE_OPTIONS: '--disable-warning=ExperimentalWarning' };
      await using stack = new AsyncDisposableStack();
      const shell = stack.use(new Shell({ cwd: root, env, pasteTimeoutMs }));
      const terminals = new Map<string, Terminal>();
      stack.defer(async () => {
        for (const terminal of [...terminals.values()].reverse()) await terminal.end();
      });
      for (const [at, { language, about, text, line }] of blocks.entries()) {
        const where = `${guide}:${line}`;
        const [, terminal] = /^terminal (\w+)$/.exec(about) ?? [];
        if (terminal !== undefined) {
          await terminals.get(terminal)?.end();
          const started = new Terminal(here(text), {
            cwd: project,
            env: terminal === 'server' ? machine.serverEnv : env,
          });
          terminals.set(terminal, started);
          if (terminal === 'server') await started.printed('Press Ctrl-C to stop it.');
        } else if (language === 'sh') {
          const printed = await shell.paste(here(text));
          const expected = blocks[at + 1];
          const shown = expected?.language === '' ? expected.text : '';
          if (shown) assert.equal(normalised(printed), normalised(shown), where);
          else assert.doesNotMatch(printed, /error/i, where);
        } else if (language !== '') {
          assert.notEqual(about, '', `${where}: the block has no file name`);
          await writeFile(join(project, about), text);
          versions.push({ path: about, text });
        }
      }
      for (const [name, { isRunning, output }] of terminals) assert.ok(isRunning, `${name} exited:\n${output}`);
    });

    test('its files pass the type checker, in every version', async () => {
      const typed = versions.filter(({ path }) => path.endsWith('.ts'));
      assert.ok(typed.length >= 7);
      // Earlier versions are checked beside the last one.
      for (const [at, { path, text }] of typed.entries()) {
        await writeFile(join(project, path.replace(/\.ts$/, `.${at}.ts`)), text);
      }
      const compilerOptions = {
        strict: true,
        module: 'nodenext',
        target: 'esnext',
        noEmit: true,
        allowImportingTsExtensions: true,
        types: ['node'],
        typeRoots: [join(root, 'node_modules/@types')],
      };
      await writeFile(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['src'] }));
      const { stdout, failure } = await run(join(root, 'node_modules/.bin/tsc'), ['-p', project], {
        timeoutMs: 120_000,
      });
      assert.equal(failure, undefined, stdout);
    });

    test('its image has everything that the operator needs', async () => {
      const dockerfile = versions.find(({ path }) => path === 'Dockerfile')!.text;
      const image = join(machine.home, 'image');
      await mkdir(image);
      for (const [, kind, words] of dockerfile.matchAll(/^(COPY|RUN) (.*)$/gm)) {
        if (kind === 'RUN') {
          const { failure, stderr } = await run('bash', ['-c', words!], { timeoutMs: 120_000, cwd: image, env });
          assert.equal(failure, undefined, stderr);
          continue;
        }
        const names = words!.split(' ');
        const to = names.pop()!;
        for (const from of names) {
          await cp(join(project, from), to === './' ? join(image, from) : join(image, to), { recursive: true });
        }
      }
      const [, program] = /^CMD \["node", "(.*)"\]$/m.exec(dockerfile)!;
      const check = `import('${join(image, program!)}').catch(({ code, message }) => console.log(code, message))`;
      const { stdout, stderr, failure } = await run('node', ['--eval', check], {
        timeoutMs: 60_000,
        cwd: image,
        env: { ...env, HOME: image },
      });
      assert.equal(failure, undefined, stderr);
      assert.match(stdout, /^InvalidKubeconfig no cluster/);
    });
  });
}
