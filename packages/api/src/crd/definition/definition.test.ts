import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inSlices } from '@hangar/cel';
import { systemClock } from '@hangar/core';
import { steppedCpuTime } from '@hangar/core/testing';
import type { KubeObject } from '../../object.ts';
import { fieldErrorText } from '../../status/field-error.ts';
import { asDefinition } from '../custom-resource-definition.ts';
import type { JsonSchema } from '../json-schema.ts';
import { definition, gadgets } from '../testing/definitions.ts';
import { definitionCases } from '../testing/definition-cases.ts';
import { definitionConditions, noNamesTaken, takenNames } from './conditions.ts';
import { beginTermination, cleanupFinalizer, definitionStrategy } from './strategy.ts';

const now = '2026-01-01T00:00:00Z';
const widget = (schema: object): KubeObject =>
  definition('Widget', { type: 'object', properties: { spec: schema } } as JsonSchema);

function created(crd: KubeObject): { crd: KubeObject; errors: string[] } {
  const copy = structuredClone(crd);
  definitionStrategy.applyDefaults(copy);
  definitionStrategy.prepareForCreate(copy);
  return { crd: copy, errors: definitionStrategy.validateCreate(copy).map(fieldErrorText) };
}

function established(crd: KubeObject): KubeObject {
  const { crd: made } = created(crd);
  return { ...made, status: definitionConditions(made, noNamesTaken, now) };
}

test('a rich definition is right', () => assert.deepEqual(created(gadgets).errors, []));

test('names are completed and the storage version is remembered', () => {
  const { spec, status } = asDefinition(created(widget({ type: 'object' })).crd);
  assert.deepEqual(spec.names, { plural: 'widgets', kind: 'Widget', singular: 'widget', listKind: 'WidgetList' });
  assert.deepEqual(status?.storedVersions, ['v1']);
});

const root = 'spec.validation.openAPIV3Schema.properties[spec]';
const wrong: readonly (readonly [schema: object, ...texts: string[]])[] = [
  [{}, `${root}.type: Required value: must not be empty for specified object fields`],
  [
    { type: 'string', pattern: '[a' },
    `${root}.pattern: Invalid value: "[a": must be a valid regular expression, but isn't: error parsing regexp: missing closing ]: \`[a\``,
  ],
  [
    { type: 'string', default: 5 },
    `${root}.default: Invalid value: "integer":  in body must be of type string: "integer"`,
  ],
  [{ type: 'object', default: { a: 1 } }, `${root}.default: Invalid value: {"a":1}: must not have unknown fields`],
  [
    { type: 'string', 'x-kubernetes-validations': [{ rule: ' ' }] },
    `${root}.x-kubernetes-validations[0].rule: Required value: rule is not specified`,
  ],
  [
    {
      type: 'array',
      items: { type: 'string' },
      'x-kubernetes-validations': [{ rule: 'self.all(x, self.all(y, x == y))' }],
    },
    `${root}.x-kubernetes-validations[0].rule: Forbidden: estimated rule cost exceeds budget by factor of more than 100x (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)`,
    `${root}.x-kubernetes-validations[0].rule: Forbidden: contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema`,
    'spec.validation.openAPIV3Schema: Forbidden: x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema exceeds budget by factor of more than 100x (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)',
  ],
];

for (const [schema, ...texts] of wrong) {
  test(`a definition with ${JSON.stringify(schema)} is refused`, () =>
    assert.deepEqual(created(widget(schema)).errors, texts));
}

test('no definition of the corpus makes validation throw', () => {
  for (const crd of definitionCases())
    assert.ok(Array.isArray(created(JSON.parse(JSON.stringify(crd)) as KubeObject).errors));
});

test('scope and names cannot change once a definition is established', () => {
  const old = established(widget({ type: 'object' }));
  const change = (spec: object): string[] => {
    const crd = structuredClone(old);
    Object.assign(crd['spec'] as object, spec);
    definitionStrategy.prepareForUpdate(crd, old, '');
    return definitionStrategy.validateUpdate(crd, old, '').map(fieldErrorText);
  };
  assert.deepEqual(change({ scope: 'Cluster' }), ['spec.scope: Invalid value: "Cluster": field is immutable']);
  assert.deepEqual(change({}), []);
});

test('a definition is established at once when its names are free', () => {
  const { status } = asDefinition(established(widget({ type: 'object' })));
  assert.deepEqual(
    status?.conditions?.map(({ type, status: is, reason }) => [type, is, reason]),
    [
      ['NamesAccepted', 'True', 'NoConflicts'],
      ['Established', 'True', 'InitialNamesAccepted'],
    ],
  );
  assert.equal(status?.acceptedNames?.plural, 'widgets');
});

test('names that others have are not accepted', () => {
  const other = established(
    definition(
      'Gizmo',
      { type: 'object' },
      { spec: { names: { plural: 'gizmos', kind: 'Widget', shortNames: ['w'] } } },
    ),
  );
  const { crd } = created(widget({ type: 'object' }));
  asDefinition(crd).spec.names.shortNames = ['w', 'ww'];
  const status = definitionConditions(crd, takenNames([other]), now);
  const [names, isEstablished] = status.conditions!;
  assert.deepEqual(
    [names!.status, names!.reason, names!.message],
    ['False', 'ListKindConflict', '"WidgetList" is already in use'],
  );
  assert.deepEqual([isEstablished!.status, isEstablished!.reason], ['False', 'NotAccepted']);
  assert.deepEqual(status.acceptedNames, { plural: 'widgets', kind: '' });
});

test('conditions keep their time while they stay', () => {
  const crd = established(widget({ type: 'object' }));
  asDefinition(crd).spec.names.shortNames = ['w'];
  const status = definitionConditions(crd, noNamesTaken, '2027-01-01T00:00:00Z');
  assert.deepEqual(
    status.conditions!.map(({ lastTransitionTime }) => lastTransitionTime),
    [now, now],
  );
  assert.deepEqual(status.acceptedNames?.shortNames, ['w']);
});

test('deleting a definition begins with its custom resources', () => {
  const crd = established(widget({ type: 'object' }));
  beginTermination(crd, now);
  assert.deepEqual(crd.metadata.finalizers, [cleanupFinalizer]);
  assert.equal(crd.metadata.deletionTimestamp, now);
  assert.equal(asDefinition(crd).status?.conditions?.at(-1)?.type, 'Terminating');
});

test('formats that nobody checks are warned about, once they are new', () => {
  const crd = widget({
    type: 'object',
    properties: { a: { type: 'string', format: 'fancy' }, b: { type: 'string', format: 'date' } },
  });
  assert.deepEqual(definitionStrategy.warningsOnCreate(crd), ['unrecognized format "fancy"']);
  assert.deepEqual(definitionStrategy.warningsOnUpdate(crd, crd), []);
});

test('the rules of many defaults are compiled and run once, however many slices that takes', async (t) => {
  steppedCpuTime(t, () => 1);
  const numbers = Array.from({ length: 400 }, (_, at) => at).join(', ');
  const rules = ['a', 'b'].map((message) => ({ rule: `self in [${numbers}]`, message }));
  const field = { type: 'integer', default: 1, 'x-kubernetes-validations': rules };
  const properties = Object.fromEntries(Array.from({ length: 40 }, (_, at) => [`f${at}`, field]));
  const crd = widget({ type: 'object', properties });
  definitionStrategy.applyDefaults(crd);
  definitionStrategy.prepareForCreate(crd);
  let attempts = 0;
  const errors = await inSlices(systemClock, () => {
    attempts += 1;
    return definitionStrategy.validateCreate(crd).map(fieldErrorText);
  });
  assert.deepEqual(errors, []);
  // Each rule is compiled twice: when it is checked, and for the default.
  assert.ok(attempts > 40 && attempts <= 2 * 2 * 40 + 1, `${attempts}`);
});
