/**
 * The space of the etcd of a HostedControlPlane, with real programs and a client that writes all the time: a fragmented database is
 * defragmented, a full one recovers, and volumes grow with their quota, without commands of a user.
 */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { configOfKubeconfig, connect } from '@hangar/client';
import type { Client } from '@hangar/client';
import { ConfigMap, PersistentVolumeClaim } from '@hangar/client/kinds/core-v1';
import { asError, hasCode } from '@hangar/core';
import { findCondition } from '@hangar/runtime';
import { annotations, HostedControlPlane } from '../../operators/hosted/src/api/index.ts';
import { until } from '../process-runtime/testing/until.ts';
import { key, namespace, ProcessCluster } from './testing/process-cluster.ts';
import { SteadyClient } from './testing/steady-client.ts';

const mebibyte = 2 ** 20;
const quota = (mebibytes: number): Record<string, string> => ({ 'quota-backend-bytes': String(mebibytes * mebibyte) });
const etcdReady = ({ status }: HostedControlPlane) => findCondition(status?.conditions, 'EtcdClusterReady');
const large = { namespace: 'default', name: 'large' };
/** Close to the limit of a request. */
const text = (at: number): string => `${at}-`.padEnd(1_000_000, 'x');

describe('the space of etcd', () => {
  const opened = new AsyncDisposableStack();
  let cluster: ProcessCluster;
  /** Of the control plane. */
  let inside: Client;
  let kubeconfig: string;

  before(async () => {
    cluster = opened.use(await ProcessCluster.start({ etcdTimes: { periodMs: 5_000 } }));
    // Old revisions stay until the test or the operator removes them: a member is defragmented once an hour only, so a compaction before
    // the database is large would be too early.
    const args = { ...quota(160), 'auto-compaction-retention': '1h' };
    const spec = { version: 'v1.36.4', replicas: 1, etcd: { args } };
    await cluster.client.create(HostedControlPlane, { metadata: { ...key }, spec });
    await cluster.ready();
    kubeconfig = await cluster.secret('demo-kubeconfig', 'value');
    inside = opened.adopt(connect(await configOfKubeconfig(kubeconfig)), (one) => one.close());
    await inside.create(ConfigMap, { metadata: large, data: { text: text(0) } });
  });
  after(() => opened.disposeAsync());

  const overwrite = (at: number): Promise<unknown> =>
    inside.patch(ConfigMap, large, { type: 'merge', body: { data: { text: text(at) } } });
  const setArguments = async (args: Record<string, string | null>): Promise<void> => {
    await cluster.client.patch(HostedControlPlane, key, { type: 'merge', body: { spec: { etcd: { args } } } });
    await cluster.ready();
  };
  /** Resolves when etcd refuses a write. */
  const refused = async (write: (at: number) => Promise<unknown>): Promise<void> => {
    const fill = async (): Promise<never> => {
      for (let at = 1; ; at++) await write(at);
    };
    await assert.rejects(fill(), /database space exceeded/);
  };
  const sizes = async (): Promise<string> =>
    (await cluster.etcdStatuses())
      .map((one) => `${Math.ceil(one.dbSizeInUseBytes / mebibyte)}/${Math.ceil(one.dbSizeBytes / mebibyte)}`)
      .join(' ');

  test('a fragmented database is defragmented on all members while a client writes', async () => {
    await using steady = await SteadyClient.start(kubeconfig, 'fragmentation');
    for (let at = 1; at <= 110; at++) await overwrite(at);
    console.log(`MiB in use and of the file, before: ${await sizes()}`);
    assert.ok((await cluster.etcdStatuses()).every((one) => one.dbSizeBytes > 100 * mebibyte));
    const operations = await steady.during(async () => {
      await cluster.compactEtcd();
      await until(
        'all databases are small',
        async () => (await cluster.etcdStatuses()).every((one) => one.dbSizeBytes < 100 * mebibyte),
        sizes,
      );
    });
    await cluster.until('the time is reported', ({ status }) => status?.etcdLastDefragTime !== undefined);
    const pauseMs = Math.max(...operations.map(({ durationMs }) => durationMs));
    const failures = operations.flatMap((one) => one.failures);
    console.log(`after: ${await sizes()}; longest write of ${operations.length}: ${pauseMs.toFixed(0)} ms`);
    assert.deepEqual(failures, []);
    await steady.finish();
  });

  test('old revisions fill the database: writes are refused with a condition, then work again', async () => {
    await refused(overwrite);
    const fromMs = performance.now();
    const { status } = await cluster.until('the alarm is reported', (one) => etcdReady(one)?.reason === 'NoSpace');
    const reportedMs = performance.now() - fromMs;
    const { message } = findCondition(status!.conditions, 'EtcdClusterReady')!;
    assert.match(message, /refuses writes: member "demo-etcd-\d" uses \d+Mi of its quota of 160Mi/);
    await cluster.until('the alarm is over', (one) => etcdReady(one)?.status === 'True');
    const seconds = (ms: number): string => (ms / 1_000).toFixed(1);
    console.log(`reported after ${seconds(reportedMs)} s, recovered after ${seconds(performance.now() - fromMs)} s`);
    await overwrite(0);
  });

  test('data in use fills the database: the condition says what to do, and a deletion recovers it', async () => {
    const name = (at: number): string => `kept-${at}`;
    let last = 0;
    const hasFailed = (one: HostedControlPlane): boolean => /attempts: \d/.test(etcdReady(one)?.message ?? '');
    let reported: HostedControlPlane;
    // The first recovery can free enough space of old revisions: then objects fill that, too.
    do {
      await refused(async () => {
        // A refused object can be stored nevertheless: each attempt has another name.
        last++;
        await inside.create(ConfigMap, {
          metadata: { namespace: 'default', name: name(last), labels: { kept: 'true' } },
          data: { text: text(last) },
        });
      });
      await cluster.until('the alarm is reported', (one) => etcdReady(one)?.reason === 'NoSpace');
      reported = await cluster.until(
        'an attempt failed, or the alarm is over',
        (one) => hasFailed(one) || etcdReady(one)?.status === 'True',
      );
    } while (!hasFailed(reported));
    const { message } = findCondition(reported.status!.conditions, 'EtcdClusterReady')!;
    assert.match(message, /delete objects, which still works/);
    await assert.rejects(overwrite(1), /database space exceeded/);
    for (let at = 1; at <= last; at++) {
      await inside.delete(ConfigMap, { namespace: 'default', name: name(at) }).catch((error: unknown) => {
        if (!hasCode(error, 'NotFound')) throw error;
      });
    }
    const fromMs = performance.now();
    await cluster.until('the alarm is over', (one) => etcdReady(one)?.status === 'True');
    console.log(
      `recovered ${((performance.now() - fromMs) / 1_000).toFixed(1)} s after the deletion of ${last} objects`,
    );
    await overwrite(2);
  });

  test('volumes that grow raise the quota of all members, one at a time, while a client writes', async () => {
    await setArguments({ 'quota-backend-bytes': null });
    const quotas = async (): Promise<(number | undefined)[]> =>
      (await cluster.etcdStatuses()).map(({ quotaBytes }) => quotaBytes && quotaBytes / mebibyte);
    assert.deepEqual(await quotas(), [3_840, 3_840, 3_840]);
    await using steady = await SteadyClient.start(kubeconfig, 'growth');
    await steady.during(async () => {
      // As the operator does when 70 % of the quota are in use.
      const body = { metadata: { annotations: { [annotations.etcdVolumeSize]: '12Gi' } } };
      await cluster.client.patch(HostedControlPlane, key, { type: 'merge', body });
      const isGrown = (one: HostedControlPlane): boolean =>
        one.status?.etcdVolumeSize === '12Gi' && etcdReady(one)?.status === 'True';
      await cluster.until('the volumes have grown', isGrown);
      await until('all members have the quota', async () => {
        const all = await quotas().catch((error: unknown) => void asError(error));
        return all?.every((one) => one === 5_888);
      });
    });
    const { items } = await cluster.client.list(PersistentVolumeClaim, { namespace });
    assert.deepEqual(
      items.map(({ status }) => status?.capacity?.['storage']),
      ['12Gi', '12Gi', '12Gi'],
    );
    console.log(await steady.finish());
  });
});
