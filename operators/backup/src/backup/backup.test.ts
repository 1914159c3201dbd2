import assert from 'node:assert/strict';
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { folderStorage, openDestination, parseBackupKey, readContainer } from '@hangar/backup';
import { Secret } from '@hangar/client/kinds/core-v1';
import { findCondition } from '@hangar/runtime';
import { ControlPlaneBackup, finalizer } from '../api/index.ts';
import type { ControlPlaneBackupSpec } from '../api/index.ts';
import { TargetError } from '../errors.ts';
import { fakeTarget, summaryOf } from '../testing/fake-target.ts';
import { JumpingClock } from '../testing/jumping-clock.ts';
import { namespace, startTestPlatform, until } from '../testing/platform.ts';
import type { TestPlatform } from '../testing/platform.ts';

const objects = { 'configmaps/a': '1', 'configmaps/b': '2'.repeat(5_000) };
const daily: ControlPlaneBackupSpec = { controlPlaneRef: { name: 'demo' }, destination: { folder: { name: 'daily' } } };

const create = (
  { client }: TestPlatform,
  name: string,
  spec: Partial<ControlPlaneBackupSpec> = {},
  inNamespace = namespace,
) => client.create(ControlPlaneBackup, { metadata: { name, namespace: inNamespace }, spec: { ...daily, ...spec } });

const untilPhase = async ({ client }: TestPlatform, name: string, phase: string, inNamespace = namespace) =>
  (await until(client, ControlPlaneBackup, { name, namespace: inNamespace }, (one) => one?.status?.phase === phase))!;

const stored = ({ folder }: TestPlatform, inNamespace = namespace) =>
  openDestination(folderStorage(join(folder, inNamespace, 'daily')));

const names = async (platform: TestPlatform): Promise<string[]> =>
  (await Array.fromAsync(stored(platform).list())).map(({ name }) => name);

async function started(clock?: JumpingClock): Promise<TestPlatform> {
  const platform = await startTestPlatform(clock ? { clock } : {});
  platform.target.planes.set('demo', { objects, labels: {} });
  return platform;
}

describe('a ControlPlaneBackup', () => {
  test('is stored once, with its content in the status', async () => {
    await using platform = await started();
    platform.start();
    await create(platform, 'first');
    const { status, metadata } = await untilPhase(platform, 'first', 'Complete');
    const { objects: count, contentDigest } = summaryOf(objects);
    assert.deepEqual([status?.objects, status?.contentDigest, status?.attempts], [count, contentDigest, 1]);
    assert.deepEqual([status?.hasKeys, status?.versions, status?.location], [false, { fake: '1' }, 'folder daily']);
    assert.equal(findCondition(status?.conditions, 'Complete')?.reason, 'Stored');
    assert.equal(metadata.finalizers, undefined);
    const record = (await stored(platform).stat(status!.storedName!))!;
    assert.deepEqual([record.sizeBytes, record.sha256], [status?.sizeBytes, status?.sha256]);
    platform.forget();
    await platform.quiet();
    assert.deepEqual(platform.writes, []);
    assert.equal(platform.target.exports, 1);
  });

  test('is encrypted with the key of a Secret, and then contains the keys of the control plane', async () => {
    await using platform = await started();
    platform.start();
    const key = Buffer.alloc(32, 3).toString('base64');
    await platform.client.create(Secret, { metadata: { name: 'key', namespace }, stringData: { key } });
    await create(platform, 'first', { encryption: { name: 'key' } });
    const { status } = await untilPhase(platform, 'first', 'Complete');
    assert.equal(status?.hasKeys, true);
    const content = async () => (await stored(platform).get(status!.storedName!)).content;
    await assert.rejects(readContainer(await content()), { code: 'KeyRequired' });
    const { manifest, payload } = await readContainer(await content(), { key: parseBackupKey(key) });
    assert.deepEqual(JSON.parse(Buffer.concat(await Array.fromAsync(payload)).toString()), objects);
    assert.deepEqual([manifest.payload, manifest.controlPlane.name], ['fake', 'demo']);
  });

  const refused = [
    [
      'of a control plane that does not exist',
      { controlPlaneRef: { name: 'none' } },
      namespace,
      'ControlPlaneNotFound',
    ],
    ['of a ControlPlane, from the namespace of a tenant', {}, 'team', 'ReferenceNotAllowed'],
  ] as const;
  for (const [title, spec, inNamespace, reason] of refused) {
    test(`${title}, fails with ${reason}`, async () => {
      await using platform = await started();
      platform.start();
      await create(platform, 'first', spec, inNamespace);
      const { status } = await untilPhase(platform, 'first', 'Failed', inNamespace);
      assert.equal(findCondition(status?.conditions, 'Complete')?.reason, reason);
      assert.equal(status?.attempts, 1);
    });
  }

  test('of a kind without a target is left to another operator', async () => {
    await using platform = await started();
    platform.start();
    await create(platform, 'other', { controlPlaneRef: { kind: 'HostedControlPlane', name: 'demo' } });
    await create(platform, 'first');
    await untilPhase(platform, 'first', 'Complete');
    assert.equal((await platform.client.get(ControlPlaneBackup, { name: 'other', namespace })).status, undefined);
  });

  test('is repeated with back-off until the control plane is ready', async () => {
    const clock = new JumpingClock();
    await using platform = await started(clock);
    platform.target.onExport = () => {
      throw new TargetError('NotReady', 'the control plane is starting');
    };
    platform.start();
    await create(platform, 'first');
    const { status } = await untilPhase(platform, 'first', 'Pending');
    const condition = findCondition(status?.conditions, 'Complete');
    assert.equal(condition?.reason, 'ControlPlaneNotReady');
    assert.equal(condition?.message, 'attempt 1 of 10: the control plane is starting; retrying');
    await platform.quiet();
    assert.equal(platform.target.exports, 1, 'not before the delay');
    platform.target.onExport = () => {};
    clock.jump(10_000);
    assert.equal((await untilPhase(platform, 'first', 'Complete')).status?.attempts, 2);
  });

  test('fails after the last attempt, and leaves no data', async () => {
    const clock = new JumpingClock();
    await using platform = await started(clock);
    platform.target.onExport = () => Promise.reject(new Error('broken'));
    platform.start();
    await create(platform, 'first');
    for (let attempt = 1; attempt < 10; attempt++) {
      const isAt = (one?: ControlPlaneBackup) => one?.status?.attempts === attempt && one.status.phase === 'Pending';
      await until(platform.client, ControlPlaneBackup, { name: 'first' }, isAt);
      await platform.quiet();
      clock.jump(600_000);
    }
    const { status } = await untilPhase(platform, 'first', 'Failed');
    assert.equal(findCondition(status?.conditions, 'Complete')?.message, 'attempt 10 of 10: broken');
    assert.deepEqual(await names(platform), []);
    assert.deepEqual(await readdir(join(platform.folder, namespace, 'daily', 'data')), []);
  });

  test('is made again after a restart during the upload', async () => {
    await using platform = await started();
    const reached = Promise.withResolvers<void>();
    platform.target.onExport = () => {
      reached.resolve();
      return new Promise((resolve) => setTimeout(resolve, 10));
    };
    const first = platform.start();
    await create(platform, 'first');
    await reached.promise;
    await first.stop();
    assert.equal(
      (await platform.client.get(ControlPlaneBackup, { name: 'first', namespace })).status?.phase,
      'Running',
    );
    platform.target.onExport = () => {};
    platform.start();
    const { status } = await untilPhase(platform, 'first', 'Complete');
    assert.deepEqual(await names(platform), [status?.storedName]);
    assert.equal(status?.attempts, 2);
  });

  test('that was stored before a restart is not made again', async () => {
    await using platform = await started();
    const first = platform.start();
    await create(platform, 'first');
    const complete = await untilPhase(platform, 'first', 'Complete');
    await first.stop();
    // As if the operator had stopped between the upload and the status.
    const { storedName, startTime } = complete.status!;
    const lost = { phase: 'Running', storedName: storedName!, startTime: startTime!, attempts: 1 } as const;
    await platform.client.status.update(ControlPlaneBackup, { ...complete, status: lost });
    platform.start();
    const again = await untilPhase(platform, 'first', 'Complete');
    assert.equal(platform.target.exports, 1);
    const { attempts: _, conditions: _c, ...fields } = complete.status!;
    assert.partialDeepStrictEqual(again.status, fields);
  });

  test('whose record is damaged before it is complete is stored again', async () => {
    const clock = new JumpingClock();
    await using platform = await started(clock);
    const first = platform.start();
    await create(platform, 'first');
    const complete = await untilPhase(platform, 'first', 'Complete');
    await first.stop();
    const { storedName, startTime } = complete.status!;
    await platform.client.status.update(ControlPlaneBackup, {
      ...complete,
      status: { phase: 'Running', startTime: startTime! },
    });
    await writeFile(join(platform.folder, namespace, 'daily', `${storedName}.backup.json`), 'damaged');
    platform.start();
    await untilPhase(platform, 'first', 'Pending');
    await platform.quiet();
    clock.jump(10_000);
    await untilPhase(platform, 'first', 'Complete');
    assert.deepEqual(await names(platform), [storedName]);
  });

  test('is made once by two operators', async () => {
    await using platform = await started();
    platform.start();
    platform.start();
    const all = Array.from({ length: 12 }, (_, at) => `backup-${at}`);
    await Promise.all(all.map((name) => create(platform, name)));
    const done = await Promise.all(all.map((name) => untilPhase(platform, name, 'Complete')));
    assert.deepEqual((await names(platform)).sort(), done.map(({ status }) => status?.storedName).sort());
    for (const { status } of done) {
      assert.equal((await stored(platform).stat(status!.storedName!))?.sha256, status?.sha256);
    }
  });

  test('of a full or missing folder has the text of the storage', async () => {
    await using platform = await started();
    await rm(platform.folder, { recursive: true });
    platform.start();
    await create(platform, 'first');
    const { status } = await untilPhase(platform, 'first', 'Pending');
    const condition = findCondition(status?.conditions, 'Complete');
    assert.equal(condition?.reason, 'FolderNotAvailable');
    assert.match(condition!.message, /cannot be used: ENOENT/);
    await mkdir(platform.folder);
  });
});

describe('the deletion of a ControlPlaneBackup', () => {
  test('keeps the data by default, and deletes it with the policy Delete', async () => {
    await using platform = await started();
    platform.start();
    await create(platform, 'kept');
    await create(platform, 'removed', { deletionPolicy: 'Delete' });
    const kept = await untilPhase(platform, 'kept', 'Complete');
    const removed = await untilPhase(platform, 'removed', 'Complete');
    assert.deepEqual(removed.metadata.finalizers, [finalizer]);
    for (const name of ['kept', 'removed']) {
      await platform.client.delete(ControlPlaneBackup, { name, namespace });
      await until(platform.client, ControlPlaneBackup, { name }, (one) => one === undefined);
    }
    assert.deepEqual(await names(platform), [kept.status?.storedName]);
  });

  test('stops an upload that is in progress', async () => {
    await using platform = await started();
    const reached = Promise.withResolvers<void>();
    platform.target.onExport = () => {
      reached.resolve();
      return new Promise((resolve) => setTimeout(resolve, 20));
    };
    platform.start();
    await create(platform, 'first', { deletionPolicy: 'Delete' });
    await reached.promise;
    await platform.client.delete(ControlPlaneBackup, { name: 'first', namespace });
    await until(platform.client, ControlPlaneBackup, { name: 'first' }, (one) => one === undefined);
    assert.deepEqual(await names(platform), []);
  });

  test('reports data that cannot be deleted, and ends when the policy is Retain', async () => {
    await using platform = await started();
    platform.start();
    await create(platform, 'first', { deletionPolicy: 'Delete' });
    await untilPhase(platform, 'first', 'Complete');
    await rm(platform.folder, { recursive: true });
    await platform.client.delete(ControlPlaneBackup, { name: 'first', namespace });
    const { status } = await untilPhase(platform, 'first', 'Deleting');
    assert.match(findCondition(status?.conditions, 'DataDeleted')!.message, /set spec.deletionPolicy to Retain/);
    const body = { spec: { deletionPolicy: 'Retain' } };
    await platform.client.patch(ControlPlaneBackup, { name: 'first', namespace }, { type: 'merge', body });
    await until(platform.client, ControlPlaneBackup, { name: 'first' }, (one) => one === undefined);
    await mkdir(platform.folder);
  });
});

test('a namespace with slow backups leaves a worker to others', async () => {
  await using platform = await started();
  const blocked = Promise.withResolvers<void>();
  const hosted = fakeTarget('HostedControlPlane');
  hosted.planes.set('team/slow', { objects, labels: {} });
  hosted.onExport = () => blocked.promise;
  platform.start({ targets: [platform.target, hosted], concurrency: 2 });
  const slow = { controlPlaneRef: { kind: 'HostedControlPlane', name: 'slow' } } as const;
  for (const name of ['slow-1', 'slow-2', 'slow-3']) await create(platform, name, slow, 'team');
  await create(platform, 'quick');
  await untilPhase(platform, 'quick', 'Complete');
  blocked.resolve();
  for (const name of ['slow-1', 'slow-2', 'slow-3']) await untilPhase(platform, name, 'Complete', 'team');
});
