/** Rules for every example: it is short, and its generated files are up to date. */

import assert from 'node:assert/strict';
import { readFileSync, globSync } from 'node:fs';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { definitionTypes } from '@hangar/client/generate';
import { parseYamlDocuments } from '@hangar/api/yaml';

const examples = fileURLToPath(new URL('../../examples/', import.meta.url));
const read = (path: string): string => readFileSync(examples + path, 'utf8');
const generated = 'website-operator/src/website.ts';
const linesMax = 100;

describe('each operator', () => {
  for (const example of ['website-operator', 'fleet-quotas', 'image-policy', 'project-settings']) {
    test(`${example} has fewer than ${linesMax} lines of TypeScript`, () => {
      const files = globSync(`${example}/src/**/*.ts`, { cwd: examples }).filter((file) => file !== generated);
      const count = files.reduce((sum, file) => sum + read(file).trimEnd().split('\n').length, 0);
      assert.ok(files.length > 0);
      assert.ok(count < linesMax, `${count} lines in ${files.join(', ')}`);
    });
  }
});

test('the types of a Website are what hangar-types makes of its definition', () => {
  assert.equal(read(generated), definitionTypes(parseYamlDocuments(read('website-operator/website-crd.yaml'))));
});
