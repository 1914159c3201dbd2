import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as fc from 'fast-check';
import { columnsOf } from '../events/event.ts';
import { openSqlite } from '../storage/sqlite/sqlite-database.ts';
import type { EventDatabase } from '../storage/contract.ts';
import { eventsOf } from '../storage/conformance/index.ts';
import { auditEvent } from '../testing/events.ts';
import { EventFilter, FilterError } from './filter.ts';
import type { SqlFilter } from './sql.ts';

const baseUs = 1_700_000_000_000_000;

/** Texts with characters whose order differs between UTF-16 and UTF-8, and with those that are special in patterns. */
const text = fc.array(fc.constantFrom('a', 'b', 'A', '%', '_', 'é', '\u{1F600}', '\uFFFD', ' '), { maxLength: 4 });
const string = text.map((parts) => parts.join(''));

const path = fc.constantFrom('verb', 'user.username', 'objectRef.namespace', 'objectRef.name', 'plane', 'stage');
const quoted = string.map((one) => JSON.stringify(one));
const relation = fc.constantFrom('==', '!=', '<', '<=', '>', '>=');
const atom = fc.oneof(
  fc.tuple(path, relation, quoted).map((parts) => parts.join(' ')),
  fc.tuple(quoted, relation, path).map((parts) => parts.join(' ')),
  fc.tuple(path, fc.constantFrom('startsWith', 'endsWith', 'contains'), quoted).map(([a, b, c]) => `${a}.${b}(${c})`),
  fc.tuple(path, fc.array(quoted, { maxLength: 3 })).map(([a, b]) => `${a} in [${b.join(', ')}]`),
  fc.tuple(relation, fc.constantFrom(0, 200, 404)).map(([a, b]) => `responseStatus.code ${a} ${b}`),
  fc
    .tuple(relation, fc.integer({ min: -3, max: 3 }))
    .map(([a, b]) => `stageTimestamp ${a} timestamp("${new Date((baseUs + b * 1_000_000) / 1_000).toISOString()}")`),
  fc.constantFrom('true', 'false'),
);
/** Evaluated on rows. */
const residue = fc.oneof(
  quoted.map((one) => `${one} in user.groups`),
  fc.tuple(path, fc.constantFrom(0, 1, 2)).map(([a, b]) => `size(${a}) > ${b}`),
  quoted.map((one) => `userAgent == ${one}`),
);
const expression = (leaf: fc.Arbitrary<string>) =>
  fc.letrec<{ node: string }>((tie) => ({
    node: fc.oneof(
      { maxDepth: 3 },
      leaf,
      fc
        .tuple(tie('node'), fc.constantFrom('&&', '||'), tie('node'))
        .map(([a, operator, b]) => `(${a} ${operator} ${b})`),
      tie('node').map((one) => `!(${one})`),
    ),
  })).node;

const event = fc
  .record({
    verb: string,
    user: string,
    namespace: string,
    name: string,
    plane: fc.constantFrom('a', 'b', 'é'),
    code: fc.constantFrom(0, 200, 404),
    offset: fc.integer({ min: -3, max: 3 }),
    agent: string,
    groups: fc.array(string, { maxLength: 2 }),
  })
  .map(({ verb, user, namespace, name, plane, code, offset, agent, groups }) =>
    auditEvent({
      verb,
      plane,
      code,
      timeUs: baseUs + offset * 1_000_000,
      reference: { namespace, name },
      more: { userAgent: agent, user: { username: user, groups } },
    }),
  );

const everything = {
  planes: 'all',
  startUs: 0,
  endUs: 2e15,
  after: undefined,
  limit: 1_000,
  scanMax: 1e9,
  bytesMax: 1e12,
} as const;

async function stored(database: EventDatabase, filter: SqlFilter | undefined): Promise<number[]> {
  const { events } = await database.query({ ...everything, filter });
  return events.map(({ sequence }) => sequence).sort((a, b) => a - b);
}

describe('filters', () => {
  test('the database and the evaluation of rows agree', async () => {
    const events = fc.sample(event, { numRuns: 60, seed: 7 });
    const database = await openSqlite(':memory:');
    try {
      await database.append(eventsOf(...events), baseUs);
      const rows = (await database.query({ ...everything, filter: undefined })).events;
      await fc.assert(
        fc.asyncProperty(expression(fc.oneof(atom, atom, residue)), async (text) => {
          const filter = new EventFilter(text);
          const matched = rows
            .filter((row) => filter.matches({ ...row, event: JSON.parse(row.text) }))
            .map(({ sequence }) => sequence)
            .sort((a, b) => a - b);
          const found = await stored(database, filter.sql);
          if (filter.isWhole) assert.deepEqual(found, matched, text);
          else
            assert.deepEqual(
              matched.filter((one) => !found.includes(one)),
              [],
              text,
            );
        }),
        { numRuns: 300 },
      );
    } finally {
      await database.close();
    }
  });

  test('the database gets every part of a conjunction that it can check', () => {
    const filter = new EventFilter('verb == "delete" && "ops" in user.groups && objectRef.name.startsWith("w")');
    assert.equal(filter.isWhole, false);
    assert.equal(filter.sql?.type === 'and' && filter.sql.parts.length, 2);
    assert.equal(new EventFilter('verb == "a" || userAgent == "b"').sql, undefined);
  });

  test('absent fields are empty, and an event for which the evaluation fails does not match', () => {
    const bare = { auditID: 'a', stage: 'Panic' };
    const row = { plane: 'root', timeUs: baseUs, columns: columnsOf(bare), event: bare };
    assert.equal(
      new EventFilter('objectRef.name == "" && user.groups == [] && responseStatus.code == 0').matches(row),
      true,
    );
    assert.equal(new EventFilter('annotations["absent"] == ""').matches(row), false);
  });

  for (const [text, message] of [
    ['verb ==', /Syntax error/],
    ['verb', /must be a boolean/],
    ['nothing == "a"', /undeclared reference/],
    ['verb == 3', /no matching overload/],
    [`verb == "${'a'.repeat(5_000)}"`, /at most 4096/],
  ] as const) {
    test(`${text.slice(0, 20)} is refused`, () => {
      assert.throws(
        () => new EventFilter(text),
        (error) => error instanceof FilterError && message.test(error.message),
      );
    });
  }
});
