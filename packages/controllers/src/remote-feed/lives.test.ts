/** Random changes of tenants and objects: a remote follower has the same state as a follower in the process of the server. */

import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { connect } from '@hangar/client';
import type { Client } from '@hangar/client';
import { ConfigMap } from '@hangar/client/kinds/core-v1';
import { Logger, pick, seededRandom, systemClock, systemRandom } from '@hangar/core';
import type { Clock, Random } from '@hangar/core';
import { startTestFleet, Tenant } from '@hangar/testkit';
import type { TestFleet } from '@hangar/testkit';
import type { FleetFeed } from '../contract.ts';
import { eventually } from '../testing/run-controllers.ts';
import { remoteFeed } from './remote-feed.ts';
import { Breakable } from './testing/breakable.ts';
import { Knowing } from './testing/knowing.ts';

const log = new Logger({ level: 'silent', format: 'text', clock: systemClock });
/** Shortens the back-off before a reconnect. */
const hurried: Clock = { ...systemClock, after: (delayMs, callback) => systemClock.after(delayMs / 20, callback) };
const feedBy = (client: Client): FleetFeed => remoteFeed({ client, clock: hurried, random: systemRandom, log });
const isMap = ({ resource }: { resource: string }): boolean => resource === 'configmaps';
const namespace = 'default';
const marks = 'marks';

class Lives {
  readonly #fleet: TestFleet;
  readonly #random: Random;
  /** ConfigMaps by name. */
  readonly #clusters = new Map<string, Set<string>>();

  constructor(fleet: TestFleet, random: Random) {
    this.#fleet = fleet;
    this.#random = random;
  }

  async step(): Promise<void> {
    const dice = this.#random.below(12);
    if (dice === 0 || this.#clusters.size === 0) return this.#born();
    const cluster = pick(this.#random, [...this.#clusters.keys()]);
    if (dice === 1) {
      this.#clusters.delete(cluster);
      return this.#fleet.deleteCluster(cluster);
    }
    if (dice === 2) {
      const body = { metadata: { labels: { at: String(this.#random.below(1_000)) } } };
      await this.#fleet.client.patch(Tenant, { name: cluster }, { type: 'merge', body });
      return;
    }
    await this.#write(cluster, `m${this.#random.below(5)}`);
  }

  async #born(): Promise<void> {
    const name = `t${this.#random.below(6)}`;
    if (this.#clusters.has(name)) return;
    this.#clusters.set(name, new Set());
    await this.#fleet.createCluster(name);
  }

  async #write(cluster: string, name: string): Promise<void> {
    const [client, maps] = [this.#fleet.clientOf(cluster), this.#clusters.get(cluster)!];
    const data = { a: 'ü\n"'.repeat(this.#random.below(2_000)) };
    if (!maps.has(name)) {
      await client.create(ConfigMap, { metadata: { namespace, name }, data });
      maps.add(name);
    } else if (this.#random.below(3) === 0) {
      await client.delete(ConfigMap, { namespace, name });
      maps.delete(name);
    } else await client.patch(ConfigMap, { namespace, name }, { type: 'merge', body: { data } });
  }
}

/** Rejects when the known state differs from that of a new feed in the process of the server. */
async function insist(fleet: TestFleet, knowing: Knowing, what: string): Promise<void> {
  const name = `mark-${what}`;
  await fleet.clientOf(marks).create(ConfigMap, { metadata: { namespace, name } });
  await eventually(() => knowing.isSynced && knowing.known.has(`${marks} configmaps. ${namespace}/${name}`), {
    withinMs: 20_000,
  });
  await using truth = new Knowing(fleet.feed(), isMap);
  await eventually(() => truth.isSynced);
  assert.deepEqual(knowing.all, truth.all, what);
}

for (const protocol of ['h2', 'http/1.1'] as const) {
  test(`what is known over ${protocol} is what is stored, whatever happens`, async () => {
    await using fleet = await startTestFleet({ clusters: [marks], listen: true });
    const lives = new Lives(fleet, seededRandom(7));
    const client = connect(fleet.configOf(), { protocols: [protocol] });
    const knowing = new Knowing(feedBy(client), isMap);
    for (let round = 0; round < 6; round++) {
      for (let at = 0; at < 20; at++) await lives.step();
      await insist(fleet, knowing, String(round));
    }
    assert.ok(!knowing.told.includes('reset'));
    await knowing[Symbol.asyncDispose]();
    await client.close();
  });
}

for (const seed of [1, 2, 3]) {
  test(`what is known is what is stored, however often streams break and whatever is told again, seed ${seed}`, async () => {
    await using fleet = await startTestFleet({ clusters: [marks] });
    const random = seededRandom(seed);
    const lives = new Lives(fleet, random);
    const server = new Breakable(fleet.handler);
    const feed = feedBy(server.client);
    await using knowing = new Knowing(feed, isMap);
    for (let round = 0; round < 5; round++) {
      for (let at = 0; at < 20; at++) {
        await lives.step();
        const dice = random.below(20);
        if (dice === 0) server.cut();
        else if (dice === 1) server.end();
        else if (dice < 5) feed.retell(`t${random.below(6)}`);
      }
      await insist(fleet, knowing, String(round));
    }
    assert.ok(server.requests.length > 3);
  });
}

test('a server that is started again, on the same data, is followed on', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'hangar-remote-feed-'));
  const random = seededRandom(5);
  let server: Breakable | undefined;
  let knowing: Knowing | undefined;
  try {
    for (let life = 0; life < 3; life++) {
      await using fleet = await startTestFleet({ clusters: life === 0 ? [marks] : [], dataDir });
      server ??= new Breakable(fleet.handler);
      server.handler = fleet.handler;
      knowing ??= new Knowing(feedBy(server.client), isMap);
      await fleet.createCluster(`c${life}`);
      for (let at = 0; at < 20; at++) {
        const metadata = { namespace, name: `m${life}-${at}-${random.below(9)}` };
        await fleet.clientOf(`c${life}`).create(ConfigMap, { metadata });
      }
      await insist(fleet, knowing, String(life));
      server.handler = undefined;
    }
    assert.equal(knowing!.told.filter((one) => one === 'reset').length, 2);
    assert.deepEqual([...knowing!.tenants.keys()].sort(), ['c0', 'c1', 'c2', marks]);
  } finally {
    await knowing?.[Symbol.asyncDispose]();
    await rm(dataDir, { recursive: true });
  }
});
