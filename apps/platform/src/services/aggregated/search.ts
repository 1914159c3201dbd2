/**
 * Runs the search service. Its index has separate threads, so that scans and batches do not block the event loop of the server, and a
 * failure restarts the service.
 */

import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { aborted } from '@hangar/core';
import { insideClients } from '../clients.ts';
import type { ServiceWorld } from '../service-world.ts';
import type { SupervisedService } from '../supervise.ts';
import { ownHost, register, registrationObjects, serviceNamespace } from './registration.ts';

const name = 'hangar-search';

export const service = ({ inside, log }: ServiceWorld): Pick<SupervisedService, 'run'> => ({
  async run(signal, running) {
    const { startSearchService } = await import('@hangar/search-service');
    const folder = join(inside.dataDirectory, 'search');
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await using opened = new AsyncDisposableStack();
    const started = await startSearchService({
      access: inside.adminAccess(),
      directory: join(folder, 'index'),
      host: '127.0.0.1',
      port: 0,
      hosts: [ownHost, `${name}.${serviceNamespace}.svc`],
      log: log.child({ service: 'search' }),
      onError: (error) => log.error('the search service failed to handle a request', { error }),
    });
    opened.defer(() => started.close());
    const server = { name, kinds: started.kinds, port: started.port, ca: started.ca! };
    opened.defer(inside.allowOwnEndpoint(ownHost, started.port));
    const clients = insideClients(inside, 'platform');
    opened.defer(() => clients.close());
    await register(clients.root, server, signal);
    const list = { kind: 'List', apiVersion: 'v1', items: registrationObjects(server) };
    await writeFile(join(folder, 'api-service.json'), JSON.stringify(list));
    running();
    await aborted(signal);
  },
});
