import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { catalogue, toolNames } from './catalogue.ts';
import type { Program } from './catalogue.ts';
import { pinnedVersion, requiredVersion } from './pin.ts';
import { parseVersion, refusal } from './version.ts';

const setsFolder = join(import.meta.dirname, 'sets');

test('a requirement is found in a block and on its own line, a replacement is not taken for one', () => {
  const goMod =
    'require a.org/x v1.2.3\nrequire (\n\tb.org/y v2.0.0 // indirect\n)\nreplace c.org/z => c.org/z v9.0.0\n';
  assert.equal(requiredVersion(goMod, 'a.org/x'), 'v1.2.3');
  assert.equal(requiredVersion(goMod, 'b.org/y'), 'v2.0.0');
  assert.equal(requiredVersion(goMod, 'c.org/z'), undefined);
});

test('a release without a go.mod is named as it is released', () => {
  assert.equal(requiredVersion('require a.org/x v2.2.1+incompatible // indirect\n', 'a.org/x'), 'v2.2.1');
});

for (const name of toolNames) {
  const program: Program = catalogue[name];
  const { go } = program;
  if (!go) continue;

  test(`the pinned ${name} is a version that would be accepted from elsewhere`, async () => {
    const version = parseVersion((await pinnedVersion(program, setsFolder)) ?? '');
    assert.ok(version);
    assert.equal(refusal(version, program.accepted), undefined);
  });

  test(`the set of ${name} names its package as a tool`, async () => {
    const goMod = await readFile(join(setsFolder, go.set.folder, 'go.mod'), 'utf8');
    const tools = goMod.slice(0, goMod.indexOf('\nrequire')).split(/\s+/);
    assert.ok(tools.includes(go.package));
  });
}

test('every staging module of a Kubernetes set is replaced by the release that belongs to it', async () => {
  for (const folder of ['kubernetes', 'kubectl-1.32']) {
    const goMod = await readFile(join(setsFolder, folder, 'go.mod'), 'utf8');
    const expected = requiredVersion(goMod, 'k8s.io/kubernetes')?.replace('v1.', 'v0.');
    const replacements = [...goMod.matchAll(/=> \S+ (\S+)/g)].map(([, version]) => version);
    assert.ok(replacements.length > 25);
    assert.deepEqual(new Set(replacements), new Set([expected]));
  }
});
