/**
 * Compiles the published sources to JavaScript and declarations, with TypeScript. Only files that an entry point reaches are compiled,
 * so tests and benchmarks are left out. A second run compiles only what changed.
 */

import { spawnSync } from 'node:child_process';
import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { publishedEntries, root } from './packages.ts';
import type { SourcePackage } from './packages.ts';

/** The folder of what the compiler writes, with the layout of the repository. */
export const emittedFolder = join(root, 'dist/emitted');

const compilerOptions = {
  noEmit: false,
  noEmitOnError: true,
  declaration: true,
  allowImportingTsExtensions: false,
  rewriteRelativeImportExtensions: true,
  // The language of Node 22: newer syntax is lowered, and newer functions are errors.
  target: 'es2024',
  lib: ['es2024', 'esnext.array', 'esnext.collection', 'esnext.iterator'],
  rootDir: root,
  outDir: emittedFolder,
  incremental: true,
  tsBuildInfoFile: join(root, 'dist/emitted.tsbuildinfo'),
  listFiles: true,
};

/** Returns the compiled sources, relative to the root. Throws with the errors of the compiler. */
export function compile(packages: readonly SourcePackage[]): string[] {
  mkdirSync(join(root, 'dist'), { recursive: true });
  const project = join(root, 'dist/tsconfig.json');
  const files = packages.flatMap(entryFiles).map((file) => join(root, file));
  const options = { ...compilerOptions, paths: pathsOf(packages) };
  writeFileSync(project, JSON.stringify({ extends: '../tsconfig.json', compilerOptions: options, include: [], files }));
  const { status, stdout, error } = spawnSync(join(root, 'node_modules/.bin/tsc'), ['-p', project], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
  });
  if (error) throw error;
  const lines = stdout.split('\n').filter(Boolean);
  if (status !== 0) {
    throw new Error(`tsc failed:\n${lines.filter((line) => !line.startsWith('/')).join('\n')}`);
  }
  const inPackages = /^(?:packages|operators|services|apps)\/.*(?<!\.d)\.ts$/;
  return lines.map((line) => relative(root, line)).filter((file) => inPackages.test(file));
}

/**
 * Maps `@hangar/core` to its source. Without it the compiler finds the package in node_modules, takes it for a foreign one and emits
 * nothing for it.
 */
function pathsOf(packages: readonly SourcePackage[]): Record<string, readonly string[]> {
  const entries = packages.flatMap(({ folder, manifest }) =>
    Object.entries(manifest.exports ?? {}).map(([name, source]) => {
      return [manifest.name + name.slice(1), [join(root, folder, source)]] as const;
    }),
  );
  return Object.fromEntries(entries);
}

/** Entry points, and the modules that plain JavaScript (bin, entries of threads) loads. */
export function entryFiles({ folder, manifest }: SourcePackage): string[] {
  const exported = publishedEntries(manifest).flatMap(([, source]) =>
    globSync(join(folder, source.replace('*', '**/*')), { cwd: root }).filter(
      (file) => !/\.(?:test|real|bench|fuzz)\.ts$/.test(file),
    ),
  );
  return [...exported, ...scripts(folder).flatMap((script) => [...loadedBy(script)])];
}

/** Returns the JavaScript files of a package: programs, and entries of threads. */
export const scripts = (folder: string): string[] => globSync(`${folder}/{bin,src}/**/*.js`, { cwd: root }).sort();

function* loadedBy(script: string): Generator<string> {
  for (const [, path] of readFileSync(join(root, script), 'utf8').matchAll(/\bimport\('(\.[^']+\.ts)'\)/g)) {
    yield relative('/', join('/', script, '..', path!));
  }
}
