/** Puts together the folder of each package as it is published: emitted files, data files, package.json, README and licence. */

import { copyFileSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { emittedFolder, scripts } from './compile.ts';
import { emittedPath, publishedManifest } from './manifest.ts';
import { root } from './packages.ts';
import type { SourcePackage } from './packages.ts';

export const stagedFolder = join(root, 'dist/packages');

/** Data files that no code reads at run time. */
const isTestData = (file: string): boolean =>
  /\/(?:testing|conformance|fuzzing)\/|(?:recorded|samples)\.\w+$/.test(file);

/** Returns the staged folder. `sources`: the compiled sources of all packages. */
export function stage(source: SourcePackage, sources: readonly string[]): string {
  const { folder, manifest } = source;
  const staged = join(stagedFolder, manifest.name);
  rmSync(staged, { recursive: true, force: true });
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(staged, path)), { recursive: true });
    writeFileSync(join(staged, path), text);
  };
  for (const file of sources.filter((file) => file.startsWith(`${folder}/`))) {
    for (const extension of ['.js', '.d.ts'] as const) {
      const emitted = readFileSync(join(emittedFolder, file.replace(/\.ts$/, extension)), 'utf8');
      write(emittedPath(file.slice(folder.length + 1), extension), withEmittedPaths(emitted));
    }
  }
  const own = scripts(folder);
  for (const script of own) {
    const path = script.slice(folder.length + 1);
    write(emittedPath(path), withEmittedPaths(readFileSync(join(root, script), 'utf8')));
  }
  for (const file of globSync(`${folder}/src/**/*.{json,yaml,sh,sql,html,css}`, { cwd: root })) {
    if (!isTestData(file)) write(emittedPath(file.slice(folder.length + 1)), readFileSync(join(root, file), 'utf8'));
  }
  const sideEffects = own.map((script) => `./${emittedPath(script.slice(folder.length + 1))}`);
  write('package.json', `${JSON.stringify(publishedManifest(manifest, sideEffects), undefined, 2)}\n`);
  copyFileSync(join(root, 'LICENSE'), join(staged, 'LICENSE'));
  if (source.isLibrary) copyFileSync(join(root, folder, 'README.md'), join(staged, 'README.md'));
  return staged;
}

/** The compiler rewrites the paths of `import` declarations. This rewrites those of `require` and of plain JavaScript. */
export const withEmittedPaths = (text: string): string =>
  text.replaceAll(/(?<=\b(?:import|require)\(')(\.[^']+)\.ts(?='\))/g, (_, path: string) => {
    return `${path.replace(/^\.\.\/src\//, '../dist/')}.js`;
  });
