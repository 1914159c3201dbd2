/**
 * One service of one cluster, over all its starts and stops here: never two at a time. The wanted state may change at any moment; the next
 * start waits until the previous run has ended.
 *
 *   empty ──wanted──▶ announced ──the condition is written──▶ serving ──not wanted──▶ ending ──▶ empty
 */

import type { Engine, FleetCluster, Service, ServiceState, Serving, SourceObject } from '../contract.ts';
import type { Ownership } from '@hangar/runtime/clusters';
import { ofService } from '../fleet/index.ts';

/** Receives the states of services, to be written to the management plane. */
export interface Announcements {
  tell(source: SourceObject, service: Service, state: ServiceState): void;
  /** Removes the condition: the service is no longer requested. */
  remove(source: SourceObject, service: Service): void;
  /**
   * Resolves when the first reported condition is written, or when the management plane was unavailable for a while. A refusal is reported
   * (`onRefused`) and retried: a service must not start while other replicas cannot see its condition. Never rejects.
   */
  written(source: SourceObject, service: Service, onRefused: (why: string) => void): Promise<void>;
  /** Hands the condition over: nothing is written after the promise resolves, and the condition stays. Never rejects. */
  forget(source: SourceObject, service: Service): Promise<void>;
}

export interface SeatOptions {
  readonly service: Service;
  readonly engine: Engine;
  readonly announcements: Announcements;
  /** Reports whether no other member writes the object's condition. */
  readonly isOurs: (source: SourceObject) => boolean;
  /** After each change of `state`. */
  readonly onState: () => void;
}

interface Wanted {
  readonly cluster: FleetCluster;
  readonly source: SourceObject;
  readonly ownership: Ownership;
}

const onItsWay: ServiceState = {
  phase: 'Starting',
  reason: 'Starting',
  message: 'waiting for the service to start',
  restarts: 0,
};

export class Seat {
  readonly engine: Engine;
  readonly #options: SeatOptions;
  #wanted: Wanted | undefined;
  /** The cluster and ownership that runs or is about to. */
  #given: Wanted | undefined;
  #serving: Serving | undefined;
  #ending: Promise<void> | undefined;
  #state: ServiceState | undefined;

  constructor(options: SeatOptions) {
    this.#options = options;
    this.engine = options.engine;
  }

  /** Undefined: nothing runs or is about to. */
  get state(): ServiceState | undefined {
    return this.#state;
  }

  /** For another cluster of the same name or another ownership: matching parts are kept, everything else restarts. */
  want(cluster: FleetCluster, ownership: Ownership): void {
    const own = ofService(cluster, this.#options.service);
    this.#wanted = { cluster: own, ownership, source: own.source };
    if (this.#ending) return;
    if (!this.#given) return this.#begin();
    const isSame = this.#given.source.uid === this.#wanted.source.uid && this.#given.ownership === ownership;
    if (!isSame) return this.#end();
    this.#given = this.#wanted;
    this.#serving?.update(own);
  }

  /** Nothing runs after the promise resolves, unless it was wanted again. */
  async leave(): Promise<void> {
    this.#wanted = undefined;
    if (this.#given && !this.#ending) this.#end();
    await this.#ending;
  }

  #begin(): void {
    const given = (this.#given = this.#wanted!);
    const { service, announcements } = this.#options;
    this.#report(given, onItsWay);
    const refused = (why: string): void => {
      const isWaiting = this.#given && !this.#serving && !this.#ending && isSameAs(this.#given, given);
      if (isWaiting)
        this.#report(given, { ...onItsWay, phase: 'Waiting', reason: 'ConditionWriteFailed', message: why });
    };
    void announcements.written(given.source, service, refused).then(() => {
      if (!this.#given || this.#ending || this.#serving || !isSameAs(this.#given, given)) return;
      this.#serve(this.#given);
    });
  }

  #serve(given: Wanted): void {
    const { service, engine } = this.#options;
    const { cluster, ownership } = given;
    const report = (state: ServiceState): void => {
      if (this.#given && isSameAs(this.#given, given)) this.#report(this.#given, state);
    };
    this.#serving = engine.serve({ cluster, service, ownership, report });
  }

  #end(): void {
    const { announcements, service, isOurs } = this.#options;
    const { source } = this.#given!;
    const stopped = this.#serving?.stop() ?? Promise.resolve();
    // A pending write must not overwrite the condition of the next owner.
    const silent = stopped.then(() => (isOurs(source) ? announcements.forget(source, service) : undefined));
    this.#ending = silent.then(() => {
      this.#ending = undefined;
      this.#serving = undefined;
      this.#given = undefined;
      this.#state = undefined;
      if (this.#wanted) this.#begin();
      else this.#options.onState();
    });
  }

  #report({ source }: Wanted, state: ServiceState): void {
    this.#state = state;
    const { announcements, service, onState } = this.#options;
    // A stop is visible by the removal of the condition. A handoff is not written to it.
    if (state.phase !== 'Stopping') announcements.tell(source, service, state);
    onState();
  }
}

const isSameAs = (one: Wanted, other: Wanted): boolean =>
  one.ownership === other.ownership && one.source.uid === other.source.uid;
