import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parseYaml } from '@hangar/api/yaml';
import { virtualClock } from '@hangar/testkit';
import { KeptOutput } from '../testing/test-session.ts';
import { bytesText, shortNumber } from './figures.ts';
import { plain, plainJson, quoted, shortened } from './plain-text.ts';
import { printed } from './printed.ts';
import { Progress } from './progress.ts';
import { table } from './table.ts';

describe('plain text', () => {
  test('has nothing in it that a terminal obeys', () => {
    let everything = '';
    for (let code = 0; code < 0x1_0000; code++) everything += String.fromCharCode(code);
    // oxlint-disable-next-line no-control-regex
    assert.doesNotMatch(plain(everything), /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]/);
  });

  test('shows what it took away, and leaves the rest', () => {
    assert.equal(plain('a\u001b[2Jb\nc\td\u202e\u009b'), 'a\\x1b[2Jb\\nc\\td\\u202e\\x9b');
    assert.equal(plain('Grüße, 世界 🚀'), 'Grüße, 世界 🚀');
    assert.equal(plain('tag \u{e0001}'), 'tag \\u{e0001}');
    assert.equal(quoted('x'.repeat(500)).length, 202);
    assert.equal(shortened('🚀🚀🚀', 2), '🚀…');
  });

  test('as JSON means the same', () => {
    const value = { a: 'x\u009b\u202e\u007f\u{e0001}\ud800', b: ['\u001b'] };
    const json = plainJson(JSON.stringify(value, undefined, 2));
    assert.doesNotMatch(json, /[\u007f-\u009f\u202e]/);
    assert.deepEqual(JSON.parse(json), value);
  });
});

describe('a table', () => {
  test('is aligned as kubectl does it, whatever is in it', () => {
    assert.equal(
      table(
        ['NAME', 'A', 'AGE'],
        [
          ['x', '1', '5s'],
          ['a-long-name', '\u001b[31m', ''],
        ],
      ),
      ['NAME          A          AGE', 'x             1          5s', 'a-long-name   \\x1b[31m', ''].join('\n'),
    );
  });
});

test('objects are printed as kubectl prints them', () => {
  const object = { apiVersion: 'controlplane.kplane.dev/v1alpha1', kind: 'ControlPlane', metadata: { name: 'a' } };
  assert.equal(printed('name', [object], { isList: false }), 'controlplane.controlplane.kplane.dev/a\n');
  assert.equal(JSON.parse(printed('json', [], { isList: true })).kind, 'List');
  assert.match(printed('yaml', [object], { isList: true }), /^items:\n- apiVersion: /m);
});

test('objects as YAML have nothing in them that a terminal obeys, and mean the same', () => {
  const odd = [
    '\u202e',
    '\u200b',
    '\u00ad',
    '\u{e0001}',
    '\ufeff',
    '\u001b[2J',
    '\u009b',
    '\u0085',
    '\u2028',
    '\r',
    '\t',
    '\u007f',
  ];
  const around = (one: string) => [one, `a${one}b`, `"${one}\\u202e'`, `a: ${one} # b`, `one\n${one}two\n`, `\\${one}`];
  const texts = [...odd.flatMap(around), 'as \\u202e is written', 'Grüße, 世界 🚀', 'lines\nof text\n'];
  const data = Object.fromEntries(texts.map((text) => [text, text]));
  const yaml = printed('yaml', [{ apiVersion: 'v1', kind: 'X', metadata: { name: 'a' }, data } as never], {
    isList: false,
  });
  assert.doesNotMatch(yaml, /(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
  assert.deepEqual((parseYaml(yaml).value as { data: object }).data, data);
  assert.match(yaml, /世界 🚀$/m);
  assert.match(yaml, /: \|\n {4}lines\n {4}of text$/m);
});

test('figures are short', () => {
  assert.deepEqual([0, 999, 1024, 1536, 1023 * 1024, 5 * 1024 ** 3, undefined].map(bytesText), [
    '0B',
    '999B',
    '1KiB',
    '1.5KiB',
    '1.0MiB',
    '5GiB',
    '?',
  ]);
  assert.deepEqual([0, 0.25, 12, 99.96, 1234.5].map(shortNumber), ['0', '0.3', '12', '100', '1235']);
});

describe('progress', () => {
  test('is a line for each change where there is no terminal', () => {
    const [clock, err] = [virtualClock(), new KeptOutput()];
    const progress = new Progress(err, clock);
    for (const text of ['one', 'one', 'two\u001b[2J']) progress.say(text);
    progress.end();
    assert.equal(err.text, 'one\ntwo\\x1b[2J\n');
  });

  test('turns on a terminal, fits it, and leaves nothing behind', async () => {
    const [clock, err] = [virtualClock(), new KeptOutput()];
    err.terminal = { columns: 10, rows: 2 };
    const progress = new Progress(err, clock);
    progress.say('a text that is too long');
    await clock.advance(250);
    progress.end();
    await clock.advance(1_000);
    assert.equal(err.text, '\r\u001b[2K⠋ a text…\r\u001b[2K⠙ a text…\r\u001b[2K⠹ a text…\r\u001b[2K');
  });
});
