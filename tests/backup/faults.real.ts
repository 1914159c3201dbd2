/**
 * The operator of backups with faults between it and a real S3 server: no broken backup is ever Complete or listed, old ones are kept, and
 * the condition has the reason and the text of the store.
 */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { openDestination, s3Storage } from '@hangar/backup';
import { findCondition } from '@hangar/runtime';
import { Secret } from '@hangar/client/kinds/core-v1';
import { seededRandom } from '@hangar/core';
import { ControlPlaneBackup, ControlPlaneBackupSchedule } from '../../operators/backup/src/api/index.ts';
import { JumpingClock } from '../../operators/backup/src/testing/jumping-clock.ts';
import { namespace, startTestPlatform, until } from '../../operators/backup/src/testing/platform.ts';
import type { TestPlatform } from '../../operators/backup/src/testing/platform.ts';
import { startFaultProxy, startVersitygw } from '../../packages/backup/src/testing/index.ts';
import type { Fault, FaultProxy, ProxiedRequest, S3Server } from '../../packages/backup/src/testing/index.ts';

/** Larger than two parts of an upload, and not compressible. */
const large = { 'configmaps/large': Buffer.from(seededRandom(1).bytes(14 * 2 ** 20)).toString('base64') };

const isPart = ({ method, target }: ProxiedRequest): boolean => method === 'PUT' && target.includes('partNumber=');
const isCompletion = ({ method, target }: ProxiedRequest): boolean => method === 'POST' && target.includes('uploadId=');
const isRecord = ({ method, target }: ProxiedRequest): boolean => method === 'PUT' && target.includes('.backup.json');
const isAny = (): boolean => true;

describe('backups in an S3 server with faults', () => {
  let server: S3Server;
  let proxy: FaultProxy;
  let buckets = 0;

  before(
    async () => {
      server = await startVersitygw();
      proxy = await startFaultProxy(server.endpoint);
    },
    { timeout: 20 * 60_000 },
  );
  after(async () => {
    await proxy[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
  });

  /** A platform behind the proxy with a complete backup, `old`. */
  async function withOld() {
    const clock = new JumpingClock(Date.now());
    const bucket = `operator-${++buckets}`;
    await server.createBucket(bucket);
    proxy.fault = () => undefined;
    const platform = await startTestPlatform({ clock });
    const { accessKeyId, secretAccessKey } = server.credentials;
    const stringData = { accessKeyID: accessKeyId, secretAccessKey };
    await platform.client.create(Secret, { metadata: { name: 's3', namespace }, stringData });
    platform.target.planes.set('demo', { objects: { a: '1' }, labels: {} });
    platform.start({ s3: { attemptsMax: 2, backOff: { baseMs: 5, maxMs: 20 }, idleTimeoutMs: 1_000 } });
    const destination = { s3: { endpoint: proxy.endpoint, bucket, prefix: 'team', credentials: { name: 's3' } } };
    const create = (name: string) =>
      platform.client.create(ControlPlaneBackup, {
        metadata: { name, namespace },
        spec: { controlPlaneRef: { name: 'demo' }, destination },
      });
    await create('old');
    const old = await untilPhase(platform, 'old', 'Complete');
    platform.target.planes.set('demo', { objects: large, labels: {} });
    const stored = openDestination(
      s3Storage({ endpoint: server.endpoint, bucket, prefix: 'team', credentials: server.credentials }),
    );
    const names = async () => (await Array.fromAsync(stored.list())).map(({ name }) => name).sort();
    return { clock, platform, create, old, names, destination };
  }

  const untilPhase = async ({ client }: TestPlatform, name: string, phase: string) =>
    (await until(client, ControlPlaneBackup, { name }, (one) => one?.status?.phase === phase))!;

  const cases: readonly (readonly [string, Fault, (request: ProxiedRequest) => boolean, string, RegExp])[] = [
    ['the store refuses connections', 'refuse', isAny, 'Unavailable', /socket hang up|ECONNRESET/],
    ['uploads are cut in the middle', 'cut request', isPart, 'Unavailable', /PUT of/],
    ['uploads are corrupted', 'corrupt request', isPart, 'Unavailable', /damaged on the way/],
    ['the store is too slow', 'stall', isPart, 'Unavailable', /PUT of/],
    [
      'the credentials have expired',
      { status: 403, code: 'ExpiredToken' },
      isPart,
      'CredentialsExpired',
      /have expired.*by the test/,
    ],
    ['access is denied', { status: 403, code: 'AccessDenied' }, isAny, 'AccessDenied', /do not permit/],
    ['the bucket is full', { status: 507, code: 'InsufficientStorage' }, isPart, 'StorageFull', /is full.*by the test/],
    ['a quota is exceeded', { status: 403, code: 'QuotaExceeded' }, isCompletion, 'StorageFull', /quota/],
    ['the record cannot be written', { status: 507, code: 'InsufficientStorage' }, isRecord, 'StorageFull', /is full/],
  ];
  for (const [title, fault, matches, reason, text] of cases) {
    test(`${title}: the backup waits with ${reason}, and is good after the fault`, async () => {
      const { clock, platform, create, old, names } = await withOld();
      await using _ = platform;
      proxy.fault = (request) => (matches(request) ? fault : undefined);
      await create('new');
      const { status } = await untilPhase(platform, 'new', 'Pending');
      const condition = findCondition(status?.conditions, 'Complete')!;
      assert.equal(condition.reason, reason);
      assert.match(condition.message, text);
      assert.match(condition.message, /^attempt 1 of 10: .*; retrying$/);
      assert.deepEqual(await names(), [old.status?.storedName], 'only the old backup is listed');
      proxy.fault = () => undefined;
      clock.jump(600_000);
      const complete = await untilPhase(platform, 'new', 'Complete');
      assert.deepEqual(await names(), [old.status?.storedName, complete.status?.storedName].sort());
    });
  }

  test('two operators on one schedule make one backup, also while the store is unreliable', async () => {
    const { clock, platform, names, destination, old } = await withOld();
    await using _ = platform;
    platform.start({ s3: { attemptsMax: 2, backOff: { baseMs: 5, maxMs: 20 }, idleTimeoutMs: 1_000 } });
    const spec = { schedule: '*/5 * * * *', destination, controlPlaneRef: { name: 'demo' } };
    await platform.client.create(ControlPlaneBackupSchedule, { metadata: { name: 'hourly', namespace }, spec });
    const isReady = (one?: ControlPlaneBackupSchedule) => one?.status?.nextBackupTime !== undefined;
    await until(platform.client, ControlPlaneBackupSchedule, { name: 'hourly' }, isReady);
    const { faults } = proxy;
    let nth = 0;
    proxy.fault = () => (++nth % 4 === 0 ? 'lose response' : undefined);
    // Less than the difference of clocks that the server accepts.
    clock.jump(300_000);
    const isStarted = (one?: ControlPlaneBackupSchedule) => one?.status?.lastScheduleTime !== undefined;
    await until(platform.client, ControlPlaneBackupSchedule, { name: 'hourly' }, isStarted);
    const { items } = await platform.client.list(ControlPlaneBackup, { namespace });
    const scheduled = items.filter(({ metadata }) => metadata.name !== 'old');
    assert.equal(scheduled.length, 1);
    const name = scheduled[0]!.metadata.name!;
    while (proxy.faults === faults) await sleep(20);
    proxy.fault = () => undefined;
    // Both operators may wait for their next attempt, without a jump of the clock, which would end requests in flight.
    const isComplete = (one?: ControlPlaneBackup) => one?.status?.phase === 'Complete';
    const waits = () => until(platform.client, ControlPlaneBackup, { name }, isComplete);
    await waits().catch(waits).catch(waits).catch(waits);
    await platform.quiet();
    const { status } = await platform.client.get(ControlPlaneBackup, { name, namespace });
    assert.equal(status?.phase, 'Complete');
    assert.deepEqual(await names(), [old.status?.storedName, status?.storedName].sort());
  });
});
