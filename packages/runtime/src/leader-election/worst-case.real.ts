/**
 * The closest that two leaders can come: the disconnected one has the slowest clock and received its last renewal as late as possible, the
 * other has the fastest clock and observes everything at once. Cases that exceed the bound show why it is needed.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom, sleep } from '@hangar/core';
import { Scheduler } from '@hangar/core/simulation';
import { startTestCluster } from '@hangar/testkit';
import { LeaderElector } from './leader-elector.ts';
import { faultyClient } from './testing/faulty-client.ts';
import type { Faults } from './testing/faulty-client.ts';
import { SimulatedProcess } from './testing/simulated-process.ts';

const well: Faults = { loss: 0, delay: 0, delayMaxMs: 0, answerDelayMs: 0 };

interface Case {
  readonly seed: number;
  /** Ratio of the clock rates. */
  readonly ratio: number;
  readonly answerDelayMs: number;
}

/** Milliseconds from the end of the first leadership to the start of the second; negative: they overlapped. */
async function gapMs({ seed, ratio, answerDelayMs }: Case): Promise<number> {
  const random = seededRandom(seed);
  const clock = new Scheduler(random);
  await using cluster = await startTestCluster({ clock, random });
  const stop = new AbortController();
  let faults = well;
  let believedAtMs = 0;
  const contend = (rate: number, lead: () => void, ownFaults: () => Faults) => {
    const process = new SimulatedProcess({ world: clock, rate, offsetMs: 0 });
    const client = faultyClient({ client: cluster.client, process, world: clock, random, faults: ownFaults });
    const elector = new LeaderElector({ client, namespace: 'default', name: 'election', clock: process, random });
    const ended = elector.run(stop.signal, async (ownership) => {
      for (lead(); !ownership.signal.aborted; lead()) await sleep(process, 20, ownership.signal).catch(() => {});
    });
    return { elector, ended: ended.catch(() => {}) };
  };
  const first = contend(
    1 / Math.sqrt(ratio),
    () => (believedAtMs = clock.monotonicMs()),
    () => faults,
  );
  await clock.advance(100);
  let tookOverAtMs = 0;
  const lead = () => (tookOverAtMs ||= clock.monotonicMs());
  // Candidates with different phases: one of them polls at the worst moment.
  const others = Array.from({ length: 4 }, () => contend(Math.sqrt(ratio), lead, () => well));
  await clock.advance(5_000 + random.fraction() * 5_000);
  faults = { ...well, answerDelayMs };
  await clock.advance(8_000 + random.fraction() * 8_000);
  faults = { ...well, loss: 1 };
  while (tookOverAtMs === 0 || first.elector.isLeader) await clock.advance(20);
  stop.abort();
  await clock.run(Promise.all([first.ended, ...others.map(({ ended }) => ended)]));
  return tookOverAtMs - believedAtMs;
}

async function leastGapMs(ratio: number, seeds: number): Promise<number> {
  let least = Infinity;
  for (let seed = 1; seed <= seeds; seed++) {
    for (const answerDelayMs of [0, 2_000, 4_000]) least = Math.min(least, await gapMs({ seed, ratio, answerDelayMs }));
  }
  return least;
}

test('clocks that differ by a third: the second begins after the first has ended, however late its answers were', async (context) => {
  const least = await leastGapMs(4 / 3, 40);
  context.diagnostic(`${Math.round(least)} ms between the two at least`);
  assert.ok(least > 0, `${least} ms`);
});

test('clocks that differ by more than lease duration : renew deadline: both can lead, so that the test above can fail', async () => {
  assert.ok((await leastGapMs(1.9, 20)) < 0);
});
