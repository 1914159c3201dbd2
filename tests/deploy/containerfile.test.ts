/** Rules for the Containerfile. `image.real.ts` runs its steps. */

import assert from 'node:assert/strict';
import { existsSync, globSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { release } from '@hangar/api';
import { execForm, readStages } from './testing/containerfile.ts';
import type { Instruction } from './testing/containerfile.ts';
import { ignoreOf } from './testing/ignored.ts';
import { root, version } from './testing/files.ts';
import { reachableFrom } from './testing/reachable.ts';
import { isAsLocalAsWritten } from './testing/rules.ts';

const managerRecipe = await readFile(join(root, 'deploy/image/controller-manager.Containerfile'), 'utf8');
const recipe = await readFile(join(root, 'deploy/image/Containerfile'), 'utf8');
const stages = readStages(recipe);
const final = stages.at(-1)!;
const named = (name: string): readonly Instruction[] => final.instructions.filter((one) => one.name === name);
const isIgnored = ignoreOf(await readFile(join(root, 'deploy/image/Containerfile.dockerignore'), 'utf8'));

describe('the recipe of the image', () => {
  test('begins with bases of one exact version, or with its own stages', () => {
    const own = new Set(stages.map(({ name }) => name));
    for (const { base } of stages) assert.ok(own.has(base) || /^[a-z]+:\d+\.\d+(\.\d+)?-[a-z-]+$/.test(base), base);
  });

  test('adds nothing from the network but packages, and gives nobody a secret', () => {
    for (const { name, text } of stages.flatMap(({ instructions }) => instructions)) {
      assert.notEqual(name, 'ADD', text);
      assert.doesNotMatch(text, /curl|wget|https?:|git clone/);
      if (name === 'ENV' || name === 'ARG') assert.doesNotMatch(text, /token|password|secret|key/i);
    }
  });

  test('ends as a user by number who is not root, with nothing run as root after it', () => {
    const [user, ...others] = named('USER');
    assert.equal(others.length, 0);
    assert.match(user!.text, /^65532:65532$/);
    const after = final.instructions.slice(final.instructions.indexOf(user!) + 1);
    assert.ok(!after.some(({ name }) => ['RUN', 'COPY'].includes(name)));
  });

  test('starts Node itself, so that signals reach it, and serves by default', () => {
    const [entrypoint, command] = [named('ENTRYPOINT'), named('CMD')].map(([one]) => execForm(one!));
    assert.deepEqual(entrypoint, ['/usr/local/bin/node', '/opt/hangar/bin/hangar.js']);
    assert.equal(command![0], 'up');
  });

  test('has the version of the package, and leaves out what only developers need', () => {
    assert.match(recipe, new RegExp(`org\\.opencontainers\\.image\\.version="${version}"`));
    assert.match(recipe, new RegExp(`--tag hangar:${version} `));
    const install = stages
      .flatMap(({ instructions }) => instructions)
      .filter(({ text }) => /npm (ci|install)/.test(text));
    assert.equal(install.length, 1);
    assert.match(install[0]!.text, /npm ci --omit=dev/);
  });

  test('copies what exists, of which nothing is left out by mistake', () => {
    const copied = stages.flatMap(({ instructions }) =>
      instructions.filter(({ name, flags }) => name === 'COPY' && flags['from'] === undefined),
    );
    assert.ok(copied.length >= 5);
    for (const { text } of copied) {
      for (const source of text.split(' ').slice(0, -1)) {
        assert.ok(existsSync(join(root, source)), source);
        assert.ok(!isIgnored(source), `${source} is left out of the context`);
      }
    }
  });

  test('brings the product and no test, and everything that the product imports', () => {
    const kept = globSync('{bin,packages,operators,services,apps}/**/*.{ts,js,json}', { cwd: root })
      .filter((path) => !path.includes('node_modules'))
      .filter((path) => !isIgnored(path));
    assert.ok(kept.length > 500);
    for (const path of kept) assert.doesNotMatch(path, /\.(test|real|fuzz|bench)\.ts$|\/testing\/|testkit/);
    const inContext = new Set(kept);
    const needed = reachableFrom('bin/hangar.js');
    assert.ok(needed.size > 500, `${needed.size} files`);
    for (const path of needed) assert.ok(inContext.has(path), `${path} is left out`);
    for (const path of [
      '.git/config',
      'node_modules/x',
      '.data/pki/ca.key',
      'packages/core/node_modules/x',
      'README.md',
    ]) {
      assert.ok(isIgnored(path), path);
    }
  });
});

describe('the recipe of the controller manager’s image', () => {
  const kubernetes = 'images.example.com/kubernetes';
  const managerStages = readStages(managerRecipe, { KUBERNETES_IMAGES: kubernetes });
  const last = managerStages.at(-1)!;

  test('is that of Hangar of the same version, with programs of the Kubernetes that Hangar is, and nothing else', () => {
    assert.deepEqual(
      managerStages.map(({ base }) => base),
      [
        `${kubernetes}/kube-controller-manager:v${release}`,
        `${kubernetes}/kube-scheduler:v${release}`,
        `hangar:${version}`,
      ],
    );
    assert.match(managerRecipe, new RegExp(`--tag hangar-controller-manager:${version} `));
    for (const name of ['kube-controller-manager', 'kube-scheduler']) {
      const path = `/usr/local/bin/${name}`;
      assert.ok(
        last.instructions.some(({ flags, text }) => flags['from'] === name && text === `${path} ${path}`),
        name,
      );
    }
    const names = last.instructions.map(({ name }) => name);
    assert.deepEqual(
      [...new Set(names)].sort(),
      ['CMD', 'COPY', 'EXPOSE', 'LABEL'],
      'nothing is run, and no other user',
    );
  });

  test('names no registry: who builds it says where the programs come from', () => {
    assert.ok(isAsLocalAsWritten(managerRecipe));
    assert.throws(() => readStages(managerRecipe), /there is no KUBERNETES_IMAGES/);
  });

  test('starts what the chart starts, at its port', () => {
    const byName = (wanted: string): Instruction => last.instructions.find(({ name }) => name === wanted)!;
    assert.deepEqual(execForm(byName('CMD')), ['controller-manager']);
    assert.equal(byName('EXPOSE').text, '10257');
  });
});
