/**
 * Runs the search service as a program, and prints the objects that register it:
 *
 *     node services/search/src/main.ts --kubeconfig admin.kubeconfig --index /var/lib/search --cluster my-cluster
 *
 * Without --cluster, the kubeconfig is for the management plane of a Hangar, and all control planes are searched.
 */

import { parseArgs } from 'node:util';
import { Logger, systemClock } from '@hangar/core';
import { clusterAccess, registration } from '@hangar/server/library';
import { startSearchService } from './service.ts';

const { values } = parseArgs({
  options: {
    kubeconfig: { type: 'string' },
    index: { type: 'string', default: 'search-index' },
    cluster: { type: 'string' },
    host: { type: 'string', default: '127.0.0.1' },
    port: { type: 'string', default: '0' },
    /** External name of the Service that is printed. */
    hostname: { type: 'string', default: 'localhost' },
  },
});
const log = new Logger({ level: 'info', format: 'text', clock: systemClock });
const metadata = { namespace: 'kube-system', name: 'hangar-search' };
const service = await startSearchService({
  access: await clusterAccess(values.kubeconfig),
  cluster: values.cluster,
  directory: values.index,
  host: values.host,
  port: Number(values.port),
  hosts: [values.hostname, `${metadata.name}.${metadata.namespace}.svc`],
  log,
});
const items = [
  { kind: 'Service', apiVersion: 'v1', metadata, spec: { type: 'ExternalName', externalName: values.hostname } },
  ...registration({ kinds: service.kinds, service: { ...metadata, port: service.port }, ca: service.ca! }),
];
console.log(JSON.stringify({ kind: 'List', apiVersion: 'v1', items }));

for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => void service.close());
