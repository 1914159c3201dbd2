import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '@hangar/core';
import { LocalBackend } from '../backend/backend.ts';
import { columnsOf, digestOf, microTime } from '../events/event.ts';
import { PolicySet } from '../policy/policy.ts';
import { platformScope } from '../scope/scope.ts';
import type { NewEvent } from '../storage/contract.ts';
import { openSqlite } from '../storage/sqlite/sqlite-database.ts';
import { auditEvent } from '../testing/events.ts';
import { ActivityStorage } from './activity.ts';

const nowUs = Date.now() * 1_000;

function newEvent(at: number): NewEvent {
  const text = JSON.stringify(auditEvent({ id: `e${at}`, timeUs: nowUs }));
  const row = { ...columnsOf(JSON.parse(text)), plane: 'red', timeUs: nowUs, digest: digestOf('red', text), text };
  const render = (): string => JSON.stringify({ time: microTime(nowUs) });
  return { row, withoutObjects: () => text, draft: { objectKey: undefined, remembered: undefined, render } };
}

test('a list without a limit of too many activities is refused from every start, and pages are served', async () => {
  await using opened = new AsyncDisposableStack();
  const database = await openSqlite(':memory:');
  const policies = new PolicySet([]);
  const retentionMs = 86_400_000;
  const backend = new LocalBackend({ database, policies, clock: systemClock, retentionMs, onError: assert.fail });
  opened.defer(() => backend.close());
  await database.append(
    Array.from({ length: 20_010 }, (_, at) => newEvent(at)),
    nowUs,
  );
  const storage = new ActivityStorage({ backend, clock: systemClock, scope: platformScope });
  const version = undefined;
  const first = await storage.page({ start: '', limit: 100, version });
  assert.equal(first.items.length, 100);
  // Continue tokens are not signed: clients choose the start.
  for (const start of ['', 'a', first.items[0]!.metadata.name!]) {
    await assert.rejects(storage.page({ start, limit: 1_000, version }), { code: 'BadRequest' }, `start "${start}"`);
  }
  const start = `${first.items.at(-1)!.metadata.name}\0`;
  assert.equal((await storage.page({ start, limit: 1_000, version })).items.length, 1_000, 'the rest is short enough');
  assert.equal((await storage.page({ start, limit: 1_000, version: first.version })).items.length, 1_000);
});
