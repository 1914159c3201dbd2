import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ClientError } from '@hangar/client';
import type { Client } from '@hangar/client';
import { ConfigMap } from '@hangar/client/kinds/core-v1';
import { Logger, systemClock, systemRandom } from '@hangar/core';
import { startTestFleet } from '@hangar/testkit';
import type { TestFleet } from '@hangar/testkit';
import { rootCluster } from '../authorization/scope.ts';
import type { Change } from '../index-store/contract.ts';
import { Batches } from './batches.ts';
import { Feed } from './feed.ts';

type Reader = Pick<Client, 'list' | 'watch'>;

const log = new Logger({ level: 'error', format: 'text', clock: systemClock, write: () => undefined });

/** A fleet and a feed of its objects. */
class FleetFeed implements AsyncDisposable {
  readonly fleet: TestFleet;
  readonly changes: Change[] = [];
  mostLists = 0;
  lists = 0;
  #running = 0;
  readonly #answerBytesMax: number;

  /** `answerBytesMax`: the client rejects larger lists, as over a connection. */
  constructor(fleet: TestFleet, answerBytesMax = Infinity) {
    this.fleet = fleet;
    this.#answerBytesMax = answerBytesMax;
  }

  /** Resolves when all objects were fed. */
  async sync(): Promise<void> {
    const { client, wildcardClient } = this.fleet;
    const fleetClient = {
      ...this.#limited(wildcardClient),
      metadata: this.#limited(wildcardClient.metadata as Reader),
    } as unknown as Client;
    const failed = Promise.withResolvers<never>();
    const feed = new Feed({
      source: { client, fleetClient, cluster: rootCluster },
      batches: new Batches({
        clock: systemClock,
        write: (changes) => Promise.resolve(void this.changes.push(...changes)),
        onFailed: failed.reject,
      }),
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
  }

  #limited(reader: Reader): Reader {
    const list = async (...asked: Parameters<Client['list']>) => {
      this.lists++;
      this.mostLists = Math.max(this.mostLists, ++this.#running);
      try {
        const page = await reader.list(...asked);
        if (JSON.stringify(page.items).length <= this.#answerBytesMax) return page;
        throw new ClientError('MalformedAnswer', 'the response is too large');
      } finally {
        this.#running--;
      }
    };
    return { list: list as Client['list'], watch: ((...asked) => reader.watch(...asked)) as Client['watch'] };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.fleet[Symbol.asyncDispose]();
  }
}

test('a few resources are listed at the same time, until all of them are', async () => {
  await using feed = new FleetFeed(await startTestFleet({ clusters: ['red', 'blue'] }));
  await feed.sync();
  assert.ok(feed.mostLists <= 4, `${feed.mostLists} lists at the same time`);
  const listed = feed.changes.filter(({ type }) => type === 'listed').length;
  assert.ok(listed > 20 && feed.lists >= listed, `${listed} resources, ${feed.lists} lists`);
});

test('objects that are too large for one response are listed in smaller pages', async () => {
  const bytes = 100_000;
  await using feed = new FleetFeed(await startTestFleet({ clusters: ['red'] }), 4 * bytes);
  const names = Array.from({ length: 12 }, (_, at) => `large-${at + 10}`);
  const red = feed.fleet.clientOf('red');
  for (const name of names) {
    await red.create(ConfigMap, { metadata: { namespace: 'default', name }, data: { text: 'x'.repeat(bytes) } });
  }
  await feed.sync();
  const found = feed.changes.flatMap((change) => (change.type === 'put' ? change.document.name : []));
  assert.deepEqual(
    found.filter((name) => name.startsWith('large-')),
    names,
  );
});
