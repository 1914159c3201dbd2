/** Serves notes, and prints what makes a cluster find them. */

import { parseArgs } from 'node:util';
import { clusterAccess, registration, serveAggregated } from '@hangar/server/library';
import { introductions, notes } from './note.ts';
import { NoteTable } from './note-table.ts';

const database = { type: 'string', default: 'notes.db' } as const;
const { values } = parseArgs({ options: { kubeconfig: { type: 'string' }, database } });
const table = new NoteTable(values.database);
const kinds = [notes(table), introductions];
const access = await clusterAccess(values.kubeconfig);
const server = await serveAggregated({ kinds, access, host: '127.0.0.1', port: 0, hosts: ['notes.default.svc'] });

const service = {
  kind: 'Service',
  apiVersion: 'v1',
  metadata: { namespace: 'default', name: 'notes' },
  spec: { type: 'ExternalName', externalName: 'localhost' },
};
const apiServices = registration({ kinds, service: { ...service.metadata, port: server.port }, ca: server.ca! });
console.log(JSON.stringify({ kind: 'List', apiVersion: 'v1', items: [service, ...apiServices] }));

for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => void server.close().then(table.close));
