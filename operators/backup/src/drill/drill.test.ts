import assert from 'node:assert/strict';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { findCondition } from '@hangar/runtime';
import { ControlPlaneBackup, ControlPlaneBackupSchedule, labels } from '../api/index.ts';
import type { BackupDrillStatus } from '../api/index.ts';
import { parseCron } from '../schedule/cron.ts';
import { JumpingClock } from '../testing/jumping-clock.ts';
import { namespace, startTestPlatform, until } from '../testing/platform.ts';
import type { TestPlatform } from '../testing/platform.ts';
import { drillName, drillTimes, nextBackup } from './plan.ts';

const hourMs = 3_600_000;
const objects = { 'configmaps/a': '1', 'configmaps/b': '2'.repeat(5_000) };

/** A platform with a schedule and one complete backup of each control plane. */
async function withBackups(clock: JumpingClock, planes: readonly string[] = ['demo']): Promise<TestPlatform> {
  const platform = await startTestPlatform({ clock });
  for (const name of planes) platform.target.planes.set(name, { objects: { ...objects, name }, labels: {} });
  platform.start();
  const spec = {
    schedule: '@daily',
    destination: { folder: { name: 'daily' } },
    controlPlaneSelector: {},
    drill: { schedule: '@hourly' },
  };
  await platform.client.create(ControlPlaneBackupSchedule, { metadata: { name: 'nightly', namespace }, spec });
  for (const name of planes) {
    await platform.client.create(ControlPlaneBackup, {
      metadata: { name: `first-${name}`, namespace, labels: { [labels.schedule]: 'nightly' } },
      spec: { controlPlaneRef: { name }, destination: spec.destination },
    });
    await until(
      platform.client,
      ControlPlaneBackup,
      { name: `first-${name}` },
      (one) => one?.status?.phase === 'Complete',
    );
  }
  await untilDrill(platform, (drill) => drill.nextTime !== undefined);
  return platform;
}

const untilDrill = async ({ client }: TestPlatform, isSo: (drill: BackupDrillStatus) => boolean) => {
  const isTrue = (one?: ControlPlaneBackupSchedule) => one?.status?.drill !== undefined && isSo(one.status.drill);
  const { status } = (await until(client, ControlPlaneBackupSchedule, { name: 'nightly' }, isTrue))!;
  return { drill: status!.drill!, condition: findCondition(status?.conditions, 'DrillSucceeded') };
};

const temporary = ({ target }: TestPlatform): string[] =>
  [...target.planes.keys()].filter((name) => name.startsWith('drill-'));

/** Resolves when the temporary control planes are deleted. */
async function untilClean(platform: TestPlatform): Promise<void> {
  await platform.quiet();
  assert.deepEqual(temporary(platform), []);
}

describe('a drill', () => {
  test('restores the newest backup into a temporary control plane, compares it, and deletes it', async () => {
    const clock = new JumpingClock();
    await using platform = await withBackups(clock);
    let seen: string[] = [];
    const { target } = platform;
    target.alter = (found) => {
      setImmediate(() => (seen = temporary(platform)));
      return found;
    };
    await platform.quiet();
    clock.jump(hourMs);
    const { drill, condition } = await untilDrill(platform, ({ result }) => result === 'Succeeded');
    assert.deepEqual([drill.backup, drill.controlPlane, drill.objects], ['first-demo', 'demo', 3]);
    assert.deepEqual([condition?.status, condition?.reason], ['True', 'Restored']);
    assert.equal(drill.nextTime, '2026-01-01T02:00:00Z');
    assert.equal(seen.length, 1, 'there was a temporary control plane');
    await untilClean(platform);
  });

  test('finds a damaged backup', async () => {
    const clock = new JumpingClock();
    await using platform = await withBackups(clock);
    const data = join(platform.folder, namespace, 'daily', 'data');
    const [file] = await readdir(data);
    const bytes = await readFile(join(data, file!));
    bytes[bytes.length >> 1]! ^= 1;
    await writeFile(join(data, file!), bytes);
    await platform.quiet();
    clock.jump(hourMs);
    const { drill, condition } = await untilDrill(platform, ({ result }) => result === 'Failed');
    assert.deepEqual([condition?.status, condition?.reason], ['False', 'Corrupted']);
    assert.match(drill.message!, /ControlPlaneBackup "first-demo" of "demo" cannot be restored/);
    await untilClean(platform);
  });

  test('finds a restore that loses objects', async () => {
    const clock = new JumpingClock();
    await using platform = await withBackups(clock);
    platform.target.alter = ({ 'configmaps/a': lost, ...rest }) => (lost === undefined ? {} : rest);
    await platform.quiet();
    clock.jump(hourMs);
    const { condition } = await untilDrill(platform, ({ result }) => result === 'Failed');
    assert.match(condition!.message, /has 2 objects, and the backup has 3/);
    await untilClean(platform);
  });

  test('restores a backup of another control plane each time', async () => {
    const clock = new JumpingClock();
    await using platform = await withBackups(clock, ['a', 'b', 'c']);
    for (const [hour, plane] of ['a', 'b', 'c', 'a'].entries()) {
      await platform.quiet();
      clock.jump(hourMs);
      const time = `2026-01-01T0${hour + 1}`;
      const { drill } = await untilDrill(
        platform,
        (one) => one.result === 'Succeeded' && one.startTime!.startsWith(time),
      );
      assert.equal(drill.controlPlane, plane);
    }
  });

  test('that a crash interrupted is continued, and leaves nothing', async () => {
    const clock = new JumpingClock();
    await using platform = await startTestPlatform({ clock });
    const { target, client } = platform;
    target.planes.set('demo', { objects, labels: {} });
    const first = platform.start();
    const spec = { schedule: '@daily', destination: { folder: { name: 'daily' } }, controlPlaneRef: { name: 'demo' } };
    await client.create(ControlPlaneBackupSchedule, {
      metadata: { name: 'nightly', namespace },
      spec: { ...spec, drill: { schedule: '0 * * * *' } },
    });
    await platform.quiet();
    clock.jump(24 * hourMs);
    const isReady = (one?: ControlPlaneBackupSchedule) => one?.status?.backups === 1;
    await until(client, ControlPlaneBackupSchedule, { name: 'nightly' }, isReady);
    const reached = Promise.withResolvers<void>();
    target.onRestore = ({ name }) => {
      reached.resolve();
      target.planes.set(name, { objects: {}, labels: { [labels.drill]: `${namespace}.nightly` }, uid: name });
      return { state: 'Pending', message: 'etcd is starting', retryAfterMs: 600_000 };
    };
    await platform.quiet();
    clock.jump(hourMs);
    await untilDrill(platform, ({ result }) => result === 'Running');
    await reached.promise;
    await first.stop();
    assert.equal(temporary(platform).length, 1);
    target.onRestore = () => {};
    platform.start();
    await untilDrill(platform, ({ result }) => result === 'Succeeded');
    await untilClean(platform);
  });

  test('that is not complete after an hour has failed', async () => {
    const clock = new JumpingClock();
    await using platform = await withBackups(clock);
    platform.target.onRestore = () => ({ state: 'Pending', message: 'etcd is starting', retryAfterMs: 60_000 });
    await platform.quiet();
    clock.jump(hourMs);
    await untilDrill(platform, ({ result }) => result === 'Running');
    await platform.quiet();
    await platform.quiet();
    clock.jump(hourMs + 60_000);
    const { condition } = await untilDrill(platform, ({ result }) => result === 'Failed');
    assert.equal(condition?.reason, 'DeadlineExceeded');
    assert.match(condition!.message, /not restored after 60 minutes: etcd is starting/);
  });

  test('leftovers of a deleted schedule and of a crash are deleted', async () => {
    const clock = new JumpingClock();
    await using platform = await withBackups(clock);
    const left = { objects: {}, labels: { [labels.drill]: `${namespace}.nightly` } };
    platform.target.planes.set('drill-left', left);
    platform.target.planes.set('drill-other', { objects: {}, labels: { [labels.drill]: `${namespace}.other` } });
    await platform.client.delete(ControlPlaneBackupSchedule, { name: 'nightly', namespace });
    await platform.quiet();
    assert.deepEqual(temporary(platform), ['drill-other']);
  });
});

test('a drill is due once for each time', () => {
  const cron = parseCron('@daily');
  const at = (text: string): number => Date.parse(text);
  const createdMs = at('2026-01-01T12:00:00Z');
  assert.equal(drillTimes(cron, { createdMs, nowMs: at('2026-01-01T23:00:00Z') }).isDue, false);
  assert.equal(drillTimes(cron, { createdMs, nowMs: at('2026-01-02T00:00:00Z') }).isDue, true);
  const lastStartMs = at('2026-01-02T00:00:01Z');
  const again = drillTimes(cron, { createdMs, lastStartMs, nowMs: at('2026-01-02T08:00:00Z') });
  assert.deepEqual(again, { isDue: false, nextMs: at('2026-01-03T00:00:00Z') });
});

test('control planes without complete backups are skipped, and names of drills differ', () => {
  const complete = (name: string) => ({ complete: [{ metadata: { name } } as ControlPlaneBackup] });
  const history = new Map([
    ['c', complete('c1')],
    ['a', complete('a1')],
    ['b', { complete: [] }],
  ]);
  const chosen = [undefined, 'a', 'b', 'c', 'x'].map((last) => nextBackup(history, last)?.metadata.name);
  assert.deepEqual(chosen, ['a1', 'c1', 'c1', 'a1', 'a1']);
  assert.equal(nextBackup(new Map(), undefined), undefined);
  assert.notEqual(drillName('u', { startTime: '1' }), drillName('u', { startTime: '2' }));
});
