/** The front door of hosted control planes on one manager. Any number of replicas can run: they only read. */

import type { Client } from '@hangar/client';
import { aborted, systemClock } from '@hangar/core';
import type { Clock, Logger } from '@hangar/core';
import { FrontDoor } from '@hangar/front-door';
import type { FrontDoorOptions } from '@hangar/front-door';
import { Manager } from '@hangar/runtime';
import type { ListenOptions } from '@hangar/runtime';
import { routeCaches, routesOf } from './routes.ts';

export interface FrontDoorManagerOptions extends Pick<
  FrontDoorOptions,
  'host' | 'port' | 'limits' | 'handshakeTimeoutMs' | 'trustedProxies' | 'backendProxyProtocol'
> {
  /** The management cluster. Closed by its creator. */
  readonly management: Client;
  /** The namespace whose control planes have routes. Absent: all namespaces. */
  readonly namespace?: string | undefined;
  /** Only host names below these domains have routes. Absent: all. */
  readonly domains?: readonly string[] | undefined;
  /** How long open connections continue after the signal. */
  readonly drainMs: number;
  readonly metrics?: ListenOptions | false | undefined;
  readonly health?: ListenOptions | false | undefined;
  readonly log: Logger;
  readonly clock?: Clock | undefined;
  /** Called when the front door accepts connections. */
  readonly onListening?: ((door: FrontDoor) => void) | undefined;
}

/** Resources are released after the drain. */
const shutdownMarginMs = 10_000;

/** Starts nothing before `run`. It listens when the routes are known, and rejects with `ListenFailed` if it cannot. */
export function frontDoorManager(options: FrontDoorManagerOptions): Manager {
  const { management, namespace, domains, drainMs, metrics = false, health = metrics, log } = options;
  const { clock = systemClock, onListening } = options;
  const cached = namespace === undefined ? {} : { namespace };
  const manager = new Manager({
    client: management,
    cache: { byKind: routeCaches().map((kind) => ({ ...kind, ...cached })) },
    metrics,
    health,
    clock,
    log,
    gracefulShutdownTimeoutMs: drainMs + shutdownMarginMs,
  });
  const findRoute = routesOf(manager.cluster.cache, { domains });
  let isAccepting = false;
  manager.addReadyCheck('front-door', () => {
    if (!isAccepting) throw new Error('the front door does not accept connections');
  });
  const start = async (signal: AbortSignal): Promise<void> => {
    const door = await FrontDoor.listen({ ...options, findRoute, clock, metrics: manager.registry });
    isAccepting = true;
    log.info('the front door accepts connections', { host: options.host, port: door.port });
    onListening?.(door);
    await aborted(signal);
    isAccepting = false;
    log.info('draining the front door', { connections: door.connections, drainMs });
    await door.close({ drainMs });
  };
  manager.add({ name: 'front-door', start }, { needsLeadership: false });
  return manager;
}
