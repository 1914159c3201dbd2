/**
 * Clusters are engaged, replaced and disengaged while requests fail, hang, are interrupted and time out, in an order drawn from each seed.
 * Always: no request runs twice at the same time; a drained engagement has no running work. In the end: every request for a cluster that
 * was not released has succeeded after it was enqueued.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chance, pick, seededRandom, sleep } from '@hangar/core';
import type { Cluster, ClusterName } from '../cluster.ts';
import type { Engagement } from '../clusters/contract.ts';
import { RuntimeError } from '../errors.ts';
import { bareCluster } from './testing/bare-cluster.ts';
import { triggered } from './testing/triggered.ts';

const seeds = 150;
const names = ['a', 'b', 'c'];
const objects = ['1', '2', '3', '4'];

interface Engaged {
  readonly cluster: Cluster;
  readonly abort: AbortController;
  readonly engagement: Engagement;
  isLeft: boolean;
}

async function simulate(seed: number): Promise<void> {
  const random = seededRandom(seed);
  /** By key: number of requests, and that number at the start of the last success. */
  const asked = new Map<string, number>();
  const answered = new Map<string, number>();
  const underWay = new Map<string, Cluster>();
  const violations: string[] = [];
  let isCalm = false;
  await using the = await triggered({
    clusters: [],
    concurrency: 1 + random.below(3),
    ...(chance(random, 0.5) ? { maxPerCluster: 1 } : {}),
    reconcileTimeoutMs: 200,
    reconcileGraceMs: 50,
    rateLimit: { maxMs: 1_000 },
    reconcile: ({ cluster: name, name: object }, { cluster, signal }) => {
      const key = `${name}/${object}`;
      // Errors thrown here are contained: a violation must be recorded outside.
      if (underWay.has(key)) violations.push(`${key} is under way twice`);
      const sofar = asked.get(key) ?? 0;
      const succeed = (): void => void answered.set(key, sofar);
      if (isCalm || chance(random, 0.4)) return succeed();
      if (chance(random, 0.2)) throw new Error('at once');
      underWay.set(key, cluster);
      const work = async (): Promise<void> => {
        // Some ignore the signal, and some of those exceed their timeout.
        await (chance(random, 0.5) ? sleep(the.clock, random.below(100), signal) : sleep(the.clock, random.below(400)));
        if (chance(random, 0.2)) throw new RuntimeError('Fenced', 'for a moment');
        if (chance(random, 0.2)) throw new Error('later');
        succeed();
      };
      return work().finally(() => underWay.delete(key));
    },
  });

  const current = new Map<ClusterName, Engaged>();
  const forgetAll = (name: ClusterName): void => {
    for (const object of objects) asked.delete(`${name}/${object}`);
  };
  const engage = (name: ClusterName): void => {
    const cluster = bareCluster(name, the.clock);
    const abort = new AbortController();
    current.set(name, {
      cluster,
      abort,
      engagement: the.controller.engage(name, cluster, abort.signal),
      isLeft: false,
    });
  };
  const leave = (one: Engaged, reason?: Error): void => {
    one.isLeft = true;
    one.abort.abort(reason);
    void one.engagement.drained().then(() => {
      if ([...underWay.values()].includes(one.cluster)) violations.push('drained, and something is under way');
    });
  };
  const ask = (name: ClusterName): void => {
    const object = pick(random, objects);
    const key = `${name}/${object}`;
    asked.set(key, (asked.get(key) ?? 0) + 1);
    // A new request is not answered yet.
    if (asked.get(key) === 1) answered.delete(key);
    the.controller.trigger({ cluster: name, name: object }, chance(random, 0.2) ? { afterMs: random.below(300) } : {});
  };
  const engageAnother = (): void =>
    engage(
      pick(
        random,
        names.filter((name) => !current.has(name)),
      ),
    );
  const change = (): void => {
    const [name, one] = pick(random, [...current]);
    if (!one.isLeft && chance(random, 0.5)) return leave(one, new RuntimeError('ClusterReplaced', 'anew'));
    if (one.isLeft && chance(random, 0.7)) return engage(name);
    if (one.isLeft) one.engagement.abandon!();
    else leave(one);
    current.delete(name);
    forgetAll(name);
  };

  void the.start();
  for (let step = 0; step < 120; step++) {
    const canEngage = current.size < names.length;
    if (current.size === 0 || (canEngage && chance(random, 0.3))) engageAnother();
    else if (chance(random, 0.15)) change();
    else ask(pick(random, [...current.keys()]));
    if (chance(random, 0.5)) await the.clock.advance(random.below(60));
  }
  isCalm = true;
  for (const [name, one] of current) if (one.isLeft) engage(name);
  await the.clock.advance(60_000);
  assert.deepEqual(violations, []);
  assert.equal(underWay.size, 0);
  for (const [key, times] of asked) assert.equal(answered.get(key), times, `${key} was asked for and not answered`);
  assert.equal(the.controller.queueLength, 0);
}

test(`nothing is lost, doubled or left behind, over ${seeds} seeds`, async () => {
  for (let seed = 0; seed < seeds; seed++) {
    await simulate(seed).catch((error: unknown) => {
      throw new Error(`seed ${seed}`, { cause: error });
    });
  }
});
