import assert from 'node:assert/strict';
import { test } from 'node:test';
import { exportedComments } from './exported.ts';
import { paragraphsOf } from './markdown.ts';
import type { Segment } from './segment.ts';
import { commentsOf, stringsOf, tokensOf } from './typescript-source.ts';

const words = (segments: readonly Segment[]): string[] =>
  segments.map(({ text }) => text.trim().replaceAll(/\s+/g, ' '));
const stringsIn = (source: string): string[] => words(stringsOf(source, tokensOf(source)));
const commentsIn = (source: string): string[] => words(commentsOf(source, tokensOf(source)));

test('strings with white space are prose, names are not', () => {
  assert.deepEqual(stringsIn(`f('one two', "three 'four'", 'name');`), ['one two', "three 'four'"]);
});

test('a template is one string with its substitutions masked, and strings inside of them are found too', () => {
  const source = '`path "${p}" is ${x ? `used by ${`a b`}` : "c d"}\'s`';
  assert.deepEqual(stringsIn(source), ['a b', 'used by xxxxxxxx', 'c d', `path "xxxx" is ${'x'.repeat(33)}'s`]);
});

test('added strings are one string', () => {
  assert.deepEqual(stringsIn("const a = 'is ' +\n  'told' + `  now`;"), ['is told now']);
});

test('regular expressions, comments and divisions do not begin a string', () => {
  assert.deepEqual(stringsIn("a.match(/it's a/); // it's b\nconst c = d / 2; /* it's */ f('e f', g / h, /'/);"), [
    'e f',
  ]);
});

test('every text has the length of its source', () => {
  const source = "/** Reads `a b`. */ f('x \\n y', `z ${w} v`);";
  for (const { start, text } of [...stringsOf(source, tokensOf(source)), ...commentsOf(source, tokensOf(source))]) {
    assert.ok(start + text.length <= source.length);
    assert.equal(source.slice(start, start + text.length).length, text.length);
  }
});

test('comments lose markers, code spans and examples; consecutive lines are one', () => {
  const source = '/**\n * Reads `a b` once.\n *\n *     example code\n */\nx(); // first\n// second\n\n// third';
  assert.deepEqual(commentsIn(source), ['Reads xxxxx once.', 'first second', 'third']);
});

test('a Markdown file is its headings, paragraphs, items and cells without code', () => {
  const source = '# One `two`\n\nA [link](x.md)\nover lines.\n- item\n\n```sh\ncode\n```\n\n| a | b c |\n|---|---|\n';
  assert.deepEqual(words(paragraphsOf(source)), ['One xxxxx', 'A [link over lines.', 'item', 'a', 'b c']);
});

test('names of tests that a document cites are not its prose', () => {
  const source = 'See [x](a.ts "nobody waits") and `b.test.ts`: "nobody waits", "is told so"; then more.';
  assert.deepEqual(words(paragraphsOf(source)), [`See [x and ${'x'.repeat(41)}; then more.`]);
});

test('the doc comments of exports and their members are found through re-exports', () => {
  const files: Record<string, string> = {
    'p/index.ts': "/** Package. */\n\nexport { a as b } from './x/a.ts';\nexport type * from './t.ts';",
    'p/x/a.ts':
      '/** File. */\n\n/** Doc of a. */\nexport function a() { /** inner */ }\n/** Hidden. */\nexport const c = 1;',
    'p/t.ts':
      '/** Doc of T. */\nexport interface T {\n  /** Member. */\n  x: 1;\n}\n/** Local. */\ninterface U {\n  /** No. */\n  y: 1;\n}\n' +
      'export class V {\n  /** Private. */\n  #z = 1;\n  /** Public. */\n  w = 1;\n}',
  };
  const found = exportedComments('p/index.ts', (file) => files[file]!);
  assert.deepEqual(
    [...found].map(([file, segments]) => [file, words(segments)]),
    [
      ['p/x/a.ts', ['Doc of a.', 'inner']],
      ['p/t.ts', ['Doc of T.', 'Member.', 'Public.']],
      ['p/index.ts', ['Package.']],
    ],
  );
});
