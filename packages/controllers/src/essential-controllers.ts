/** Runs the essential controllers for all control planes of a feed: one queue for each controller, no cost for an idle control plane. */

import { hasCode, lazy } from '@hangar/core';
import type { MetricsRegistry } from '@hangar/runtime';
import type { ControllerWorld, FleetController, FleetFeed, RemoteWorld } from './contract.ts';
import { essentialControllers } from './essential-set.ts';
import { FanOut } from './runner/fan-out.ts';
import { Lane } from './runner/lane.ts';
import type { Serves } from './runner/roster.ts';

interface SetOptions {
  readonly feed: FleetFeed;
  readonly registry?: MetricsRegistry | undefined;
  /**
   * Selects the control planes that the set serves; called when a Tenant is added or changed, and by `reconsider`. Suspended ones are never
   * served. Absent: all, including the management plane; those with external controllers are served by the home controllers only.
   */
  readonly serves?: Serves | undefined;
}

export interface EssentialControllersOptions extends ControllerWorld, SetOptions {
  /** Absent: the whole essential set. */
  readonly controllers?: (world: ControllerWorld) => readonly FleetController[];
}

/** Options of a set that runs outside of the server, with `remoteControllers`. */
export interface RemoteControllersOptions extends RemoteWorld, SetOptions {
  readonly controllers: (world: RemoteWorld) => readonly FleetController[];
}

export class EssentialControllers {
  readonly #feed: FleetFeed;
  readonly #lanes: readonly Lane[];
  readonly #fanOut: FanOut;
  readonly #synced = Promise.withResolvers<void>();

  constructor(options: EssentialControllersOptions | RemoteControllersOptions) {
    const { feed, registry, serves, controllers = essentialControllers, ...world } = options;
    this.#feed = feed;
    // Both types of options include the dependencies of their controllers.
    const make = controllers as (world: RemoteWorld) => readonly FleetController[];
    this.#lanes = make(world).map((controller) => {
      const isServed = (cluster: string): boolean => this.#fanOut.isServedBy(cluster, controller);
      return new Lane({ controller, world, registry, isServed });
    });
    this.#fanOut = new FanOut({ lanes: this.#lanes, feed, serves, onSynced: () => this.#synced.resolve() });
  }

  /** Resolves when all initial objects were delivered. Never settles if it is stopped before. */
  get synced(): Promise<void> {
    return this.#synced.promise;
  }

  /** Number of requests of all controllers that are queued, delayed or running. */
  get length(): number {
    return this.#lanes.reduce((sum, { length }) => sum + length, 0);
  }

  /** Evaluates `serves` again for a control plane. No effect for one that the feed has not delivered yet. */
  reconsider(cluster: string): void {
    this.#fanOut.reconsider(cluster);
  }

  /** Reports whether all objects of the control plane were delivered since it is served. Before `synced`: apart from initial objects. */
  isTold(cluster: string): boolean {
    return this.#fanOut.isTold(cluster);
  }

  /** For a control plane that is no longer served: resolves when no work runs there, or aborted work timed out. */
  async drained(cluster: string): Promise<void> {
    await Promise.all(this.#lanes.map((lane) => lane.drained(cluster)));
  }

  /** Runs until the signal is aborted; resolves when no work runs. Can be called once. */
  async run(signal: AbortSignal): Promise<void> {
    for (const lane of this.#lanes) lane.start();
    const stop = lazy(() => Promise.all(this.#lanes.map((lane) => lane.stop(signal.reason))));
    // The feed can end later: it gives way to requests.
    const onAbort = (): void => void stop();
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      await this.#feed.follow(this.#fanOut, signal);
    } catch (error) {
      if (!signal.aborted || !hasCode(error, 'Aborted')) throw error;
    } finally {
      signal.removeEventListener('abort', onAbort);
      await stop();
    }
  }
}
