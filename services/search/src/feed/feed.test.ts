import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Client } from '@hangar/client';
import { Logger, systemClock, systemRandom } from '@hangar/core';
import { startTestFleet } from '@hangar/testkit';
import { rootCluster } from '../authorization/scope.ts';
import type { Change } from '../index-store/contract.ts';
import { Batches } from './batches.ts';
import { Feed } from './feed.ts';

const log = new Logger({ level: 'error', format: 'text', clock: systemClock, write: () => undefined });

test('a few resources are listed at the same time, until all of them are', async () => {
  await using fleet = await startTestFleet({ clusters: ['red', 'blue'] });
  const lists = { running: 0, most: 0, count: 0 };
  const counted = <Result>(list: () => Promise<Result>): Promise<Result> => {
    lists.count++;
    lists.most = Math.max(lists.most, ++lists.running);
    return list().finally(() => lists.running--);
  };
  const { wildcardClient: client } = fleet;
  const countedReader = <Reader extends Pick<Client, 'list' | 'watch'>>(reader: Reader) => ({
    list: ((kind, options) => counted(() => reader.list(kind, options))) as Client['list'],
    watch: ((kind, options) => reader.watch(kind, options)) as Client['watch'],
  });
  const fleetClient = {
    ...countedReader(client),
    metadata: countedReader(client.metadata as Pick<Client, 'list' | 'watch'>),
  } as unknown as Client;
  const listed = new Set<string>();
  const write = (changes: readonly Change[]): Promise<void> => {
    for (const change of changes) if (change.type === 'listed') listed.add(JSON.stringify(change.resource));
    return Promise.resolve();
  };
  const failed = Promise.withResolvers<never>();
  const feed = new Feed({
    source: { client: fleet.client, fleetClient, cluster: rootCluster },
    batches: new Batches({ clock: systemClock, write, onFailed: failed.reject }),
    progress: new Map(),
    clock: systemClock,
    random: systemRandom,
    log,
  });
  try {
    await feed.run();
    await Promise.race([feed.synced, failed.promise]);
  } finally {
    await feed.close();
  }
  assert.ok(lists.most <= 4, `${lists.most} lists at the same time`);
  assert.ok(listed.size > 20 && lists.count >= listed.size, `${listed.size} resources, ${lists.count} lists`);
});
