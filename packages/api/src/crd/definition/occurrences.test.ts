import assert from 'node:assert/strict';
import { test } from 'node:test';
import { maxCardinality } from '@hangar/cel';
import type { StructuralSchema } from '@hangar/cel';
import { asDefinition } from '../custom-resource-definition.ts';
import type { JsonSchema } from '../json-schema.ts';
import { definitionCases } from '../testing/definition-cases.ts';
import { gadgetSchema } from '../testing/definitions.ts';
import { occurrencesMax } from './occurrences.ts';
import { partsOf } from './unsupported.ts';

test('the shortest values are as long as the type of expressions says', () => {
  const schemas = definitionCases().flatMap((crd) =>
    asDefinition(crd).spec.versions.map(({ schema }) => schema?.openAPIV3Schema),
  );
  let count = 0;
  const visit = (schema: JsonSchema): void => {
    if (Array.isArray(schema.items)) return;
    assert.equal(occurrencesMax(schema), maxCardinality(schema as StructuralSchema), JSON.stringify(schema));
    count += 1;
    for (const part of partsOf(schema)) visit(part);
  };
  for (const schema of [...schemas, gadgetSchema]) if (schema) visit(schema);
  assert.ok(count > 300);
});
