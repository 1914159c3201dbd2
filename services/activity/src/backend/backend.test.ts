import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '@hangar/core';
import { PolicySet } from '../policy/policy.ts';
import { openSqlite } from '../storage/sqlite/sqlite-database.ts';
import { auditEvent, batchOf } from '../testing/events.ts';
import { LocalBackend } from './backend.ts';

const source = { plane: undefined };
const dayMs = 86_400_000;

test('a database that is full with events of today stores no more, reports it once, and goes on on the next day', async () => {
  let nowMs = Date.UTC(2026, 3, 1, 12);
  const problems: string[] = [];
  const backend = new LocalBackend({
    database: await openSqlite(':memory:'),
    policies: new PolicySet([]),
    clock: { ...systemClock, now: () => nowMs },
    retentionMs: 30 * dayMs,
    databaseBytesMax: 400_000,
    onError: ({ message }) => void problems.push(message),
  });
  const ingest = (): Promise<unknown> => {
    const items = Array.from({ length: 30 }, () =>
      auditEvent({ timeUs: nowMs * 1_000, response: { data: 'x'.repeat(20_000) } }),
    );
    return backend.ingest(batchOf(...items), source);
  };
  try {
    await ingest();
    await backend.startRetention();
    for (let at = 0; at < 3; at++) await assert.rejects(ingest(), /has reached its size/);
    assert.equal(problems.length, 1, problems.join('\n'));
    nowMs += dayMs;
    await ingest();
    await backend.startRetention();
    const { activities } = await backend.activities({ planes: 'all', afterVersion: 0, limit: 100 });
    assert.equal(activities.length, 30, 'the day before was dropped');
  } finally {
    await backend.close();
  }
});

test('events above 32 KiB are stored without their objects', async () => {
  const backend = new LocalBackend({
    database: await openSqlite(':memory:'),
    policies: new PolicySet([]),
    clock: systemClock,
    retentionMs: dayMs,
    onError: assert.fail,
  });
  try {
    const sizes = [20_000, 40_000];
    await backend.ingest(
      batchOf(...sizes.map((size) => auditEvent({ response: { data: 'x'.repeat(size) }, id: `${size}` }))),
      source,
    );
    const range = { planes: 'all', startUs: 0, endUs: 1e16, after: undefined, filter: undefined } as const;
    const { events } = await backend.query({ ...range, limit: 10, scanMax: 1e6, bytesMax: 1e9 });
    const whole = events.filter(({ text }) => 'responseObject' in JSON.parse(text));
    assert.deepEqual(
      whole.map(({ columns }) => columns.auditId),
      ['20000'],
    );
  } finally {
    await backend.close();
  }
});
