/**
 * The essential controllers at work on all control planes of a feed: one queue for each controller, nothing for a control plane in
 * which nothing happens.
 */

import { hasCode } from '@hangar/core';
import type { MetricsRegistry } from '@hangar/runtime';
import type { ControllerWorld, FleetController, FleetFeed } from './contract.ts';
import { essentialControllers } from './essential-set.ts';
import { FanOut } from './runner/fan-out.ts';
import { Lane } from './runner/lane.ts';

export interface EssentialControllersOptions extends ControllerWorld {
  readonly feed: FleetFeed;
  readonly registry?: MetricsRegistry | undefined;
  /** Absent: all of the essential set. */
  readonly controllers?: (world: ControllerWorld) => readonly FleetController[];
}

export class EssentialControllers {
  readonly #feed: FleetFeed;
  readonly #lanes: readonly Lane[];
  readonly #fanOut: FanOut;
  readonly #synced = Promise.withResolvers<void>();

  constructor({ feed, registry, controllers = essentialControllers, ...world }: EssentialControllersOptions) {
    this.#feed = feed;
    const isServed = (cluster: string): boolean => this.#fanOut.isServed(cluster);
    this.#lanes = controllers(world).map((controller) => new Lane({ controller, world, registry, isServed }));
    this.#fanOut = new FanOut({ lanes: this.#lanes, feed, onSynced: () => this.#synced.resolve() });
  }

  /** Everything that there was when it began has been told. Never settles when it is stopped before. */
  get synced(): Promise<void> {
    return this.#synced.promise;
  }

  /** Requests of all controllers that are queued, delayed or under way. */
  get length(): number {
    return this.#lanes.reduce((sum, { length }) => sum + length, 0);
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
