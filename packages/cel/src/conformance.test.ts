/** The public conformance data of the CEL specification, every test that is not excluded by name. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { tests } from '@bufbuild/cel-spec/testdata/conformance.js';
import { excludedSections, messageExpression, messageTests } from './conformance-exclusions.ts';
import { declarations, expectedType, expectedValue } from './conformance-data.ts';
import type { ConformanceTest, ValueMessage } from './conformance-data.ts';
import { compile, environment, formatType, celLibraries } from './index.ts';
import type { CelValue } from './index.ts';
import { blockMacros } from './syntax/macros-extended.ts';
import { equal } from './values/equality.ts';
import { Double } from './values/values.ts';

/** Change these with the data, never to make a failure disappear. */
const expected = { passed: 1651, excluded: 693 };
const counts = { passed: 0, excluded: 0 };

const libraries = [...celLibraries, { name: 'block', macros: blockMacros }];

function run(original: ConformanceTest): void {
  const { variables, library } = declarations(original.typeEnv ?? []);
  const env = environment({ libraries: [...libraries, library], variables, container: original.container ?? '' });
  const evaluate = (): CelValue => {
    const program = compile(original.expr, env, { lenient: original.disableCheck ?? false });
    const bindings = Object.entries(original.bindings ?? {}).map(([name, { value }]) => [name, expectedValue(value)]);
    return program.evaluate(Object.fromEntries(bindings) as Record<string, unknown>).value;
  };
  if (original.evalError !== undefined) {
    assert.throws(evaluate, { name: /Evaluation|Type|Syntax/ });
    return;
  }
  const wantedType = original.typedResult?.deducedType;
  if (wantedType !== undefined) {
    const program = compile(original.expr, env, { lenient: original.disableCheck ?? false });
    assert.equal(formatType(program.outputType), formatType(expectedType(wantedType)));
  }
  if (original.checkOnly) return;
  const wanted: ValueMessage = original.value ?? original.typedResult?.result ?? { boolValue: true };
  const value = evaluate();
  assert.ok(
    same(value, expectedValue(wanted)),
    `${original.expr} gave ${show(value)}, wanted ${JSON.stringify(wanted)}`,
  );
}

/** Like equality, but NaN equals NaN and types matter. */
function same(value: CelValue, wanted: CelValue): boolean {
  if (value instanceof Double && wanted instanceof Double) return Object.is(value.value, wanted.value);
  if (typeof value !== typeof wanted && typeof value !== 'bigint') return false;
  return (
    equal(value, wanted) &&
    (value === null || typeof value !== 'object' || value.constructor === wanted?.constructor || 'size' in value)
  );
}

const show = (value: CelValue): string =>
  JSON.stringify(value, (_, part: unknown) => (typeof part === 'bigint' ? `${part}` : part)) ?? 'undefined';

const messagesExcluded: Record<string, number> = {};

function isExcluded(file: string, section: string, original: unknown): boolean {
  const path = `${file}/${section}`;
  if (Object.hasOwn(excludedSections, file) || Object.hasOwn(excludedSections, path)) return true;
  if (!messageExpression.test(JSON.stringify(original))) return false;
  messagesExcluded[path] = (messagesExcluded[path] ?? 0) + 1;
  return true;
}

for (const file of tests.suites ?? []) {
  describe(file.name, () => {
    for (const section of file.suites ?? []) {
      for (const { original } of section.tests ?? []) {
        if (isExcluded(file.name, section.name, original)) {
          counts.excluded += 1;
          continue;
        }
        test(`${section.name}: ${original.name ?? original.expr}`, () => {
          run(original as unknown as ConformanceTest);
          counts.passed += 1;
        });
      }
    }
  });
}

test('exactly the known number of conformance tests passed and was excluded', () => {
  console.log(`conformance: ${counts.passed} passed, ${counts.excluded} excluded`);
  assert.deepEqual(counts, expected);
  assert.deepEqual(messagesExcluded, messageTests);
});
