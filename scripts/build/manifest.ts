/** Derives the package.json that is published from the one in the sources, which points to TypeScript files. */

import { publishedEntries } from './packages.ts';
import type { Manifest } from './packages.ts';

/** The oldest Node that the libraries run on. `tests/packages` runs them on exactly this version. */
export const libraryNode = '22.18.0';

export interface PublishedManifest extends Omit<Manifest, 'exports'> {
  readonly type: 'module';
  readonly engines: { readonly node: string };
  readonly exports: Readonly<Record<string, string | { readonly types: string; readonly default: string }>>;
  readonly files: readonly string[];
  readonly sideEffects: false | readonly string[];
  readonly bundleDependencies?: readonly string[];
}

/** Returns the path of the emitted file for a source file: `./src/index.ts` → `./dist/index.js`. */
export const emittedPath = (source: string, extension: '.js' | '.d.ts' = '.js'): string =>
  source.replace(/^(\.\/)?src\//, '$1dist/').replace(/\.ts$/, extension);

/** `sideEffects`: paths of modules that do something when they are loaded, relative to the package. */
export function publishedManifest(manifest: Manifest, sideEffects: readonly string[]): PublishedManifest {
  const entries = publishedEntries(manifest).map(([name, source]) => {
    return [name, { types: emittedPath(source, '.d.ts'), default: emittedPath(source) }] as const;
  });
  const { name, version, description, license, bin, dependencies } = manifest;
  return {
    name,
    version,
    description,
    license,
    type: 'module',
    engines: { node: `>=${libraryNode}` },
    exports: { ...Object.fromEntries(entries), './package.json': './package.json' },
    ...(bin === undefined ? {} : { bin }),
    files: bin === undefined ? ['dist'] : ['bin', 'dist'],
    sideEffects: sideEffects.length === 0 ? false : sideEffects,
    ...(dependencies === undefined ? {} : { dependencies }),
  };
}

/** Returns the package.json of `hangar`, which contains all packages in `bundled`, at any depth, in its node_modules. */
export function hangarManifest(
  manifest: Manifest & { readonly engines: { readonly node: string } },
  bundled: Readonly<Record<string, string>>,
): PublishedManifest {
  const { name, version, description, license, bin, engines, optionalDependencies } = manifest;
  return {
    name,
    version,
    description,
    license,
    type: 'module',
    engines,
    exports: { './package.json': './package.json' },
    bin: bin!,
    files: ['bin'],
    sideEffects: ['./bin/*.js'],
    dependencies: bundled,
    bundleDependencies: Object.keys(bundled),
    optionalDependencies: optionalDependencies!,
  };
}
