/**
 * Combines several providers; clusters are named `provider#name`. A provider that fails does not affect the others: its clusters stay, and
 * it is run again after a delay; clusters that it does not find then are lost.
 */

import { asError, attempted, backOffMs, sleep, systemClock, systemRandom } from '@hangar/core';
import type { Clock, Logger, Random } from '@hangar/core';
import type { Cluster, ClusterName } from '../../cluster.ts';
import { RuntimeError } from '../../errors.ts';
import type { Discovery, Provider } from '../contract.ts';

export interface MultiOptions {
  readonly clock?: Clock;
  readonly random?: Random;
  readonly log?: Logger;
}

const backOff = { baseMs: 1_000, maxMs: 60_000 };

/**
 * Combines several providers; their names become prefixes of the cluster names. Throws `InvalidOptions` for names that are empty or
 * contain `#`.
 */
export function multi(providers: Readonly<Record<string, Provider>>, options: MultiOptions = {}): Provider {
  const entries = Object.entries(providers);
  for (const [prefix] of entries) {
    if (prefix === '' || prefix.includes('#'))
      throw new RuntimeError(
        'InvalidOptions',
        `"${prefix}" is not a valid provider name: it must not be empty or contain "#"`,
      );
  }
  return {
    name: 'multi',
    async run(discovery, signal) {
      const unsynced = new Set(entries.map(([prefix]) => prefix));
      const synced = (prefix: string): void => {
        if (unsynced.delete(prefix) && unsynced.size === 0) discovery.synced();
      };
      if (entries.length === 0) discovery.synced();
      await Promise.all(
        entries.map(([prefix, provider]) => {
          const known = new Set<ClusterName>();
          const one = { prefix, provider, known, discovery, synced: () => synced(prefix) };
          return runForEver(one, signal, options);
        }),
      );
    },
  };
}

interface One {
  readonly prefix: string;
  readonly provider: Provider;
  /** With their prefix. */
  readonly known: Set<ClusterName>;
  readonly discovery: Discovery;
  readonly synced: () => void;
}

async function runForEver(one: One, signal: AbortSignal, options: MultiOptions): Promise<void> {
  const { clock = systemClock, random = systemRandom, log } = options;
  for (let failures = 1; !signal.aborted; failures++) {
    try {
      return await attempted(() => one.provider.run(prefixed(one), signal));
    } catch (error) {
      if (signal.aborted) return;
      log?.error('cluster provider failed', { provider: one.prefix, error: asError(error) });
      // The other providers do not wait for one that failed.
      one.synced();
      await sleep(clock, backOffMs(backOff, failures, random), signal).catch(() => {});
    }
  }
}

/** For one run: clusters that were known before and are not reported by the time that it has synced are lost. */
function prefixed({ prefix, known, discovery, synced }: One): Discovery {
  const unseen = new Set(known);
  return {
    discovered(cluster) {
      const name = `${prefix}#${cluster.name}`;
      unseen.delete(name);
      known.add(name);
      discovery.discovered({ ...cluster, name, open: async (signal) => named(name, await cluster.open(signal)) });
    },
    lost(bare) {
      const name = `${prefix}#${bare}`;
      unseen.delete(name);
      known.delete(name);
      discovery.lost(name);
    },
    synced() {
      for (const name of unseen) {
        known.delete(name);
        discovery.lost(name);
      }
      unseen.clear();
      synced();
    },
  };
}

const named = (name: ClusterName, cluster: Cluster): Cluster => ({
  name,
  client: cluster.client,
  apiReader: cluster.apiReader,
  cache: cluster.cache,
  start: (signal) => cluster.start(signal),
});
