import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { seededRandom } from '@hangar/core';
import type { BackupPhase, ControlPlaneBackup } from '../api/index.ts';
import { expiredBackups, durationMs, historyOf, lastSuccessMs } from './backup-history.ts';
import { parseCron } from './cron.ts';
import { labelValue, scheduledName } from './names.ts';
import { dueSlot, offsetMs, runsOf } from './plan.ts';

const at = (text: string): number => Date.parse(text);
const hourMs = 3_600_000;

describe('a cron expression', () => {
  test('has times in its time zone, also when the clocks change', () => {
    const cases = [
      ['0 2 * * *', 'UTC', '2026-03-28T12:00:00Z', '2026-03-29T02:00:00Z', '2026-03-28T02:00:00Z'],
      ['30 4 * * *', 'Europe/Berlin', '2026-03-28T12:00:00Z', '2026-03-29T02:30:00Z', '2026-03-28T03:30:00Z'],
      ['@hourly', undefined, '2026-03-28T12:00:00Z', '2026-03-28T13:00:00Z', '2026-03-28T12:00:00Z'],
      ['@monthly', undefined, '2026-03-28T12:00:00.900Z', '2026-04-01T00:00:00Z', '2026-03-01T00:00:00Z'],
    ] as const;
    for (const [text, zone, now, next, previous] of cases) {
      const cron = parseCron(text, zone);
      assert.equal(cron.next(at(now)), at(next), text);
      assert.equal(cron.previous(at(now)), at(previous), text);
    }
  });

  for (const text of [
    '',
    'daily',
    '@reboot',
    '* * * *',
    '* * * * * *',
    '99 * * * *',
    '0 0 30 2 *',
    '2030-01-01T00:00:00',
  ]) {
    test(`${JSON.stringify(text)} is refused`, () => {
      assert.throws(() => parseCron(text), { code: 'ScheduleInvalid' });
    });
  }

  test('an unknown time zone is refused', () => {
    assert.throws(() => parseCron('@daily', 'Mars/Olympus'), { code: 'ScheduleInvalid', message: /Mars\/Olympus/ });
  });
});

describe('a slot', () => {
  const cron = parseCron('0 * * * *');
  const base = { schedule: 'hourly', cron, createdMs: at('2026-01-01T00:30:00Z'), isSuspended: false, isSpread: true };
  const slotAt = (now: string, more: object = {}) => dueSlot({ ...base, nowMs: at(now), ...more });

  test('is due once, and only after the creation of the schedule', () => {
    assert.equal(slotAt('2026-01-01T00:59:59Z'), undefined);
    assert.deepEqual(slotAt('2026-01-01T01:00:00Z'), { slotMs: at('2026-01-01T01:00:00Z'), spreadMs: hourMs / 4 });
    assert.equal(slotAt('2026-01-01T01:10:00Z', { lastSlotMs: at('2026-01-01T01:00:00Z') }), undefined);
    assert.equal(slotAt('2026-01-01T01:10:00Z', { isSuspended: true }), undefined);
  });

  test('that was missed with others is the newest one', () => {
    const lastSlotMs = at('2026-01-01T01:00:00Z');
    assert.equal(slotAt('2026-01-03T07:30:00Z', { lastSlotMs })?.slotMs, at('2026-01-03T07:00:00Z'));
  });

  test('is spread over a quarter of the interval, and over an hour at most', () => {
    const daily = { ...base, cron: parseCron('@daily'), nowMs: at('2026-01-02T00:00:00Z') };
    assert.equal(dueSlot(daily)?.spreadMs, hourMs);
    assert.equal(dueSlot({ ...daily, isSpread: false })?.spreadMs, 0);
    const planes = Array.from({ length: 1_000 }, (_, nth) => `plane-${nth}`);
    const perMinute = new Map<number, number>();
    for (const plane of planes) {
      const minute = Math.floor(offsetMs('daily', plane, hourMs) / 60_000);
      assert.ok(minute >= 0 && minute < 60);
      perMinute.set(minute, (perMinute.get(minute) ?? 0) + 1);
    }
    assert.ok(Math.max(...perMinute.values()) < 40, 'a minute has 17 of them on average');
  });

  test('has each run once, in any order of passes', () => {
    const random = seededRandom(3);
    const planes = Array.from({ length: 50 }, (_, nth) => `plane-${nth}`);
    const slot = { schedule: 'daily', slotMs: at('2026-01-02T00:00:00Z'), spreadMs: hourMs };
    const existing = new Set<string>();
    for (let nowMs = slot.slotMs; ; nowMs += Math.floor(random.fraction() * 300_000)) {
      const { due, nextMs } = runsOf({ ...slot, nowMs, planes, existing, unfinished: new Set() });
      for (const { name } of due) {
        assert.ok(!existing.has(name));
        existing.add(name);
      }
      if (nextMs === undefined) break;
      assert.ok(nextMs > nowMs);
    }
    assert.equal(existing.size, 50);
  });

  test('is skipped by a control plane whose last backup has not ended', () => {
    const slot = {
      schedule: 'daily',
      slotMs: 0,
      spreadMs: 0,
      nowMs: 1,
      planes: ['a', 'b'],
      existing: new Set<string>(),
    };
    const { due, nextMs } = runsOf({ ...slot, unfinished: new Set(['a']) });
    assert.deepEqual([due.map(({ plane }) => plane), nextMs], [['b'], undefined]);
  });
});

test('names depend on schedule, slot and control plane, and fit', () => {
  const slotMs = at('2026-01-02T02:00:00Z');
  assert.equal(scheduledName('nightly', slotMs, 'demo'), 'nightly-202601020200-demo');
  assert.equal(scheduledName('demo', slotMs, 'demo'), 'demo-202601020200');
  const [a, b] = ['a', 'b'].map((last) => scheduledName('n'.repeat(200), slotMs, `${'p'.repeat(200)}${last}`));
  assert.ok(a!.length <= 253 && a !== b);
  assert.ok(labelValue('x'.repeat(253)).length <= 63);
  assert.equal(labelValue('demo'), 'demo');
});

let uid = 0;
const backup = (phase: BackupPhase | undefined, created: string, more: Partial<ControlPlaneBackup['metadata']> = {}) =>
  ({
    metadata: { name: `b-${created}`, uid: String(++uid), creationTimestamp: `2026-01-${created}T00:00:00Z`, ...more },
    spec: { controlPlaneRef: { name: 'demo' }, destination: { folder: { name: 'x' } } },
    status: phase && { phase, ...(phase === 'Complete' && { completionTime: `2026-01-${created}T00:10:00Z` }) },
  }) as ControlPlaneBackup;

describe('retention', () => {
  const nowMs = at('2026-01-31T00:00:00Z');
  const namesOf = (all: readonly ControlPlaneBackup[]) => all.map(({ metadata }) => metadata.name!.slice(2));
  const expired = (retention: object, ...backups: ControlPlaneBackup[]) =>
    namesOf(expiredBackups(historyOf(backups).get('demo')!, retention, nowMs).backups);

  test('keeps the newest complete ones by count and by age', () => {
    const all = ['01', '10', '20', '30'].map((day) => backup('Complete', day));
    assert.deepEqual(expired({}, ...all), []);
    assert.deepEqual(expired({ count: 2 }, ...all), ['10', '01']);
    assert.deepEqual(expired({ age: '480h' }, ...all), ['10', '01']);
    assert.deepEqual(expired({ count: 3, age: '480h' }, ...all), ['10', '01']);
  });

  test('keeps the newest complete one in any case, and does not count failed ones', () => {
    const failed = ['27', '28', '29', '30'].map((day) => backup('Failed', day));
    assert.deepEqual(expired({ count: 1, age: '1h' }, backup('Complete', '01'), ...failed), ['27']);
    assert.deepEqual(expired({ count: 2 }, backup('Complete', '01'), backup('Complete', '02'), ...failed), ['27']);
  });

  test('ignores backups that are being deleted, and never deletes unfinished ones', () => {
    const deleting = backup('Complete', '30', { deletionTimestamp: '2026-01-30T00:00:00Z' });
    const history = [deleting, backup('Complete', '02'), backup('Running', '29'), backup(undefined, '28')];
    assert.deepEqual(expired({ count: 1, age: '1h' }, ...history), []);
  });

  test('says when the next one expires', () => {
    const { complete, failed } = historyOf([backup('Complete', '29'), backup('Complete', '30')]).get('demo')!;
    assert.equal(expiredBackups({ complete, failed }, { age: '72h' }, nowMs).nextMs, at('2026-02-01T00:10:00Z'));
    assert.equal(expiredBackups({ complete, failed }, { count: 5 }, nowMs).nextMs, undefined);
  });

  test('a property: the newest complete backup and unfinished ones are never deleted', () => {
    const random = seededRandom(11);
    const phases = ['Complete', 'Failed', 'Running', undefined] as const;
    for (let round = 0; round < 300; round++) {
      const days = Array.from({ length: 9 }, (_, nth) => String(nth + 10));
      const all = days.map((day) => backup(phases[Math.floor(random.fraction() * 4)], day));
      const history = historyOf(all).get('demo')!;
      const retention = {
        count: 1 + Math.floor(random.fraction() * 3),
        age: `${Math.floor(random.fraction() * 500)}h`,
      };
      const { backups } = expiredBackups(history, retention, nowMs);
      assert.ok(!backups.includes(history.complete[0]!));
      assert.ok(!backups.some((one) => history.unfinished.includes(one)));
      const kept = history.complete.filter((one) => !backups.includes(one));
      assert.ok(kept.length <= retention.count || history.complete.length === 0);
    }
  });
});

test('a control plane fails if its newest backup that ended failed', () => {
  const one = historyOf([backup('Complete', '01'), backup('Failed', '02'), backup('Running', '03')]).get('demo')!;
  assert.deepEqual([one.isFailing, lastSuccessMs(one)], [true, at('2026-01-01T00:10:00Z')]);
  assert.equal(historyOf([backup('Failed', '01'), backup('Complete', '02')]).get('demo')!.isFailing, false);
});

test('durations have units', () => {
  assert.equal(durationMs('1h30m'), 5_400_000);
  assert.equal(durationMs('1.5s'), 1_500);
});
