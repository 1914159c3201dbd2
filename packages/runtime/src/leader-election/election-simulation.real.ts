/**
 * Electors in virtual time on a real API server in memory: clocks with different rates and offsets, processes that pause, crash, stop and
 * restart, requests that hang, get lost or are executed late. At most one process leads at any moment, by its own view while it works; and
 * soon after the last fault, one does.
 *
 * HANGAR_SEEDS=1000        number of seeds
 * HANGAR_SEED=17           only this seed
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chance, hasCode, pick, seededRandom, sleep } from '@hangar/core';
import type { Random } from '@hangar/core';
import { Scheduler } from '@hangar/core/simulation';
import type { Client } from '@hangar/client';
import { startTestCluster } from '@hangar/testkit';
import { LeaderElector } from './leader-elector.ts';
import { faultyClient } from './testing/faulty-client.ts';
import type { Faults } from './testing/faulty-client.ts';
import { SimulatedProcess } from './testing/simulated-process.ts';

const faultyMs = 120_000;
/**
 * The lease expires by the slowest clock, a candidate retries, its first attempt hangs from before: twice; and a paused process resumes
 * within 40 s.
 */
const healedWithinMs = 60_000;
const rateMax = 0.15;

const well: Faults = { loss: 0, delay: 0, delayMaxMs: 0, answerDelayMs: 0 };

interface Member {
  /** Faults of its network. */
  faults: Faults;
  readonly process: SimulatedProcess;
  readonly elector: LeaderElector;
  readonly stop: AbortController;
  readonly ended: Promise<void>;
}

class World {
  readonly random: Random;
  readonly clock: Scheduler;
  readonly members = new Set<Member>();
  readonly leaders: string[] = [];
  checks = 0;
  readonly violations: string[] = [];
  readonly #client: Client;

  constructor(random: Random, clock: Scheduler, client: Client) {
    this.random = random;
    this.clock = clock;
    this.#client = client;
  }

  get leading(): readonly Member[] {
    return [...this.members].filter(({ process, elector }) => !process.isPaused && elector.isLeader);
  }

  start(): void {
    const { random, clock } = this;
    // Usually the extremes.
    const rate = 1 + pick(random, [-1, 1, random.fraction() * 2 - 1]) * rateMax;
    const process = new SimulatedProcess({ world: clock, rate, offsetMs: (random.fraction() - 0.5) * 10_000_000 });
    const faults = () => member.faults;
    const client = faultyClient({ client: this.#client, process, world: clock, random, faults });
    const stop = new AbortController();
    const elector = new LeaderElector({ client, namespace: 'default', name: 'election', clock: process, random });
    const member: Member = { faults: well, process, elector, stop, ended: Promise.resolve() };
    const ended = this.#live(elector, process, stop.signal);
    Object.assign(member, { ended });
    this.members.add(member);
    void ended.then(() => this.members.delete(member));
  }

  /** Leads, loses the lease, campaigns again. */
  async #live(elector: LeaderElector, process: SimulatedProcess, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await elector
        .run(signal, async (ownership) => {
          this.leaders.push(elector.identity);
          while (!ownership.signal.aborted) {
            this.#dispatch(ownership);
            await sleep(process, 200, ownership.signal).catch(() => {});
          }
          // Running work finishes a moment later.
          await sleep(process, this.random.fraction() * 3_000);
        })
        .catch((error: unknown) => {
          if (!hasCode(error, 'LeadershipLost')) this.violations.push(String(error));
        });
    }
  }

  #dispatch(ownership: { check(): void }): void {
    try {
      ownership.check();
    } catch {
      return;
    }
    this.checks++;
    const leading = this.leading.map(({ elector }) => elector.identity);
    if (leading.length > 1) this.violations.push(`${leading.join(' and ')} lead at ${this.clock.monotonicMs()}`);
  }

  /** Injects or ends a fault; affects the leader as often as any process. */
  disturb(): void {
    const { random } = this;
    const leader = this.leading[0];
    const one = leader && chance(random, 0.5) ? leader : pick(random, [...this.members]);
    switch (random.below(8)) {
      case 0:
        return one.process.pause(random.fraction() * 40_000);
      case 1:
        one.faults = badNetwork(random);
        return;
      case 2:
        for (const member of this.members) member.faults = badNetwork(random);
        return;
      case 3:
        one.faults = { ...well, loss: 1 };
        return;
      case 4:
        // It renews, receives the response as late as possible, and is disconnected: the longest time that it can consider itself the
        // leader.
        one.faults = { ...well, answerDelayMs: 3_000 + random.fraction() * 2_000 };
        this.clock.after(3_000 + random.fraction() * 12_000, () => (one.faults = { ...well, loss: 1 }));
        return;
      case 5:
        one.stop.abort();
        return this.start();
      case 6:
        one.process.pause(Infinity);
        this.members.delete(one);
        return this.start();
      default:
        this.heal();
    }
  }

  heal(): void {
    for (const member of this.members) member.faults = well;
  }
}

const badNetwork = (random: Random): Faults => ({
  ...well,
  loss: random.fraction() * 0.7,
  delay: random.fraction(),
  delayMaxMs: random.fraction() * 25_000,
});

async function simulate(seed: number): Promise<{ checks: number; leaders: number }> {
  const random = seededRandom(seed);
  const clock = new Scheduler(random);
  await using cluster = await startTestCluster({ clock, random });
  const world = new World(random, clock, cluster.client);
  for (let members = 2 + random.below(4); members > 0; members--) world.start();
  while (clock.monotonicMs() < faultyMs) {
    await clock.advance(500 + random.fraction() * 15_000);
    world.disturb();
  }
  // Faults in progress may still disconnect a process.
  await clock.advance(15_000);
  world.heal();
  for (let waitedMs = 0; world.leading.length === 0; waitedMs += 1_000) {
    assert.ok(waitedMs < healedWithinMs, `nobody leads ${waitedMs} ms after everything is well`);
    await clock.advance(1_000);
  }
  for (const { stop } of world.members) stop.abort();
  await clock.run(Promise.all([...world.members].map(({ ended }) => ended)));
  assert.deepEqual(world.violations, []);
  return { checks: world.checks, leaders: world.leaders.length };
}

const only = process.env['HANGAR_SEED'];
const seeds =
  only === undefined
    ? Array.from({ length: Number(process.env['HANGAR_SEEDS'] ?? 300) }, (_, i) => i + 1)
    : [Number(only)];

test(
  `${seeds.length} seeds: never two leaders, and one soon after the faults end`,
  { timeout: 280_000 },
  async (context) => {
    const total = { checks: 0, leaders: 0 };
    for (const seed of seeds) {
      const { checks, leaders } = await simulate(seed).catch((error: unknown) => {
        throw new Error(`HANGAR_SEED=${seed}`, { cause: error });
      });
      total.checks += checks;
      total.leaders += leaders;
    }
    context.diagnostic(`${total.leaders} times somebody began to lead, ${total.checks} dispatches`);
    if (only === undefined) assert.ok(total.leaders > seeds.length * 2, 'the faults made leaders change');
  },
);
