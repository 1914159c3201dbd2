/**
 * `node packages/controllers/src/remote-feed/remote-feed.bench.ts [tenants] [objects]`: measures, over TLS on loopback, the time until a
 * follower in another process has all tenants with their objects; the bytes transferred; the memory of an idle tenant; and the latency of a
 * change.
 */

import { connect } from '@hangar/client';
import type { Client, HttpAnswer } from '@hangar/client';
import { ConfigMap } from '@hangar/client/kinds/core-v1';
import { Logger, systemClock, systemRandom } from '@hangar/core';
import { startTestFleet } from '@hangar/testkit';
import type { FeedListener } from '../contract.ts';
import { remoteFeed } from './remote-feed.ts';

const [tenants = 10_000, objects = 5] = process.argv.slice(2).map(Number);
const mb = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;
const collect = (): number => {
  (globalThis as { gc?: () => void }).gc?.();
  return process.memoryUsage().heapUsed;
};

await using fleet = await startTestFleet({ clusters: tenants, listen: true });
const object = (name: string): Buffer =>
  Buffer.from(
    JSON.stringify({
      kind: 'ConfigMap',
      apiVersion: 'v1',
      metadata: { name, namespace: 'default', uid: crypto.randomUUID(), creationTimestamp: new Date().toISOString() },
      data: { text: 'x'.repeat(500) },
    }),
  );
for (const cluster of fleet.clusters) {
  const keyOf = (name: string): string => `/registry/clusters/${cluster}/configmaps/default/${name}`;
  const names = Array.from({ length: objects }, (_, at) => `m${at}`);
  await fleet.store.commit(names.map((name) => ({ type: 'put', key: keyOf(name), value: object(name) })));
}

/** Counts received bytes. */
let bytes = 0;
const counted = (client: Client): Pick<Client, 'raw'> => ({
  raw: async (request) => {
    const answer = await client.raw(request);
    return { ...plain(answer), stream: () => counting(answer.stream()) };
  },
});
const plain = (answer: HttpAnswer): HttpAnswer => ({
  status: answer.status,
  header: (name) => answer.header(name),
  body: () => answer.body(),
  stream: () => answer.stream(),
});
async function* counting(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) {
    bytes += chunk.length;
    yield chunk;
  }
}

const client = connect(fleet.configOf());
const log = new Logger({ level: 'warn', format: 'text', clock: systemClock });
const feed = remoteFeed({ client: counted(client), clock: systemClock, random: systemRandom, log });
const synced = Promise.withResolvers<void>();
let told = 0;
let onChange: () => void = () => {};
const listener: FeedListener = {
  wants: () => true,
  changed: ({ isInitial }) => {
    told++;
    if (!isInitial) onChange();
  },
  synced: () => synced.resolve(),
  reset() {},
  clusterChanged() {},
  clusterTold() {},
  clusterGone() {},
};
const stopping = new AbortController();
const before = collect();
const begunMs = performance.now();
const following = feed.follow(listener, stopping.signal);
await synced.promise;
const seconds = (performance.now() - begunMs) / 1_000;
console.log(`${tenants} tenants, ${told} objects: synced in ${seconds.toFixed(2)} s, ${mb(bytes)}`);
const perTenant = (collect() - before) / tenants;
console.log(`${perTenant.toFixed(0)} bytes of heap a tenant, of server and follower together (with --expose-gc)`);

const delaysMs: number[] = [];
for (let at = 0; at < 200; at++) {
  const { promise, resolve } = Promise.withResolvers<void>();
  onChange = resolve;
  const sentMs = performance.now();
  await fleet.clientOf('cluster-0').create(ConfigMap, { metadata: { namespace: 'default', name: `late-${at}` } });
  await promise;
  delaysMs.push(performance.now() - sentMs);
}
delaysMs.sort((a, b) => a - b);
console.log(`a write is known after ${delaysMs[100]!.toFixed(1)} ms (median), ${delaysMs[198]!.toFixed(1)} ms (99 %)`);
stopping.abort();
await following;
await client.close();
