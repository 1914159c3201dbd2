/** The process is killed in the middle of ingests: acknowledged batches are stored, and nothing is stored twice. */

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { openSqliteReader } from '../storage/sqlite/sqlite-database.ts';
import type { EventDatabase, StoredActivity } from '../storage/contract.ts';
import { auditEvent, batchOf } from '../testing/events.ts';

const program = fileURLToPath(new URL('../testing/ingest-program.ts', import.meta.url));
const kills = 3;
const batchLength = 40;
const senders = 4;

interface Running {
  readonly child: ChildProcess;
  readonly url: string;
}

async function start(database: string): Promise<Running> {
  const child = spawn(process.execPath, [program, database], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = (await once(child.stdout!, 'data')) as [Buffer];
  return { child, url: `http://127.0.0.1:${Number(line.toString())}` };
}

async function kill({ child }: Running): Promise<void> {
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}

async function activitiesAfter(database: EventDatabase, version: number): Promise<StoredActivity[]> {
  const found: StoredActivity[] = [];
  for (let after = version; ; after = found.at(-1)!.version) {
    const { activities } = await database.activities({ planes: 'all', afterVersion: after, limit: 1_000 });
    found.push(...activities);
    if (activities.length === 0) return found;
  }
}

test('a killed process loses no acknowledged event, repeated batches are stored once, and watches resume without a gap', async () => {
  await using opened = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'hangar-activity-kill-'));
  opened.defer(() => rm(folder, { recursive: true, force: true }));
  const path = join(folder, 'activity.db');
  let running = await start(path);
  opened.defer(() => kill(running).catch(() => undefined));

  const acknowledged = new Set<string>();
  const sent = new Set<string>();
  let isOver = false;
  let batches = 0;
  let onAcknowledged = (): void => undefined;
  const sender = async (number: number): Promise<void> => {
    while (!isOver) {
      const ids = Array.from({ length: batchLength }, (_, at) => `${number}-${++batches}-${at}`);
      const body = batchOf(...ids.map((id) => auditEvent({ id })));
      for (const id of ids) sent.add(id);
      // As kube-apiserver does, a batch is repeated unchanged until it is accepted.
      for (let isAccepted = false; !isAccepted;) {
        const url = running.url;
        isAccepted = await fetch(url, { method: 'POST', body }).then(
          (answer) => answer.ok,
          () => false,
        );
        if (!isAccepted) await new Promise(setImmediate);
      }
      for (const id of ids) acknowledged.add(id);
      onAcknowledged();
    }
  };
  const sending = Array.from({ length: senders }, (_, number) => sender(number));

  // A watch: it resumes from its last version after every restart.
  const watched: StoredActivity[] = [];
  const reader = openSqliteReader(path);
  opened.defer(() => reader.close());
  for (let round = 0; round < kills; round++) {
    const target = acknowledged.size + batchLength * 5;
    await new Promise<void>((resolve) => {
      onAcknowledged = () => void (acknowledged.size >= target && resolve());
    });
    watched.push(...(await activitiesAfter(reader, watched.at(-1)?.version ?? 0)));
    await kill(running);
    const known = acknowledged.size;
    watched.push(...(await activitiesAfter(reader, watched.at(-1)?.version ?? 0)));
    assert.ok(watched.length >= known, `${watched.length} activities after ${known} acknowledged events`);
    running = await start(path);
  }
  isOver = true;
  await Promise.all(sending);
  watched.push(...(await activitiesAfter(reader, watched.at(-1)?.version ?? 0)));

  const ids = watched.map(({ text }) => (JSON.parse(text) as { origin: { auditID: string } }).origin.auditID);
  assert.equal(new Set(ids).size, ids.length, 'no activity twice');
  assert.deepEqual(new Set(ids), sent, 'every event, and no other');
  const versions = watched.map(({ version }) => version);
  assert.deepEqual(
    versions,
    Array.from(versions, (_, at) => versions[0]! + at),
    'without a gap',
  );
  const all = {
    planes: 'all',
    startUs: 0,
    endUs: 1e16,
    filter: undefined,
    limit: 10_000,
    scanMax: 1e9,
    bytesMax: 1e12,
  } as const;
  const { events } = await reader.query({ ...all, limit: 1_000_000, after: undefined });
  assert.equal(events.length, sent.size);
});
