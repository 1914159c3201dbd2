/**
 * The essential controllers at work on all control planes of a feed: one queue for each controller, nothing for a control plane in
 * which nothing happens.
 */

import { hasCode } from '@hangar/core';
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
   * Which control planes the set serves; asked whenever a Tenant comes or changes, and by `reconsider`. Suspended ones it never does.
   * Absent: all, the management plane included; those that others serve with the controllers that stay at home.
   */
  readonly serves?: Serves | undefined;
}

export interface EssentialControllersOptions extends ControllerWorld, SetOptions {
  /** Absent: all of the essential set. */
  readonly controllers?: (world: ControllerWorld) => readonly FleetController[];
}

/** Of a set that works from outside, with `remoteControllers`. */
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
    // Either kind of options has the world that its controllers are made with.
    const make = controllers as (world: RemoteWorld) => readonly FleetController[];
    this.#lanes = make(world).map((controller) => {
      const isServed = (cluster: string): boolean => this.#fanOut.isServedBy(cluster, controller);
      return new Lane({ controller, world, registry, isServed });
    });
    this.#fanOut = new FanOut({ lanes: this.#lanes, feed, serves, onSynced: () => this.#synced.resolve() });
  }

  /** Everything that there was when it began has been told. Never settles when it is stopped before. */
  get synced(): Promise<void> {
    return this.#synced.promise;
  }

  /** Requests of all controllers that are queued, delayed or under way. */
  get length(): number {
    return this.#lanes.reduce((sum, { length }) => sum + length, 0);
  }

  /** What `serves` says of it may be something else now. Of one that the feed has not told yet, nothing is to be done. */
  reconsider(cluster: string): void {
    this.#fanOut.reconsider(cluster);
  }

  /** Was all that it had stored when it was taken up told? Before everything is (`synced`): apart from what comes with that. */
  isTold(cluster: string): boolean {
    return this.#fanOut.isTold(cluster);
  }

  /** Of a control plane that is no longer served: resolves when nothing is under way there, or does not end though it was aborted. */
  async drained(cluster: string): Promise<void> {
    await Promise.all(this.#lanes.map((lane) => lane.drained(cluster)));
  }

  /** Works until the signal; resolves when nothing is under way any more. Once. */
  async run(signal: AbortSignal): Promise<void> {
    for (const lane of this.#lanes) lane.start();
    try {
      await this.#feed.follow(this.#fanOut, signal);
    } catch (error) {
      if (!signal.aborted || !hasCode(error, 'Aborted')) throw error;
    } finally {
      await Promise.all(this.#lanes.map((lane) => lane.stop(signal.reason)));
    }
  }
}
