import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { describe, test } from 'node:test';
import { seededRandom } from '@hangar/core';
import { matchingOf } from './match.ts';
import { parseQuery, queryLengthMax } from './parse.ts';

describe('a query', () => {
  test('is divided into words, phrases, prefixes, exclusions and filters', () => {
    const { phrases, filters } = parseQuery(
      'Web "rolling  update" front* -old kind:Pod -namespace:dev label:app=web project:x',
    );
    assert.deepEqual(
      phrases.map(({ terms, isPrefix, isNegated }) => [terms.join(' '), isPrefix, isNegated]),
      [
        ['web', false, false],
        ['rolling update', false, false],
        ['front', true, false],
        ['old', false, true],
      ],
    );
    assert.deepEqual(
      filters.map(({ field, value, isNegated }) => [field, value, isNegated]),
      [
        ['kind', 'Pod', false],
        ['namespace', 'dev', true],
        ['label', 'app=web', false],
        ['cluster', 'x', false],
      ],
    );
  });

  test('with an unknown field is a text', () => {
    assert.deepEqual(parseQuery('image:nginx').phrases[0]!.terms, ['image', 'nginx']);
    assert.deepEqual(parseQuery('constructor:x').phrases[0]!.terms, ['constructor', 'x']);
  });

  for (const [query, message] of [
    ['', /at least one word/],
    ['-web', /at least one word/],
    ['()* ** ""', /at least one word/],
    ['we*', /at least 3 characters/],
    ['web -fron*', /whole words/],
    ['"open', /not closed/],
    ['a:"', /not closed/],
    ['kind:"open', /no value/],
    ['kind:', /at least one word|no value/],
    ['kind:""', /no value/],
    ['kind:Po*', /does not support/],
    ['x'.repeat(queryLengthMax + 1), /at most 1000 characters/],
    ['a '.repeat(30), /at most 24 parts/],
    [`"${'a '.repeat(60)}"`, /at most 48 words/],
  ] as const) {
    test(`${JSON.stringify(query.slice(0, 20))} is rejected`, () => {
      assert.throws(
        () => parseQuery(query),
        (error: Error & { code: string }) => error.code === 'BadRequest' && message.test(error.message),
      );
    });
  }

  test('never reaches the database as a syntax of its own', () => {
    const database = new DatabaseSync(':memory:');
    database.exec("CREATE VIRTUAL TABLE words USING fts5 (terms, content = '', contentless_delete = 1)");
    const statement = database.prepare('SELECT rowid FROM words WHERE words MATCH ?');
    const pieces = [
      '"',
      "'",
      ' OR ',
      ' AND ',
      ' NOT ',
      ' NEAR(',
      '(',
      ')',
      '{terms}',
      ':',
      '*',
      '^',
      '-',
      '+',
      ',',
      ';--',
      '\0',
      'abc',
      'naïve',
      '日本',
      '\u{1F600}',
      'kind:',
      'label:',
      'x=y',
    ];
    const random = seededRandom(7);
    let accepted = 0;
    for (let round = 0; round < 3_000; round++) {
      const text = Array.from({ length: 1 + random.below(12) }, () => pieces[random.below(pieces.length)]).join('');
      let tiers: readonly string[];
      try {
        ({ tiers } = matchingOf(parseQuery(text), round % 2 === 0 ? ['red', '") OR ("'] : undefined));
      } catch (error) {
        assert.equal((error as { code?: string }).code, 'BadRequest', text);
        continue;
      }
      accepted++;
      for (const tier of tiers) assert.deepEqual(statement.all(tier), [], text);
    }
    assert.ok(accepted > 500);
    database.close();
  });
});
