import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { seededRandom } from '@hangar/core';
import { Scheduler } from '@hangar/core/simulation';
import { LogFile } from './log-file.ts';
import { WebhookSink } from './webhook-sink.ts';

const noErrors = (error: Error): never => {
  throw error;
};

test('events are lines, and a file that would grow too large is put aside', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'hangar-audit-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const clock = new Scheduler(seededRandom(1));
  const path = join(folder, 'audit.log');
  const log = new LogFile({ path, bytesMax: 20, backupsMax: 2, ageMaxMs: 0, clock, onError: noErrors });
  for (let i = 0; i < 6; i++) {
    log.write(`{"n":${i}}`);
    log.write('{}');
    await clock.advance(1_000);
  }
  await log.close();
  assert.equal(readFileSync(path, 'utf8'), '{"n":5}\n{}\n');
  const backups = readdirSync(folder).filter((name) => name !== 'audit.log');
  assert.equal(backups.length, 2);
  assert.deepEqual(
    backups.sort().map((name) => readFileSync(join(folder, name), 'utf8')),
    ['{"n":3}\n{}\n', '{"n":4}\n{}\n'],
  );
});

test('what is written before the log is closed is in it, and what others wrote before stays', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'hangar-audit-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const options = { bytesMax: 0, backupsMax: 0, ageMaxMs: 0, clock: new Scheduler(seededRandom(1)), onError: noErrors };
  const path = join(folder, 'audit.log');
  for (const event of ['first', 'second']) {
    const log = new LogFile({ path, ...options });
    log.write(event);
    await log.close();
  }
  assert.equal(readFileSync(path, 'utf8'), 'first\nsecond\n');
});

test('events are sent in lists, again when they were not taken, and in order', async () => {
  const clock = new Scheduler(seededRandom(1));
  const lists: number[][] = [];
  let refusals = 2;
  const sink = new WebhookSink({
    clock,
    batchLengthMax: 3,
    batchWaitMs: 1_000,
    onLost: () => assert.fail('nothing is lost'),
    post: async (body) => {
      if (refusals-- > 0) throw new Error('not now');
      lists.push((JSON.parse(body) as { items: number[] }).items);
    },
  });
  for (let i = 0; i < 4; i++) sink.write(String(i));
  await clock.advance(60_000);
  assert.deepEqual(lists, [[0, 1, 2], [3]]);
  sink.write('4');
  await sink.close();
  assert.deepEqual(lists.at(-1), [4]);
});

test('what too many events are too much for is counted, not kept', async () => {
  const lost: number[] = [];
  const sink = new WebhookSink({
    clock: new Scheduler(seededRandom(1)),
    waitingMax: 2,
    attemptsMax: 1,
    onLost: (events) => void lost.push(events),
    post: () => Promise.reject(new Error('down')),
  });
  for (let i = 0; i < 5; i++) sink.write(String(i));
  assert.deepEqual(lost, [1, 1, 1]);
  await sink.close();
  assert.deepEqual(lost, [1, 1, 1, 2]);
});

test('waiting bytes are bounded: events lose their objects first, and later ones are counted as lost', async () => {
  const lost: number[] = [];
  const lists: string[][] = [];
  const sink = new WebhookSink({
    clock: new Scheduler(seededRandom(1)),
    waitingBytesMax: 100,
    attemptsMax: 1,
    onLost: (events) => void lost.push(events),
    post: async (body) => void lists.push((JSON.parse(body) as { items: string[] }).items),
  });
  const whole = JSON.stringify('o'.repeat(38));
  const short = JSON.stringify('short--');
  for (let i = 0; i < 12; i++) sink.write(whole, () => short);
  assert.equal(lost.length, 5);
  await sink.close();
  assert.deepEqual(lists, [[JSON.parse(whole), ...Array.from({ length: 6 }, () => 'short--')]]);
});

test('a batch has at most the configured bytes, unless one event has more', async () => {
  const clock = new Scheduler(seededRandom(1));
  const lists: string[][] = [];
  const sink = new WebhookSink({
    clock,
    batchBytesMax: 20,
    batchWaitMs: 1_000,
    onLost: () => assert.fail('nothing is lost'),
    post: async (body) => void lists.push((JSON.parse(body) as { items: string[] }).items),
  });
  const events = ['1234567', '2345678', '3', '4'.repeat(50), '5'];
  for (const event of events) sink.write(JSON.stringify(event));
  await clock.advance(60_000);
  assert.deepEqual(lists, [['1234567', '2345678'], ['3'], ['4'.repeat(50)], ['5']]);
  await sink.close();
});

test('a batch that cannot be encoded is counted as lost', async () => {
  const lost: number[] = [];
  const sink = new WebhookSink({
    clock: new Scheduler(seededRandom(1)),
    batchBytesMax: Infinity,
    waitingBytesMax: Infinity,
    attemptsMax: 1,
    onLost: (events) => void lost.push(events),
    post: () => assert.fail('there is no body'),
  });
  // Together longer than the longest string.
  const long = 'x'.repeat(2 ** 28);
  for (let i = 0; i < 3; i++) sink.write(long);
  await sink.close();
  assert.deepEqual(lost, [3]);
});

test('a log that cannot be put aside, or not be opened again, goes on', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'hangar-audit-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const clock = new Scheduler(seededRandom(1));
  const path = join(folder, 'audit.log');
  const log = new LogFile({ path, bytesMax: 10, backupsMax: 0, ageMaxMs: 0, clock, onError: () => {} });
  log.write('{"n":1}');
  await clock.advance(1_000);
  // The file is missing, as after an interrupted rotation.
  renameSync(path, join(folder, 'elsewhere'));
  for (const n of [2, 3]) {
    log.write(`{"n":${n}}`);
    await clock.advance(1_000);
  }
  await log.close();
  const all = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8'));
  for (const n of [1, 2, 3]) assert.ok(all.join('').includes(`{"n":${n}}`), `event ${n}`);
});
