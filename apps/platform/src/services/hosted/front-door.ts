/** Runs the front door of hosted control planes in this process: one port of this machine for all of them. */

import { orAborted } from '@hangar/core';
import { frontDoorManager } from '@hangar/hosted-operator';
import type { FrontDoorSettings } from '@hangar/hosted-operator';
import type { FrontDoorListen } from '../../options/hosted.ts';
import { insideClients } from '../clients.ts';
import type { ServiceWorld } from '../service-world.ts';
import type { SupervisedService } from '../supervise.ts';

export interface FrontDoorWorld extends ServiceWorld {
  readonly listen: FrontDoorListen;
  /** Resolves when the kinds are served. */
  readonly installed: Promise<void>;
}

/** API servers stop with this process, so connections cannot continue. */
const drainMs = 0;

export const frontDoorService = (world: FrontDoorWorld): SupervisedService => ({
  name: 'front-door',
  async run(signal, running) {
    const { inside, log, tellMetrics, listen, installed } = world;
    const clients = insideClients(inside, 'front-door');
    try {
      await orAborted(installed, signal);
      const { host, port, domain } = listen;
      const options = { host, port, domains: [domain], drainMs, log, onListening: running };
      const manager = frontDoorManager({ ...options, management: clients.root });
      tellMetrics(() => manager.registry.text());
      await manager.run(signal);
    } finally {
      await clients.close();
    }
  },
});

/** Addresses that stand for all addresses of the machine. */
const anyAddresses = new Set(['0.0.0.0', '::']);

/** Names below localhost are not in DNS: clients connect to the address, and the name is only the TLS server name. */
export function settingsOf({ host, port, domain }: FrontDoorListen): FrontDoorSettings {
  const address = { host: anyAddresses.has(host) ? '127.0.0.1' : host, port };
  const isLocal = domain === 'localhost' || domain.endsWith('.localhost');
  return { domains: [domain], port, exposure: 'front-door', ...(isLocal ? { address } : {}) };
}
