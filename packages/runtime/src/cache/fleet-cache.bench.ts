/**
 * `node packages/runtime/src/cache/fleet-cache.bench.ts [clusters]`: a thousand clusters with three kinds of twenty objects each, over TLS
 * from a server in another process. Measures the time until every cluster received all its objects, the memory of the process at that
 * point, and the latency of a change in each cluster. For comparison, it measures some clusters with separate caches and connections, and
 * extrapolates.
 */

import { configOfKubeconfig, connect } from '@hangar/client';
import type { Client } from '@hangar/client';
import { newCluster } from '../new-cluster.ts';
import type { Cluster } from '../cluster.ts';
import { FleetCache } from './fleet-cache.ts';
import { kinds, startFleetServer } from './testing/fleet-server.ts';
import type { FleetServer } from './testing/fleet-server.ts';
import { heapBytes } from './testing/heap.ts';

const clusters = Number(process.argv[2] ?? 1_000);
const objects = 20;
const alone = Math.min(50, clusters);
const mb = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(0)} MB`;
const since = (begunMs: number): string => `${((performance.now() - begunMs) / 1_000).toFixed(2)} s`;

let updates = 0;
let onUpdated = (): void => {};
/** Watches all kinds, as a controller does. */
async function engage(cluster: Cluster, signal: AbortSignal): Promise<number> {
  void cluster.start(signal);
  let told = 0;
  const registrations = kinds.map((kind) =>
    cluster.cache.informer(kind).addHandler({
      onAdd: () => void told++,
      onUpdate: () => (updates++, onUpdated()),
    }),
  );
  await Promise.all(registrations.map((one) => one.synced(signal)));
  return told;
}

const clientOf = async (server: FleetServer, name: string): Promise<Client> =>
  connect(await configOfKubeconfig(await server.kubeconfigOf(name)));

const nameOf = (n: number): string => `cluster-${n}`;
const emptyBytes = heapBytes();
console.log(`${clusters} clusters × ${kinds.length} kinds × ${objects} objects are made …`);
await using server = await startFleetServer({ clusters, objects });
console.log(`empty process: heap ${mb(emptyBytes)}, resident ${mb(process.memoryUsage().rss)}`);

{
  const all = await clientOf(server, '*');
  const controller = new AbortController();
  const begunMs = performance.now();
  const fleet = new FleetCache({ client: all });
  const running = fleet.start(controller.signal);
  const told = await Promise.all(
    Array.from({ length: clusters }, (_, n) =>
      engage(newCluster({ name: nameOf(n), client: all, cache: fleet.cluster(nameOf(n)) }), controller.signal),
    ),
  );
  console.log(`engaged in ${since(begunMs)}: ${told.reduce((sum, one) => sum + one, 0)} objects told`);
  const residentBytes = process.memoryUsage().rss;
  const fullBytes = heapBytes();
  console.log(`resident ${mb(residentBytes)}, heap ${mb(fullBytes)}: ${mb(fullBytes - emptyBytes)} more than empty`);

  const changedMs = performance.now();
  const arrived = new Promise<void>((resolve) => (onUpdated = () => updates >= clusters && resolve()));
  const written = server.touch(`${changedMs}`).then(() => since(changedMs));
  await arrived;
  console.log(`a change in each cluster: written in ${await written}, all arrived after ${since(changedMs)}`);

  const views = Array.from({ length: 100_000 }, (_, n) => fleet.cluster(nameOf(n % clusters)));
  const idleBytes = (heapBytes() - fullBytes) / views.length;
  console.log(`an idle view: ${idleBytes.toFixed(0)} bytes`);
  controller.abort();
  await running;
  await all.close();
}

{
  const before = { heap: heapBytes(), resident: process.memoryUsage().rss };
  const controller = new AbortController();
  const begunMs = performance.now();
  const clients: Client[] = [];
  const engaged: Promise<number>[] = [];
  for (let n = 0; n < alone; n++) {
    const client = await clientOf(server, nameOf(n));
    clients.push(client);
    engaged.push(engage(newCluster({ name: nameOf(n), client }), controller.signal));
  }
  await Promise.all(engaged);
  const heap = ((heapBytes() - before.heap) / alone) * clusters;
  const seconds = (((performance.now() - begunMs) / 1_000 / alone) * clusters).toFixed(1);
  console.log(`a cache for each cluster, from ${alone}: ${seconds} s, heap ${mb(heap)} for ${clusters}`);
  controller.abort();
  await Promise.all(clients.map((client) => client.close()));
}
