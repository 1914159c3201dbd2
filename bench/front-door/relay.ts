/** A relay in its own process: the front door, or two sockets that are piped into each other. Reports its CPU time on request. */

import { connect, createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { Logger, systemClock } from '@hangar/core';
import { FrontDoor } from '@hangar/front-door';
import { MetricsRegistry } from '@hangar/runtime';

const [kind = '', port = ''] = process.argv.slice(2);
const backend = { host: '127.0.0.1', port: Number(port) };

process.on('message', () => process.send!(process.cpuUsage()));
process.on('disconnect', () => process.exit());
process.send!(kind === 'front-door' ? await frontDoorPort() : await pipePort());

async function frontDoorPort(): Promise<number> {
  const door = await FrontDoor.listen({
    host: '127.0.0.1',
    port: 0,
    findRoute: () => ({ name: 'bench', backends: [backend] }),
    clock: systemClock,
    log: new Logger({ level: 'error', format: 'text', clock: systemClock }),
    metrics: new MetricsRegistry(),
  });
  return door.port;
}

function pipePort(): Promise<number> {
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (client) => {
    const other = connect({ ...backend, allowHalfOpen: true, noDelay: true });
    client.pipe(other);
    other.pipe(client);
  });
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port)));
}
