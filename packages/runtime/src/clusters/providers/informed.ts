/**
 * Base of providers that watch objects of a management cluster. Each declares its informers and handles their changes. While a watch is
 * broken, the known clusters stay; they are announced again, not lost, when it reconnects.
 */

import type { ApiObject, Client } from '@hangar/client';
import { hasCode } from '@hangar/core';
import type { Clock, Logger } from '@hangar/core';
import { ClusterCache } from '../../cache/cluster-cache.ts';
import type { Cache, Informer, Registration } from '../../cache/contract.ts';
import type { Provider } from '../contract.ts';
import { Announcements } from './announcements.ts';

/** Options of providers that watch objects of a management cluster. */
export interface ManagementOptions {
  /** Client of the management cluster. It must read from the server, as clients of `connect` do. The provider does not close it. */
  readonly management: Client;
  readonly clock?: Clock;
  readonly log?: Logger;
}

export interface Following {
  readonly cache: Cache;
  readonly announcements: Announcements;
  /** Calls `onChange` with every existing object and for every add, update and delete. */
  follow<T extends ApiObject>(informer: Informer<T>, onChange: (object: T) => void): void;
}

/** Calls `begin` once for each run, to set up the informers. */
export function informedProvider(
  name: string,
  { management, clock, log }: ManagementOptions,
  begin: (following: Following, signal: AbortSignal) => void | Promise<void>,
): Provider {
  return {
    name,
    async run(discovery, signal) {
      const cache = new ClusterCache({ client: management, log, ...(clock ? { clock } : {}) });
      const registrations: Registration[] = [];
      const follow = <T extends ApiObject>(informer: Informer<T>, onChange: (object: T) => void): void => {
        const onUpdate = (_before: T, after: T): void => onChange(after);
        registrations.push(informer.addHandler({ onAdd: onChange, onUpdate, onDelete: onChange }));
      };
      try {
        const announcements = new Announcements(discovery);
        await begin({ cache, announcements, follow }, signal);
        const running = cache.start(signal);
        await Promise.all(registrations.map((one) => one.synced(signal)));
        await announcements.settled();
        discovery.synced();
        await running;
      } catch (error) {
        if (!signal.aborted || hasCode(error, 'InvalidOptions')) throw error;
      }
    },
  };
}
