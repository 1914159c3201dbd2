import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as fc from 'fast-check';
import { cpuTime } from '@hangar/core/testing';
import { WorkBudget } from '../work.ts';
import { Regex } from './cache.ts';

/** Patterns that mean the same in RE2 and in JavaScript. */
const { pattern } = fc.letrec<{ pattern: string }>((tie) => ({
  pattern: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom(
      'a',
      'b',
      'c',
      '.',
      '[ab]',
      '[^a]',
      '[a-c]',
      '\\d',
      '\\w',
      '\\W',
      '\\s',
      '\\.',
      '^',
      '$',
      '\\b',
      '\\B',
      'ab',
      '\\x41',
      '1',
    ),
    fc.tuple(tie('pattern'), tie('pattern')).map(([a, b]) => a + b),
    fc.tuple(tie('pattern'), tie('pattern')).map(([a, b]) => `(?:${a}|${b})`),
    // The body of a loop must not match the empty text: there the two implementations differ.
    fc
      .tuple(
        fc.constantFrom('a', 'b', '.', '[ab]', '[^a]', '(?:ab|a)', '(?:a|ab|b)'),
        fc.constantFrom('*', '+', '?', '*?', '+?', '??', '{2}', '{1,3}', '{2,}', '{1,2}?'),
      )
      .map(([body, count]) => body + count),
  ),
}));
// No characters beyond 16 bits: V8 finds empty matches in the middle of them.
const text = fc.string({ unit: fc.constantFrom('a', 'b', 'c', ' ', '1', '.', '\n', 'A', 'é'), maxLength: 20 });

describe('regular expressions', () => {
  test('find what JavaScript finds, where both mean the same', () => {
    fc.assert(
      fc.property(pattern, text, (source, input) => {
        const wanted = new RegExp(source, 'u').exec(input);
        const found = new Regex(source).find(input);
        assert.deepEqual(
          found,
          wanted === null ? undefined : { start: wanted.index, end: wanted.index + wanted[0].length },
        );
        assert.equal(new Regex(source).test(input), wanted !== null);
      }),
      { numRuns: 3_000 },
    );
  });

  test('ignoring case finds what JavaScript finds', () => {
    const letters = fc.string({
      unit: fc.constantFrom('a', 'B', 'k', 'S', 'é', 'É', 'ß', 'σ', 'Σ', 'ſ', 'K'),
      minLength: 1,
      maxLength: 4,
    });
    fc.assert(
      fc.property(letters, letters, (source, input) => {
        assert.equal(new Regex(`(?i)${source}`).test(input), new RegExp(source, 'iu').test(input));
      }),
      { numRuns: 2_000 },
    );
  });

  for (const attack of [
    '(a+)+$',
    '(a*)*$',
    '(a|a)*$',
    '(a|aa)+$',
    '(.*)*x',
    '^(([a-z])+.)+[A-Z]([a-z])+$',
    '(?:a?){50}a{50}$',
    '\\b(a+)+\\b!',
  ]) {
    test(`${attack} takes time in proportion to the text`, () => {
      const regex = new Regex(attack);
      const takenMs = cpuTime();
      regex.test(`${'a'.repeat(20_000)}!b`);
      regex.find(`${'a'.repeat(500)}!b`);
      // Backtracking would not end in the lifetime of the machine.
      assert.ok(takenMs() < 10_000);
    });
  }

  const refused = [
    '(',
    ')',
    '[',
    'a**',
    'a{1001}',
    '(a{100}){100}',
    '*',
    '+a',
    '\\1',
    '\\8',
    '(?=a)',
    '(?!a)',
    '(?<=a)',
    '(?P<n>a)(?P<n>b)',
    '[z-a]',
    '\\p{Nope}',
    '\\',
    'a{2}{3}',
    '(?i',
    '\\Z',
    '\\C',
    '[[:nope:]]',
    '(?x)a',
  ];
  for (const source of refused) {
    test(`${source} is refused, as RE2 refuses it`, () =>
      assert.throws(() => new Regex(source), /error parsing regexp/));
  }

  const accepted: readonly [source: string, input: string, found: string][] = [
    ['\\pL+', '12äß', 'äß'],
    ['\\p{Greek}+', 'abγδ', 'γδ'],
    ['\\P{L}+', 'ab12', '12'],
    ['[[:alpha:]_]+', '1a_b2', 'a_b'],
    ['[^[:digit:]]', '12x', 'x'],
    ['\\Qa.b\\E', 'aXb a.b', 'a.b'],
    ['(?i)straße', 'STRAßE', 'STRAßE'],
    ['(?U)a+', 'aaa', 'a'],
    ['(?s).+', 'a\nb', 'a\nb'],
    ['(?m)^b$', 'a\nb\nc', 'b'],
    ['\\x{1F600}', 'x😀', '😀'],
    ['a{,2}', 'xa{,2}', 'a{,2}'],
    ['(?P<year>\\d{4})', 'in 2024', '2024'],
    ['\\101', 'xA', 'A'],
    ['[a\\-z]+', 'b-a', '-a'],
    ['[]a]+', 'x]a', ']a'],
    ['x*', 'y', ''],
  ];
  for (const [source, input, found] of accepted) {
    test(`${source} finds ${JSON.stringify(found)} in ${JSON.stringify(input)}`, () => {
      const span = new Regex(source).find(input);
      assert.equal(span && input.slice(span.start, span.end), found);
    });
  }

  test('the number of remembered states is bounded', () => {
    // Every text of a's and b's leads to another state of this one.
    const regex = new Regex('(?:a|b)*a(?:a|b){12}$');
    const input = Array.from({ length: 20_000 }, (_, index) => ((index * 2654435761) % 7 < 3 ? 'a' : 'b')).join('');
    assert.equal(regex.test(input), /a[ab]{12}$/.test(input));
  });
});

test('finding all matches in quadratic time is interrupted', () => {
  const budget = new WorkBudget();
  assert.throws(() => budget.run(() => new Regex('a.*b|a').findAll('a'.repeat(200_000))), { code: 'Interrupted' });
});
