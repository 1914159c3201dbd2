/** Runs the essential set, or a part of it, on a fleet in the process of the test. */

import { defineKind } from '@hangar/client';
import type { UnknownObject } from '@hangar/client';
import { Logger, systemClock, systemRandom } from '@hangar/core';
import type { Clock } from '@hangar/core';
import type { MetricsRegistry } from '@hangar/runtime';
import { Tenant } from '@hangar/testkit';
import type { TestFleet } from '@hangar/testkit';
import { rootCluster } from '../contract.ts';
import type { ClusterKeys, ControllerWorld, FleetController, FleetFeed } from '../contract.ts';
import { EssentialControllers } from '../essential-controllers.ts';
import type { Serves } from '../runner/roster.ts';

export interface RunControllersOptions {
  /** Absent: the whole essential set. */
  readonly controllers?: (world: ControllerWorld) => readonly FleetController[];
  /** Absent: the system clock. Use that of the fleet. */
  readonly clock?: Clock;
  readonly registry?: MetricsRegistry;
  /** Absent: the feed of the fleet. */
  readonly feed?: FleetFeed;
  /** Absent: administrator clients of the fleet. */
  readonly clientOf?: ControllerWorld['clientOf'];
  readonly keysOf?: ControllerWorld['keysOf'];
  /** Absent: all are served. */
  readonly serves?: Serves;
  /** Absent: no log. */
  readonly log?: Logger;
}

export interface RunningControllers extends AsyncDisposable {
  readonly set: EssentialControllers;
  /** Resolves when all initial objects were delivered. */
  readonly synced: Promise<void>;
  /** Resolves when running work has finished. */
  stop(): Promise<void>;
}

export function runControllers(fleet: TestFleet, options: RunControllersOptions = {}): RunningControllers {
  const { clock = systemClock, controllers, registry } = options;
  const stopping = new AbortController();
  const set = new EssentialControllers({
    feed: options.feed ?? fleet.feed(),
    clientOf: options.clientOf ?? ((cluster) => (cluster === rootCluster ? fleet.client : fleet.clientOf(cluster))),
    keysOf: options.keysOf ?? ((cluster) => testKeysOf(fleet, cluster)),
    clock,
    random: systemRandom,
    log: options.log ?? new Logger({ level: 'silent', format: 'text', clock }),
    registry,
    serves: options.serves,
    ...(controllers ? { controllers } : {}),
  });
  const running = set.run(stopping.signal);
  const stop = async (): Promise<void> => {
    stopping.abort();
    await running;
  };
  return { set, synced: set.synced, stop, [Symbol.asyncDispose]: stop };
}

const TenantKeys = defineKind<UnknownObject & { status: Omit<ClusterKeys, 'servingCa' | 'url'> }>({
  apiVersion: Tenant.apiVersion,
  kind: 'TenantKeys',
  plural: Tenant.plural,
  isNamespaced: false,
});

/** Returns keys as the management plane does. A fleet in process has no port: its address and CA are placeholders. */
export async function testKeysOf(fleet: TestFleet, cluster: string): Promise<ClusterKeys> {
  const keys = await fleet.client
    .subresource('keys')
    .create<{ status: Omit<ClusterKeys, 'servingCa' | 'url'> }>(TenantKeys, { name: cluster }, {});
  const { authority, serviceAccountKey, serviceAccountIssuer } = keys.status;
  const servingCa = authority.certificate;
  return { authority, serviceAccountKey, serviceAccountIssuer, servingCa, url: serviceAccountIssuer };
}

export interface EventuallyOptions {
  readonly withinMs?: number;
}

/** Repeats the call until it neither throws nor returns false, and returns its result. Fails with the last error. */
export async function eventually<T>(
  ask: () => T | Promise<T>,
  { withinMs = 30_000 }: EventuallyOptions = {},
): Promise<Exclude<T, false>> {
  const endMs = performance.now() + withinMs;
  for (;;) {
    try {
      const answer = await ask();
      if (answer !== false) return answer as Exclude<T, false>;
      throw new Error(`not so within ${withinMs} ms`);
    } catch (error) {
      if (performance.now() > endMs) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
