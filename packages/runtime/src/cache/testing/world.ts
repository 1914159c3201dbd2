/** A cluster in virtual time behind a connection with injected faults, and a cache of it. */

import { getEventListeners } from 'node:events';
import assert from 'node:assert/strict';
import { defineKind, RestClient } from '@hangar/client';
import type { ApiObject, Client } from '@hangar/client';
import { Logger, seededRandom } from '@hangar/core';
import { faultyTransport, startTestCluster, virtualClock } from '@hangar/testkit';
import type { FaultyTransport, TestCluster, VirtualClock } from '@hangar/testkit';
import type { CacheOptions } from '../cache-options.ts';
import { ClusterCache } from '../cluster-cache.ts';

export interface ConfigMapObject extends ApiObject {
  data?: Record<string, string>;
}

export const ConfigMap = defineKind<ConfigMapObject>({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  plural: 'configmaps',
  isNamespaced: true,
});
export const Namespace = defineKind({ apiVersion: 'v1', kind: 'Namespace', plural: 'namespaces', isNamespaced: false });

export interface CacheTestWorld extends AsyncDisposable {
  readonly clock: VirtualClock;
  readonly cluster: TestCluster;
  readonly faults: FaultyTransport;
  /** Client behind the faults. */
  readonly client: Client;
  readonly cache: ClusterCache;
  readonly controller: AbortController;
  /** Log lines. */
  readonly lines: string[];
  /** Starts the cache. It stops with the world, or by the controller. */
  start(): void;
  /** Rejects unless the cache stopped and leaked nothing. */
  stop(): Promise<void>;
  make(name: string, data?: Record<string, string>): Promise<ConfigMapObject>;
  change(name: string, value: string): Promise<void>;
  remove(name: string): Promise<void>;
}

const namespace = 'default';

export async function openWorld({ seed = 1, options = {} }: { seed?: number; options?: CacheOptions } = {}) {
  const clock = virtualClock({ seed });
  const cluster = await startTestCluster({ clock, random: seededRandom(seed) });
  const faults = faultyTransport(cluster.transportOf(), { clock });
  // The client does not retry: the reaction of the reflector to failures is under test.
  const client = new RestClient(faults, { clock, random: seededRandom(seed), retry: false });
  const lines: string[] = [];
  const log = new Logger({ level: 'debug', format: 'text', clock, write: (line) => void lines.push(line) });
  const cache = new ClusterCache({ client, clock, random: seededRandom(seed), log, options });
  const controller = new AbortController();
  let ended: Promise<void> | undefined;
  const world: CacheTestWorld = {
    clock,
    cluster,
    faults,
    client,
    cache,
    controller,
    lines,
    start: () => void (ended = cache.start(controller.signal)),
    async stop() {
      controller.abort();
      if (ended) await clock.run(ended);
      assert.equal(faults.openWatches, 0, 'a watch is still open');
      assert.equal(getEventListeners(controller.signal, 'abort').length, 0, 'somebody still listens to the signal');
    },
    make: (name, data = {}) => cluster.client.create(ConfigMap, { metadata: { namespace, name }, data }),
    async change(name, value) {
      await cluster.client.patch(ConfigMap, { namespace, name }, { type: 'merge', body: { data: { value } } });
    },
    async remove(name) {
      await cluster.client.delete(ConfigMap, { namespace, name });
    },
    async [Symbol.asyncDispose]() {
      await world.stop();
      await cluster[Symbol.asyncDispose]();
    },
  };
  return world;
}
