import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { auditEvent, batchOf } from '../testing/events.ts';
import { ThreadedBackend } from './threads.ts';

const source = { plane: undefined };

test('a thread that exceeds its memory fails alone, the failure is reported, and the database can be opened again', async () => {
  await using opened = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'hangar-activity-threads-'));
  opened.defer(() => rm(folder, { recursive: true, force: true }));
  const address = join(folder, 'activity.db');
  const options = { address, policies: [], retentionMs: 86_400_000, onError: () => undefined };
  const small = await ThreadedBackend.open({ ...options, writerMemoryMb: 40 });
  opened.defer(() => small.close());
  assert.equal((await small.ingest(batchOf(auditEvent()), source)).stored, 1);
  const objects = Array.from({ length: 1_000_000 }, () => ({}));
  const refused = assert.rejects(small.ingest(batchOf(auditEvent({ more: { responseObject: { objects } } })), source));
  assert.match((await small.failed).message, /memory/);
  await refused;
  await assert.rejects(small.ingest(batchOf(auditEvent()), source));
  const again = await ThreadedBackend.open(options);
  opened.defer(() => again.close());
  assert.equal((await again.ingest(batchOf(auditEvent()), source)).stored, 1);
});
