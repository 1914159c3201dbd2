/**
 * Finds the version of a group that the server serves, among the supported ones. Waits until it serves one: definitions may be installed
 * later.
 */

import type { Client } from '@hangar/client';
import { backOffMs, sleep, systemClock, systemRandom } from '@hangar/core';
import type { Clock, Logger } from '@hangar/core';

export interface AskedServer {
  readonly management: Client;
  readonly clock?: Clock;
  readonly log?: Logger;
}

const backOff = { baseMs: 500, maxMs: 30_000 };

/** Resolves with the first of `wanted` that is served. Rejects only with `Aborted`. */
export async function servedVersion(
  { management, clock = systemClock, log }: AskedServer,
  group: string,
  wanted: readonly string[],
  signal: AbortSignal,
): Promise<string> {
  for (let failures = 1; ; failures++) {
    try {
      const served = await versionsOf(management, group, signal);
      const found = wanted.find((version) => served.includes(version));
      if (found !== undefined) return found;
      log?.warn('the management cluster does not serve this API group yet', { group, wanted });
    } catch (error) {
      if (!signal.aborted) log?.warn('discovery of the management cluster failed', { group, error });
    }
    await sleep(clock, backOffMs(backOff, failures, systemRandom), signal);
  }
}

async function versionsOf(client: Client, group: string, signal: AbortSignal): Promise<string[]> {
  const headers = { accept: 'application/json' };
  const answer = await client.raw({ method: 'GET', target: `/apis/${group}`, headers, signal });
  const body = (await answer.body()).toString();
  if (answer.status !== 200) return [];
  const { versions = [] } = JSON.parse(body) as { versions?: { version: string }[] };
  return versions.map(({ version }) => version);
}
