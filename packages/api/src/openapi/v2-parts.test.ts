import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { builtinServedGroups } from '../discovery/index.ts';
import type { ServedGroup, ServedResource } from '../discovery/index.ts';
import { servedGroupsOf } from '../discovery/testing/definitions.ts';
import { sampleDefinitions } from '../discovery/testing/samples.ts';
import type { JsonObject } from '../object.ts';
import { builtinPartOfV2, customPartOfV2, joinedV2, openApiV2, openApiV2Protobuf } from './index.ts';
import type { V2Format } from './index.ts';
import type { Steps } from './v2-parts.ts';

const custom = servedGroupsOf(sampleDefinitions);
const widget = custom.find(({ name }) => name === 'example.org')!.versions[0]!.resources[0]!;
const formats: readonly V2Format[] = ['json', 'protobuf'];

function result<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

function whole(groups: readonly ServedGroup[], format: V2Format): Buffer {
  const json = Buffer.from(JSON.stringify(openApiV2(groups)));
  return format === 'json' ? json : openApiV2Protobuf(JSON.parse(json.toString()) as JsonObject);
}

function joined(groups: readonly ServedGroup[], format: V2Format): Buffer | undefined {
  const builtin = result(builtinPartOfV2(groups, format));
  const parts = groups.flatMap(({ name: group, versions }) =>
    versions.flatMap(({ name: version, resources }) =>
      resources
        .filter(({ schema }) => schema.type === 'custom')
        .map((resource) => result(customPartOfV2({ group, version }, resource, { groups, builtin }))),
    ),
  );
  return joinedV2(builtin, parts);
}

const groupOf = (name: string, resources: readonly ServedResource[], version = 'v1'): ServedGroup => ({
  name,
  versions: [{ name: version, resources }],
});

const scaled: ServedResource = {
  ...widget,
  subresources: [
    { name: 'scale', group: 'autoscaling', version: 'v1', kind: 'Scale', verbs: ['get', 'patch', 'update'] },
    { name: 'status', group: 'a.example', version: 'v1', kind: widget.kind, verbs: ['get', 'patch', 'update'] },
  ],
};

describe('the document of all parts is the document that is written as a whole', () => {
  const cases: Readonly<Record<string, readonly ServedGroup[]>> = {
    nothing: [],
    'what is built in': builtinServedGroups(),
    'what is built in, and definitions': [...builtinServedGroups(), ...custom],
    'definitions alone': custom,
    'groups before, between and after those that are built in': [
      ...builtinServedGroups(),
      ...['a.example', 'apps.example', 'apps', 'zz.example'].map((name) => groupOf(name, [scaled])),
    ],
    'a kind of the same name in another version': [
      ...builtinServedGroups(),
      { name: 'a.example', versions: ['v2', 'v1'].map((name) => ({ name, resources: [widget] })) },
    ],
    'two resources of one kind': [
      ...builtinServedGroups(),
      groupOf('a.example', [widget, { ...widget, name: 'gadgets' }]),
    ],
    'names beyond ASCII in a schema': [
      ...builtinServedGroups(),
      groupOf('a.example', [
        {
          ...widget,
          schema: {
            type: 'custom',
            listKind: 'WidgetList',
            jsonSchema: {
              type: 'object',
              properties: { ü: { type: 'string' }, 2: {}, 10: {}, 1: { description: '"\n' } },
            },
          },
        },
      ]),
    ],
  };
  for (const [name, groups] of Object.entries(cases)) {
    for (const format of formats) {
      test(`${name}, ${format}`, () => assert.ok(joined(groups, format)?.equals(whole(groups, format))));
    }
  }
});

test('a name that means two things cannot be joined', () => {
  const other: ServedResource = {
    ...widget,
    subresources: [],
    schema: { type: 'custom', listKind: 'WidgetList', jsonSchema: { type: 'object', description: 'another' } },
  };
  for (const format of formats) {
    // The definition `io.k8s.api.apps.v1.Deployment`.
    const deployments = groupOf('apps.api.k8s.io', [{ ...other, kind: 'Deployment' }]);
    assert.equal(joined([...builtinServedGroups(), deployments], format), undefined);
    const twoSchemas = groupOf('a.example', [widget, { ...other, name: 'gadgets' }]);
    assert.equal(joined([...builtinServedGroups(), twoSchemas], format), undefined);
  }
});

test('what a definition adds is small, and what is built in is written in many steps', () => {
  const groups = builtinServedGroups();
  const steps = builtinPartOfV2(groups, 'json');
  let count = 0;
  let step = steps.next();
  for (; !step.done; step = steps.next()) count++;
  assert.ok(count > 1_000, String(count));
  const part = result(customPartOfV2({ group: 'a.example', version: 'v1' }, widget, { groups, builtin: step.value }));
  assert.deepEqual(part.sections.definitions.names, ['example.a.v1.Widget', 'example.a.v1.WidgetList']);
});
