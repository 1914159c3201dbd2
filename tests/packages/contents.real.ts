/** The tarballs: what they contain, and that a project can resolve, type-check and bundle them. */

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { PublishedManifest } from '../../scripts/build/manifest.ts';
import { tarballFolder } from '../../scripts/build/tarballs.ts';
import { run } from '../../tools/run.ts';
import { tool } from '../../tools/tool.ts';
import { blocksOf, root } from '../examples/testing/documents.ts';
import { build } from './testing/machine.ts';

interface Unpacked {
  readonly name: string;
  readonly folder: string;
  readonly manifest: PublishedManifest;
  readonly files: readonly string[];
}

/** A consumer's project: the libraries in node_modules as npm puts them there. */
let project: string;
const libraries: Unpacked[] = [];
let hangar: Unpacked;

before(
  async () => {
    await build();
    project = await mkdtemp(join(tmpdir(), 'hangar-contents-'));
    for (const file of await readdir(tarballFolder)) {
      const isProgram = /^hangar-\d/.test(file);
      const name = isProgram ? 'hangar' : `@hangar/${/^hangar-(.+)-\d+\.\d+\.\d+\.tgz$/.exec(file)![1]}`;
      const folder = join(project, 'node_modules', name);
      await mkdir(folder, { recursive: true });
      await ran('tar', ['-xzf', join(tarballFolder, file), '--strip-components=1', '-C', folder]);
      const found = await readdir(folder, { recursive: true, withFileTypes: true });
      const files = found
        .filter((one) => one.isFile())
        .map((one) => join(one.parentPath, one.name).slice(folder.length + 1));
      const manifest = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as PublishedManifest;
      if (isProgram) hangar = { name, folder, manifest, files };
      else libraries.push({ name, folder, manifest, files });
    }
    // As npm would install them beside.
    for (const name of ['@noble', 'js-yaml', 'argparse', '@types', 'undici-types']) {
      await ran('cp', ['-r', join(root, 'node_modules', name), join(project, 'node_modules')]);
    }
    await writeFile(join(project, 'package.json'), JSON.stringify({ name: 'consumer', type: 'module' }));
  },
  { timeout: 10 * 60_000 },
);
after(() => rm(project, { recursive: true, force: true }));

async function ran(command: string, args: readonly string[], cwd = project): Promise<string> {
  const { failure, stdout, stderr } = await run(command, args, { timeoutMs: 5 * 60_000, cwd });
  assert.equal(failure, undefined, `${command} ${args.join(' ')}\n${stdout}\n${stderr}`);
  return stdout;
}

describe('every tarball', () => {
  test('has a manifest, a licence and a README, and names no machine', async () => {
    assert.deepEqual(
      libraries.map(({ name }) => name).sort(),
      [
        'api',
        'backup',
        'cel',
        'client',
        'controllers',
        'core',
        'front-door',
        'http2',
        'node-objects',
        'pki',
        'process-runtime',
        'programs',
        'runtime',
        'server',
        'store',
        'testkit',
      ].map((name) => `@hangar/${name}`),
    );
    const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string };
    for (const { name, folder, manifest, files } of [...libraries, hangar]) {
      assert.equal(manifest.name, name);
      assert.equal(manifest.version, version);
      assert.equal(manifest.license, 'Apache-2.0');
      assert.ok(!('private' in manifest) && !('scripts' in manifest) && !('devDependencies' in manifest), name);
      for (const file of ['LICENSE', 'README.md']) assert.ok(files.includes(file), `${name}: ${file}`);
      for (const file of files) {
        const text = await readFile(join(folder, file), 'latin1');
        assert.ok(!text.includes(root.slice(0, -1)), `${name}/${file} contains a path of this machine`);
      }
    }
  });

  test('has no sources and no tests', () => {
    for (const { name, files } of [...libraries, hangar]) {
      const own = files.filter((file) => !/^node_modules\/(?!@hangar\/)/.test(file));
      for (const file of own) {
        const isSource = /(?<!\.d)\.ts$/.test(file);
        const isTest = /\.(?:test|real|bench|fuzz)\.|(?:^|\/)(?:testing|conformance|fuzzing)\//.test(file);
        assert.ok(!isSource && !isTest, `${name}/${file}`);
      }
    }
  });

  test('declares every package that it imports, siblings at exactly its version', async () => {
    for (const { name, folder, manifest, files } of libraries) {
      const { dependencies = {}, version } = manifest;
      for (const [dependency, wanted] of Object.entries(dependencies)) {
        assert.match(wanted, /^\d+\.\d+\.\d+$/, `${name}: ${dependency}`);
        if (dependency.startsWith('@hangar/')) assert.equal(wanted, version, `${name}: ${dependency}`);
      }
      for (const file of files.filter((one) => /\.(?:js|d\.ts)$/.test(one))) {
        const text = (await readFile(join(folder, file), 'utf8')).replaceAll(/^\s*(?:\/\/|\*|\/\*).*$/gm, '');
        const pattern =
          /(?:^(?:import|export) (?:[\w\s,*{}$]+? from )?|\b(?:import|require)\()'((?:@[\w-]+\/)?[\w-]+)(?:\/[^']*)?'/gm;
        for (const [, imported] of text.matchAll(pattern)) {
          if (imported!.startsWith('node') || imported === name) continue;
          assert.ok(Object.hasOwn(dependencies, imported!), `${name}/${file} imports ${imported}`);
        }
      }
    }
  });
});

describe('a consumer', () => {
  /** `@hangar/client/kinds/core-v1`, for every entry of every package. */
  async function entries(): Promise<string[]> {
    const all: string[] = [];
    for (const { name, folder, manifest } of libraries) {
      for (const [entry, target] of Object.entries(manifest.exports)) {
        if (typeof target === 'string') continue;
        assert.deepEqual(Object.keys(target), ['types', 'default'], `${name} ${entry}`);
        const [before, behind] = target.default.split('*');
        const names =
          behind === undefined ? [''] : (await readdir(join(folder, before!))).filter((file) => file.endsWith(behind));
        assert.ok(names.length > 0, `${name} ${entry}`);
        for (const one of names) {
          const word = one === '' ? '' : basename(one, behind);
          for (const path of Object.values(target))
            assert.ok(existsSync(join(folder, path.replace('*', word))), `${name} ${path}`);
          all.push(join(name, entry.replace('*', word)));
        }
      }
    }
    return all;
  }

  test('imports every entry, on the oldest supported Node and on this one', async () => {
    const names = await entries();
    assert.ok(names.length > 40, `${names.length} entries`);
    const code = `for (const name of ${JSON.stringify(names)}) await import(name);`;
    await writeFile(join(project, 'all.mjs'), code);
    for (const node of [await tool('node-22'), process.execPath]) await ran(node, ['all.mjs']);
  });

  test('type-checks every entry and the examples of the READMEs, with strict and without skipLibCheck', async () => {
    const folder = join(project, 'src');
    await mkdir(folder);
    const names = await entries();
    const imports = names.map((name, index) => `export * as entry${index} from '${name}';\n`);
    await writeFile(join(folder, 'entries.ts'), imports.join(''));
    let examples = 0;
    for (const { name, folder: from } of libraries) {
      for (const { language, text } of blocksOf(await readFile(join(from, 'README.md'), 'utf8'))) {
        if (language !== 'ts' || !text.startsWith('import ')) continue;
        await writeFile(join(folder, `${basename(name)}-${examples++}.ts`), text);
      }
    }
    assert.ok(examples >= 9, `${examples} examples`);
    const compilerOptions = { strict: true, module: 'nodenext', target: 'esnext', types: ['node'], noEmit: true };
    await writeFile(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['src'] }));
    await ran(join(root, 'node_modules/.bin/tsc'), ['-p', '.']);
  });

  test('bundles only the code that it uses', async () => {
    const esbuild = await tool('esbuild');
    const bundled = async (name: string, code: string): Promise<number> => {
      await writeFile(join(project, `${name}.mjs`), code);
      const output = `${name}.out.mjs`;
      const options = ['--bundle', '--minify', '--platform=node', '--format=esm', '--log-level=warning'];
      await ran(esbuild, [`${name}.mjs`, ...options, `--outfile=${output}`]);
      const { length } = await readFile(join(project, output));
      console.log(`bundle of ${name}: ${(length / 1024).toFixed(1)} KiB`);
      return length;
    };
    const one = await bundled(
      'one-function',
      `import { defineKind } from '@hangar/client';\nconsole.log(defineKind({ apiVersion: 'a/v1', kind: 'A', plural: 'as', isNamespaced: true }).kind);\n`,
    );
    assert.ok(one < 4 * 1024, `${one} bytes`);
    assert.equal(await ran(process.execPath, ['one-function.out.mjs']), 'A\n');
    const kind = await bundled(
      'one-kind',
      `import { ConfigMap } from '@hangar/client/kinds/core-v1';\nconsole.log(ConfigMap.plural);\n`,
    );
    assert.ok(kind < 8 * 1024, `${kind} bytes`);
    const all = await bundled('whole-client', `export * from '@hangar/client';\n`);
    assert.ok(all < 192 * 1024, `${all} bytes`);
  });
});
