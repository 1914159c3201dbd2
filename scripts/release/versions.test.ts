import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { setVersion, versionOf, versionProblems } from './versions.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

function copied(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'hangar-release-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const isPart = (path: string): boolean => !/node_modules|\.test\.ts$|\/(?:dist|\.git|\.data)(?:\/|$)/.test(path);
  for (const path of ['package.json', 'CHANGELOG.md', 'deploy', 'docs/install.md', 'docs/guides']) {
    cpSync(join(root, path), join(folder, path), { recursive: true, filter: isPart });
  }
  for (const path of ['packages', 'operators', 'apps', 'examples']) {
    const filter = (file: string): boolean =>
      isPart(file) && (!/\.\w+$/.test(file) || /package\.json$|version\.ts$|caller\.ts$/.test(file));
    cpSync(join(root, path), join(folder, path), { recursive: true, filter });
  }
  return folder;
}

test('all files of the repository have one version', () => {
  assert.deepEqual(versionProblems(root), []);
});

test('a new version reaches every file, and the changelog', (t) => {
  const folder = copied(t);
  setVersion(folder, '7.8.9');
  assert.equal(versionOf(folder), '7.8.9');
  assert.deepEqual(versionProblems(folder), []);
  assert.match(readFileSync(join(folder, 'CHANGELOG.md'), 'utf8'), /\n## 7\.8\.9\n/);
  assert.match(readFileSync(join(folder, 'deploy/charts/hangar/Chart.yaml'), 'utf8'), /^appVersion: 7\.8\.9$/m);
});

test('a file with another version is reported', (t) => {
  const folder = copied(t);
  const file = join(folder, 'packages/client/package.json');
  writeFileSync(file, readFileSync(file, 'utf8').replace('"@hangar/core": "', '"@hangar/core": "9'));
  const version = versionOf(folder);
  assert.deepEqual(versionProblems(folder), [
    `packages/client/package.json: @hangar/core is 9${version}, not ${version}`,
  ]);
});
