/**
 * Runs the service of audit events and activities. Its database threads keep batches and queries away from the event loop of the server, so
 * the service needs no separate process: the loop passes bytes on, and a failure restarts the service.
 */

import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { aborted, systemClock } from '@hangar/core';
import { insideClients } from '../clients.ts';
import type { ServiceWorld } from '../service-world.ts';
import type { SupervisedService } from '../supervise.ts';
import { ownHost, register, registrationObjects, serviceNamespace } from './registration.ts';

const name = 'hangar-activity';

export const service = ({ inside, log }: ServiceWorld): Pick<SupervisedService, 'run'> => ({
  async run(signal, running) {
    const { ManagementDirectory, readerOf, startActivityService } = await import('@hangar/activity-service');
    const folder = join(inside.dataDirectory, 'activity');
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const access = inside.adminAccess();
    await using opened = new AsyncDisposableStack();
    const reader = readerOf(access, systemClock);
    opened.defer(() => reader.close());
    const started = await startActivityService({
      database: join(folder, 'activity.db'),
      access,
      directory: new ManagementDirectory(reader.read, systemClock),
      // Events come from this process.
      credentials: [],
      host: '127.0.0.1',
      port: 0,
      hosts: [ownHost, `${name}.${serviceNamespace}.svc`],
      onError: (error) => log.error('the activity service failed to handle a request', { error }),
    });
    opened.defer(() => started.close());
    const { port, kinds, backend } = started;
    const server = { name, kinds, port, ca: started.ca! };
    opened.defer(inside.allowOwnEndpoint(ownHost, port));
    opened.defer(inside.auditFeed!.attach((body) => backend.ingest(Buffer.from(body), { plane: undefined })));
    const clients = insideClients(inside, 'platform');
    opened.defer(() => clients.close());
    await register(clients.root, server, signal);
    const list = { kind: 'List', apiVersion: 'v1', items: registrationObjects(server) };
    await writeFile(join(folder, 'api-service.json'), JSON.stringify(list));
    running();
    const error = await Promise.race([aborted(signal), started.failed]);
    if (error) throw error;
  },
});
