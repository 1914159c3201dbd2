/**
 * `node packages/server/src/tenancy/feed/teller.bench.ts`: measures the cost of the feed per write of the process, for changes that the
 * listener does not want and for those that it does, one event per revision.
 */

import type { Entry, Revision, StoreEvent } from '@hangar/store';
import { Teller } from './teller.ts';

const rounds = 1_000_000;
const entry = (key: string, value: string): Entry => ({
  key: `/registry/clusters/${key}`,
  value: Buffer.from(value),
  createRevision: 1 as Revision,
  modRevision: 2 as Revision,
  version: 2,
  lease: undefined,
});
const put = (key: string, value = '{"kind":"ConfigMap","metadata":{"name":"a"}}'): StoreEvent => ({
  type: 'put',
  entry: entry(key, value),
});

const cases: Readonly<Record<string, readonly StoreEvent[]>> = {
  'an object that nobody wants': [put('red/leases/kube-node-lease/node-1')],
  'a custom resource that nobody wants': [put('red/example.com/widgets/default/w')],
  'a record of the server': [put('red/.hangar/usage')],
  'an object of nobody': [put('retained/configmaps/default/a')],
  'an object that is told': [put('red/configmaps/default/a')],
};

let told = 0;
const teller = new Teller({
  storePrefix: '/registry',
  listener: {
    wants: ({ resource }) => resource === 'configmaps',
    changed: () => void told++,
    synced() {},
    reset() {},
    clusterChanged() {},
    clusterTold() {},
    clusterGone() {},
  },
  deletedBase: () => Promise.resolve(undefined),
  tenantAt: () => Promise.resolve(undefined),
  onTakenOver() {},
});
teller.tenant(entry('root/tenancy.hangar.dev/tenants/red', '{"metadata":{"name":"red"}}'));

for (const [what, events] of Object.entries(cases)) {
  for (let warm = 0; warm < rounds / 10; warm++) teller.batch(events, 3 as Revision);
  const begunMs = performance.now();
  for (let round = 0; round < rounds; round++) teller.batch(events, 3 as Revision);
  console.log(`${(((performance.now() - begunMs) * 1_000) / rounds).toFixed(3).padStart(8)} µs  ${what}`);
}
console.log(`${told} told`);
