import assert from 'node:assert/strict';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { findCondition } from '@hangar/runtime';
import { ControlPlaneBackup, ControlPlaneRestore } from '../api/index.ts';
import type { ControlPlaneRestoreSpec } from '../api/index.ts';
import { summaryOf } from '../testing/fake-target.ts';
import { JumpingClock } from '../testing/jumping-clock.ts';
import { namespace, startTestPlatform, until } from '../testing/platform.ts';
import type { TestPlatform } from '../testing/platform.ts';
import { compared } from './run-restore.ts';

const objects = { 'configmaps/a': '1', 'configmaps/b': '2'.repeat(5_000) };
const later = { 'configmaps/c': '3' };
const destination = { folder: { name: 'daily' } };

/** A platform with a complete backup `first` of `demo`, which has changed since. */
async function withBackup(clock = new JumpingClock()): Promise<TestPlatform> {
  const platform = await startTestPlatform({ clock });
  platform.target.planes.set('demo', { objects, labels: {} });
  platform.start();
  const spec = { controlPlaneRef: { name: 'demo' }, destination };
  await platform.client.create(ControlPlaneBackup, { metadata: { name: 'first', namespace }, spec });
  await until(platform.client, ControlPlaneBackup, { name: 'first' }, (one) => one?.status?.phase === 'Complete');
  platform.target.planes.get('demo')!.objects = later;
  return platform;
}

const create = ({ client }: TestPlatform, spec: Partial<ControlPlaneRestoreSpec> = {}, name = 'restore') =>
  client.create(ControlPlaneRestore, {
    metadata: { name, namespace },
    spec: { source: { backupName: 'first' }, controlPlaneRef: { name: 'copy' }, ...spec },
  });

const inPlace = { controlPlaneRef: { name: 'demo' }, mode: 'InPlace', confirmation: 'demo' } as const;

const untilPhase = async ({ client }: TestPlatform, phase: string, name = 'restore') => {
  const found = await until(client, ControlPlaneRestore, { name }, (one) => one?.status?.phase === phase);
  return { status: found!.status!, condition: findCondition(found!.status!.conditions, 'Complete')! };
};

/** Changes one byte in the middle of the stored data. */
async function damage({ folder }: TestPlatform): Promise<void> {
  const data = join(folder, namespace, 'daily', 'data');
  const [file] = await readdir(data);
  const bytes = await readFile(join(data, file!));
  bytes[bytes.length >> 1]! ^= 1;
  await writeFile(join(data, file!), bytes);
}

describe('a ControlPlaneRestore', () => {
  test('creates a control plane with the content of the backup', async () => {
    await using platform = await withBackup();
    await create(platform);
    const { status, condition } = await untilPhase(platform, 'Complete');
    const { objects: count, contentDigest } = summaryOf(objects);
    assert.deepEqual([status.objects, status.contentDigest], [count, contentDigest]);
    assert.equal(condition.message, '2 objects are restored, with the digest of the backup');
    assert.deepEqual(platform.target.planes.get('copy')?.objects, objects);
    assert.deepEqual(platform.target.planes.get('demo')?.objects, later);
    await platform.quiet();
    platform.forget();
    await platform.quiet();
    assert.deepEqual(platform.writes, []);
  });

  test('in place replaces the data of a control plane', async () => {
    await using platform = await withBackup();
    await create(platform, inPlace);
    await untilPhase(platform, 'Complete');
    assert.deepEqual(platform.target.planes.get('demo')?.objects, objects);
  });

  test('in place needs the name of the control plane as confirmation', async () => {
    await using platform = await withBackup();
    await assert.rejects(create(platform, { ...inPlace, confirmation: 'other' }), /confirmation must be its name/);
  });

  test('of a damaged backup fails, and the control plane keeps its data', async () => {
    await using platform = await withBackup();
    await damage(platform);
    let calls = 0;
    platform.target.onRestore = () => void calls++;
    await create(platform, inPlace);
    const { condition } = await untilPhase(platform, 'Failed');
    assert.equal(condition.reason, 'Corrupted');
    assert.equal(calls, 0);
    assert.deepEqual(platform.target.planes.get('demo')?.objects, later);
  });

  test('does not replace a control plane that exists', async () => {
    await using platform = await withBackup();
    await create(platform, { controlPlaneRef: { name: 'demo' } });
    assert.equal((await untilPhase(platform, 'Failed')).condition.reason, 'ControlPlaneExists');
    assert.deepEqual(platform.target.planes.get('demo')?.objects, later);
  });

  test('of a stored backup without an object compares with the facts of its record', async () => {
    await using platform = await withBackup();
    const { status } = await platform.client.get(ControlPlaneBackup, { name: 'first', namespace });
    await platform.client.delete(ControlPlaneBackup, { name: 'first', namespace });
    await create(platform, { source: { stored: { destination, name: status!.storedName! } } });
    assert.match((await untilPhase(platform, 'Complete')).condition.message, /with the digest of the backup/);
  });

  test('waits for its backup', async () => {
    const clock = new JumpingClock();
    await using platform = await withBackup(clock);
    await create(platform, { source: { backupName: 'second' } });
    assert.equal((await untilPhase(platform, 'Pending')).condition.reason, 'BackupNotFound');
    const spec = { controlPlaneRef: { name: 'demo' }, destination };
    await platform.client.create(ControlPlaneBackup, { metadata: { name: 'second', namespace }, spec });
    await until(platform.client, ControlPlaneBackup, { name: 'second' }, (one) => one?.status?.phase === 'Complete');
    clock.jump(60_000);
    await untilPhase(platform, 'Complete');
    assert.deepEqual(platform.target.planes.get('copy')?.objects, later);
  });

  test('is continued after a restart, with the same uid', async () => {
    await using platform = await startTestPlatform();
    platform.target.planes.set('demo', { objects, labels: {} });
    const first = platform.start();
    const spec = { controlPlaneRef: { name: 'demo' }, destination };
    await platform.client.create(ControlPlaneBackup, { metadata: { name: 'first', namespace }, spec });
    await until(platform.client, ControlPlaneBackup, { name: 'first' }, (one) => one?.status?.phase === 'Complete');
    platform.target.onRestore = () => ({
      state: 'Pending',
      message: 'volumes are being emptied',
      retryAfterMs: 60_000,
    });
    await create(platform, inPlace);
    const isRestoring = (one?: ControlPlaneRestore) =>
      findCondition(one?.status?.conditions, 'Complete')?.message === 'volumes are being emptied';
    await until(platform.client, ControlPlaneRestore, { name: 'restore' }, isRestoring);
    await first.stop();
    platform.target.onRestore = () => {};
    platform.start();
    await untilPhase(platform, 'Complete');
  });

  test('whose content differs from the backup fails', async () => {
    await using platform = await withBackup();
    platform.target.alter = (found) => ({ ...found, 'configmaps/extra': 'x' });
    await create(platform);
    const { condition } = await untilPhase(platform, 'Failed');
    assert.equal(condition.reason, 'ContentDiffers');
    assert.match(condition.message, /has 3 objects, and the backup has 2/);
  });
});

test('contents are compared by number and digest', () => {
  const summary = { objects: 2, contentDigest: 'a', revision: '1' };
  assert.equal(compared({ objects: 2, contentDigest: 'a' }, summary).isEqual, true);
  assert.equal(compared({ contentDigest: 'b' }, summary).isEqual, false);
  assert.equal(compared({ objects: 3, contentDigest: 'a' }, summary).isEqual, false);
  assert.equal(compared({}, summary).isEqual, undefined);
});
