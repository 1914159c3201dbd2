import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { definitionOf } from './definition.ts';
import { docOf } from './doc.ts';
import { definitionsProblems } from './files.ts';
import { readTypes } from './read.ts';

const kind = { apiVersion: 'example.org/v1', kind: 'Thing', plural: 'things', isNamespaced: true };

/** The definition of a source. */
function made(source: string): Record<string, never> {
  const types = new Map(readTypes('thing.ts', `/** Header. */\n${source}`).map((one) => [one.name, one]));
  return definitionOf(types, kind) as Record<string, never>;
}

interface Properties {
  readonly [name: string]: { readonly [field: string]: unknown };
}

/** The schema of the members of a kind. */
function schemaOf(members: string, others = ''): { readonly properties: Properties; readonly required?: string[] } {
  const source = `${others}\n/** A thing. */\nexport interface Thing extends ApiObject {\n${members}\n}`;
  const { spec } = made(source) as unknown as { spec: { versions: [{ schema: { openAPIV3Schema: never } }] } };
  return spec.versions[0].schema.openAPIV3Schema;
}

test('the committed definitions are what would be written', async () => {
  assert.deepEqual(await definitionsProblems(), []);
});

describe('types', () => {
  test('are read with their comments, and become schemas', () => {
    const { properties, required } = schemaOf(
      `
  /** Text,
   * of two lines. */
  text: string;
  /** Yes or no. */
  is?: boolean;
  /** @format int32
   * @minimum 1 */
  readonly count: Count;
  /** One of these. */
  mode: Mode;
  /** One word. */
  word: 'a';
  /** Many.
   * @listType atomic
   * @items.maxLength 3 */
  names?: string[];
  /** By name. */
  labels?: Record<string, string>;
  inner?: Inner;`,
      `export type Mode = | 'A' | 'B';
       /** How many. */ export type Count = number;
       // Not told.
       /* Nor this. */
       /** Inside.
        * @rule "has(self.x)
        *   && self.x" message "x must be" */
       export interface Inner { /** X. */ x?: boolean; }`,
    );
    assert.deepEqual(required, ['text', 'count', 'mode', 'word']);
    assert.deepEqual(properties['text'], { description: 'Text, of two lines.', type: 'string' });
    assert.deepEqual(properties['is'], { description: 'Yes or no.', type: 'boolean' });
    assert.deepEqual(properties['count'], { description: 'How many.', type: 'integer', format: 'int32', minimum: 1 });
    assert.deepEqual(properties['mode'], { description: 'One of these.', type: 'string', enum: ['A', 'B'] });
    assert.deepEqual(properties['word'], { description: 'One word.', type: 'string', enum: ['a'] });
    assert.deepEqual(properties['names'], {
      description: 'Many.',
      type: 'array',
      items: { type: 'string', maxLength: 3 },
      'x-kubernetes-list-type': 'atomic',
    });
    assert.deepEqual(properties['labels'], {
      description: 'By name.',
      type: 'object',
      additionalProperties: { type: 'string' },
    });
    assert.deepEqual(properties['inner'], {
      description: 'Inside.',
      type: 'object',
      properties: { x: { description: 'X.', type: 'boolean' } },
      'x-kubernetes-validations': [{ rule: 'has(self.x) && self.x', message: 'x must be' }],
    });
  });

  test('become a definition with its names, columns and status', () => {
    const { spec, metadata } = made(`
/**
 * A thing.
 *
 * @shortName th
 * @category all
 * @column Mode string .spec.mode
 * @column Age date .metadata.creationTimestamp priority 1
 */
export interface Thing extends ApiObject { /** S. @ */ status?: string; }`) as never as {
      metadata: object;
      spec: { names: object; scope: string; versions: [Record<string, unknown>] };
    };
    assert.deepEqual(metadata, { name: 'things.example.org' });
    assert.equal(spec.scope, 'Namespaced');
    assert.deepEqual(spec.names, {
      kind: 'Thing',
      listKind: 'ThingList',
      plural: 'things',
      singular: 'thing',
      shortNames: ['th'],
      categories: ['all'],
    });
    assert.deepEqual(spec.versions[0]['subresources'], { status: {} });
    assert.deepEqual(spec.versions[0]['additionalPrinterColumns'], [
      { name: 'Mode', type: 'string', jsonPath: '.spec.mode' },
      { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp', priority: 1 },
    ]);
  });

  test('inherit the fields of their base, which come first', () => {
    const { properties } = schemaOf(
      '/** X. */ x: Other;',
      'export interface Base { /** B. */ b: string; }\nexport interface Other extends Base { /** O. */ o?: string; }',
    );
    assert.deepEqual(properties['x'], {
      description: 'X.',
      type: 'object',
      required: ['b'],
      properties: { b: { description: 'B.', type: 'string' }, o: { description: 'O.', type: 'string' } },
    });
  });

  test('become an int-or-string if they are a string or a number', () => {
    const { properties } = schemaOf('/** X.\n * @pattern ^[0-9]+$ */ x: string | number;');
    assert.deepEqual(properties['x'], {
      description: 'X.',
      anyOf: [{ type: 'integer' }, { type: 'string' }],
      'x-kubernetes-int-or-string': true,
      pattern: '^[0-9]+$',
    });
  });

  test('become a definition with labels and a scale subresource', () => {
    const { spec, metadata } = made(`
/**
 * A thing.
 *
 * @label a.example/b c
 * @label d e
 * @scale .spec.replicas .status.replicas .status.selector
 */
export interface Thing extends ApiObject { /** S. */ status?: string; }`) as never as {
      metadata: object;
      spec: { versions: [Record<string, unknown>] };
    };
    assert.deepEqual(metadata, { name: 'things.example.org', labels: { 'a.example/b': 'c', d: 'e' } });
    assert.deepEqual(spec.versions[0]['subresources'], {
      status: {},
      scale: {
        specReplicasPath: '.spec.replicas',
        statusReplicasPath: '.status.replicas',
        labelSelectorPath: '.status.selector',
      },
    });
  });

  const refused: [title: string, members: string, message: RegExp, others?: string][] = [
    ['an unknown tag', '/** X. \n * @maxlength 3 */ x: string;', /thing\.ts:\d+: @maxlength 3 means nothing here/],
    ['a tag of another type', '/** X. \n * @maxLength 3 */ x: boolean;', /is only for string, this is boolean/],
    ['half a number', '/** X. \n * @maxLength three */ x: string;', /needs a whole number/],
    ['a tag of items where there are none', '/** X. \n * @items.maxLength 3 */ x: string;', /is only for lists/],
    ['a rule without a message', '/** X. \n * @rule "self" */ x: string;', /is written: "CEL" message "text"/],
    ['a pattern that is none', '/** X. \n * @pattern [a */ x: string;', /Invalid regular expression/],
    ['a list that does not say what it is', '/** X. */ x: string[];', /x is a list: say @listType/],
    ['a list type that there is not', '/** X. \n * @listType bag */ x: string[];', /is map, set or atomic/],
    ['a number without a format', '/** X. */ x: number;', /x is a number: say @format/],
    ['a field without a description', 'x: string;', /x is not described/],
    ['a type that there is not', '/** X. */ x: Other;', /there is no type Other/],
    ['a union of other things', '/** X. */ x: string | boolean;', /only words/],
    [
      'a type that is part of itself',
      '/** X. */ x: Other;',
      /Other is part of itself/,
      'export interface Other { /** O. */ o?: Other; }',
    ],
    [
      'a type that extends an unknown one',
      '/** X. */ x: Other;',
      /Other extends A, which is not an interface of these files/,
      'export interface Other extends A { /** O. */ o?: string; }',
    ],
    ['a generic type', '/** X. */ x: Array<string>;', /expected ";", found "<"/],
    ['a function', '/** X. */ x(): void;', /expected ":", found "\("/],
    ['an index', '[key: string]: string;', /expected a member/],
    ['a value', '', /expected "type", found "const"/, 'export const a = b;'],
    ['a class', '', /expected "export", found "class"/, 'class A {}'],
    ['a template literal', '', /unexpected "`a`/, 'export type A = `a`;'],
    ['an import of values', '', /expected "type"/, "import { a } from 'a';"],
  ];
  for (const [title, members, message, others] of refused) {
    test(`fail: ${title}`, () => assert.throws(() => schemaOf(members, others), message));
  }

  test('fail: a file without a header, a column that is none, a kind that is no object', () => {
    assert.throws(() => readTypes('x.ts', 'export type A = string;'), /x\.ts:1: expected a header comment/);
    assert.throws(
      () =>
        made(
          '/** T.\n * @column Mode text .spec */\nexport interface Thing extends ApiObject { /** S. */ s: string; }',
        ),
      /@column Mode text \.spec is written/,
    );
    const tagged = (tag: string): string =>
      `/** T.\n * ${tag} */\nexport interface Thing extends ApiObject { /** S. */ status: string; }`;
    assert.throws(() => made(tagged('@label a')), /@label a is written: name value/);
    assert.throws(() => made(tagged('@scale .spec.a .status.b')), /@scale \.spec\.a \.status\.b is written/);
    assert.throws(() => made('/** T. */ export interface Thing { /** S. */ s: string; }'), /must be an ApiObject/);
  });
});

test('a comment is what is said to people, and tags over several lines', () => {
  assert.deepEqual(docOf('One\ntwo.\n\nThree.\n\n@a\n@b c\n  d'), {
    description: 'One two.\n\nThree.',
    tags: [
      { name: 'a', text: '' },
      { name: 'b', text: 'c d' },
    ],
  });
});
