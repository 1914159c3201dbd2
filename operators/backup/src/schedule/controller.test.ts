import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { folderStorage, openDestination } from '@hangar/backup';
import { findCondition } from '@hangar/runtime';
import { join } from 'node:path';
import { ControlPlaneBackup, ControlPlaneBackupSchedule, labels } from '../api/index.ts';
import type { ControlPlaneBackupScheduleSpec } from '../api/index.ts';
import { JumpingClock } from '../testing/jumping-clock.ts';
import { namespace, startTestPlatform, until } from '../testing/platform.ts';
import type { TestPlatform } from '../testing/platform.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const objects = { 'configmaps/a': '1' };
const destination = { folder: { name: 'daily' } };
const hourly = { schedule: '@hourly', destination, controlPlaneRef: { name: 'demo' } };

async function started(planes: readonly string[] = ['demo']) {
  const clock = new JumpingClock();
  const platform = await startTestPlatform({ clock });
  for (const name of planes) platform.target.planes.set(name, { objects, labels: { team: 'red' } });
  return { clock, platform };
}

const create = ({ client }: TestPlatform, spec: ControlPlaneBackupScheduleSpec = hourly, name = 'hourly') =>
  client.create(ControlPlaneBackupSchedule, { metadata: { name, namespace }, spec });

const untilSchedule = async (
  { client }: TestPlatform,
  isSo: (one: ControlPlaneBackupSchedule) => boolean,
): Promise<ControlPlaneBackupSchedule> =>
  (await until(client, ControlPlaneBackupSchedule, { name: 'hourly' }, (one) => one !== undefined && isSo(one)))!;

const isReady = ({ status }: ControlPlaneBackupSchedule): boolean => status?.nextBackupTime !== undefined;

const all = async ({ client }: TestPlatform): Promise<ControlPlaneBackup[]> =>
  (await client.list(ControlPlaneBackup, { namespace })).items;
const names = async (platform: TestPlatform): Promise<string[]> =>
  (await all(platform)).map(({ metadata }) => metadata.name!).sort();

describe('a schedule', () => {
  test('makes one backup at each time, and writes nothing in between', async () => {
    const { clock, platform } = await started();
    await using _ = platform;
    platform.start();
    await create(platform);
    const before = await untilSchedule(platform, isReady);
    assert.equal(before.status?.nextBackupTime, '2026-01-01T01:00:00Z');
    assert.deepEqual(await names(platform), []);
    for (const hour of [1, 2]) {
      await platform.quiet();
      clock.jump(hourMs);
      const { status } = await untilSchedule(platform, (one) => one.status?.backups === hour);
      assert.equal(status?.lastScheduleTime, `2026-01-01T0${hour}:00:00Z`);
      assert.equal(status?.nextBackupTime, `2026-01-01T0${hour + 1}:00:00Z`);
      assert.deepEqual([status?.controlPlanes, status?.failing], [1, 0]);
    }
    assert.deepEqual(await names(platform), ['hourly-202601010100-demo', 'hourly-202601010200-demo']);
    await platform.quiet();
    platform.forget();
    await platform.quiet();
    clock.jump(10 * minuteMs);
    await platform.quiet();
    assert.deepEqual(platform.writes, []);
  });

  test('makes up for missed times with one backup', async () => {
    const { clock, platform } = await started();
    await using _ = platform;
    const first = platform.start();
    await create(platform);
    await untilSchedule(platform, isReady);
    await first.stop();
    await platform.quiet();
    clock.jump(30 * hourMs);
    platform.start();
    await untilSchedule(platform, (one) => one.status?.backups === 1);
    await platform.quiet();
    assert.deepEqual(await names(platform), ['hourly-202601020600-demo']);
  });

  test('does not make a deleted backup again', async () => {
    const { clock, platform } = await started();
    await using _ = platform;
    platform.start();
    await create(platform);
    await untilSchedule(platform, isReady);
    await platform.quiet();
    clock.jump(hourMs);
    await untilSchedule(platform, (one) => one.status?.backups === 1);
    await platform.client.delete(ControlPlaneBackup, { name: 'hourly-202601010100-demo', namespace });
    await untilSchedule(platform, (one) => one.status?.backups === 0);
    await platform.quiet();
    assert.deepEqual(await names(platform), []);
  });

  test('makes no backups while it is suspended', async () => {
    const { clock, platform } = await started();
    await using _ = platform;
    platform.start();
    await create(platform, { ...hourly, suspend: true });
    const isSuspended = ({ status }: ControlPlaneBackupSchedule) =>
      findCondition(status?.conditions, 'Ready')?.reason === 'Suspended';
    await untilSchedule(platform, isSuspended);
    await platform.quiet();
    clock.jump(3 * hourMs);
    await platform.quiet();
    assert.deepEqual(await names(platform), []);
  });

  const invalid = [
    [{ ...hourly, schedule: 'sometimes' }, 'ScheduleInvalid', /five fields/],
    [{ ...hourly, timeZone: 'Mars/Olympus' }, 'ScheduleInvalid', /Mars\/Olympus/],
  ] as const;
  for (const [spec, reason, message] of invalid) {
    test(`with ${spec.schedule} in ${'timeZone' in spec ? spec.timeZone : 'UTC'} reports ${reason}`, async () => {
      const { platform } = await started();
      await using _ = platform;
      platform.start();
      await create(platform, spec);
      const { status } = await untilSchedule(platform, (one) => one.status?.conditions !== undefined);
      const ready = findCondition(status?.conditions, 'Ready');
      assert.deepEqual([ready?.status, ready?.reason], ['False', reason]);
      assert.match(ready!.message, message);
    });
  }

  test('keeps the newest backups, and deletes the data of the others', async () => {
    const { clock, platform } = await started();
    await using _ = platform;
    platform.start();
    await create(platform, { ...hourly, retention: { count: 2 } });
    await untilSchedule(platform, isReady);
    for (let hour = 1; hour <= 4; hour++) {
      await platform.quiet();
      clock.jump(hourMs);
      const time = `2026-01-01T0${hour}`;
      await untilSchedule(platform, ({ status }) => status?.lastBackupTime?.startsWith(time) ?? false);
      await untilSchedule(platform, ({ status }) => status?.backups === Math.min(hour, 2));
    }
    const expired = 'hourly-202601010200-demo';
    await until(platform.client, ControlPlaneBackup, { name: expired }, (one) => one === undefined);
    assert.deepEqual(await names(platform), ['hourly-202601010300-demo', 'hourly-202601010400-demo']);
    const folder = openDestination(folderStorage(join(platform.folder, namespace, 'daily')));
    assert.equal((await Array.fromAsync(folder.list())).length, 2);
  });

  test('keeps the old backups while new ones fail', async () => {
    const { clock, platform } = await started();
    await using _ = platform;
    platform.start();
    await create(platform, { ...hourly, retention: { count: 1, age: '1h' } });
    await untilSchedule(platform, isReady);
    await platform.quiet();
    clock.jump(hourMs);
    await untilSchedule(platform, (one) => one.status?.backups === 1);
    platform.target.planes.delete('demo');
    for (const hour of [2, 3, 4, 5, 6]) {
      await platform.quiet();
      clock.jump(hourMs);
      const name = `hourly-202601010${hour}00-demo`;
      await until(platform.client, ControlPlaneBackup, { name }, (one) => one?.status?.phase === 'Failed');
    }
    const { status } = await untilSchedule(platform, (one) => one.status?.failing === 1);
    assert.equal(status?.backups, 1);
    await until(platform.client, ControlPlaneBackup, { name: 'hourly-202601010300-demo' }, (one) => one === undefined);
    const complete = (await all(platform)).filter((one) => one.status?.phase === 'Complete');
    assert.deepEqual(
      complete.map((one) => one.metadata.name),
      ['hourly-202601010100-demo'],
    );
  });

  test('of a selector is spread, leaves out temporary control planes, and is bounded in requests', async () => {
    const planes = Array.from({ length: 40 }, (_, nth) => `plane-${nth}`);
    const { clock, platform } = await started(planes);
    await using _ = platform;
    platform.target.planes.set('blue', { objects, labels: { team: 'blue' } });
    platform.target.planes.set('drill-1', { objects, labels: { team: 'red', [labels.temporary]: 'true' } });
    platform.start();
    const { controlPlaneRef: __, ...rest } = hourly;
    await create(platform, { ...rest, controlPlaneSelector: { matchLabels: { team: 'red' } } });
    await untilSchedule(platform, isReady);
    await platform.quiet();
    clock.jump(hourMs);
    await platform.quiet();
    assert.ok((await names(platform)).length < 20, 'a quarter of an hour has all of them');
    for (let passed = 0; passed < 15; passed += 5) {
      await platform.quiet();
      clock.jump(5 * minuteMs);
      await platform.quiet();
    }
    const { status } = await untilSchedule(platform, (one) => one.status?.backups === 40);
    assert.deepEqual([status?.controlPlanes, status?.lastScheduleTime], [40, '2026-01-01T01:00:00Z']);
    const plain = new Set((await all(platform)).map((one) => one.spec.controlPlaneRef.name));
    assert.deepEqual(plain, new Set(planes));
    assert.ok(platform.target.lists <= 20, `${platform.target.lists} lists`);
  });

  test('of two operators makes one backup at each time', async () => {
    const { clock, platform } = await started(['a', 'b', 'c']);
    await using _ = platform;
    platform.start();
    platform.start();
    const { controlPlaneRef: __, ...rest } = hourly;
    await create(platform, { ...rest, controlPlaneSelector: {} });
    await untilSchedule(platform, isReady);
    await platform.quiet();
    clock.jump(hourMs + 15 * minuteMs);
    await untilSchedule(platform, (one) => one.status?.backups === 3);
    await platform.quiet();
    assert.deepEqual(
      await names(platform),
      ['a', 'b', 'c'].map((plane) => `hourly-202601010100-${plane}`),
    );
    const folder = openDestination(folderStorage(join(platform.folder, namespace, 'daily')));
    assert.equal((await Array.fromAsync(folder.list())).length, 3);
  });
});
