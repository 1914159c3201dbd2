/**
 * One service of one cluster, over all the times that it is begun and ended here: never two at a time. What is wanted may change at any
 * moment; what runs follows as soon as what ran before has gone.
 *
 *   empty ──wanted──▶ announced ──the condition is written──▶ serving ──not wanted──▶ ending ──▶ empty
 */

import type { Engine, FleetCluster, Service, ServiceState, Serving, SourceObject } from '../contract.ts';
import type { Ownership } from '@hangar/runtime/clusters';
import { ofService } from '../fleet/index.ts';

/** What the registry tells of states, to be seen in the management plane. */
export interface Announcements {
  tell(source: SourceObject, service: Service, state: ServiceState): void;
  /** Nobody asks for the service any more. */
  remove(source: SourceObject, service: Service): void;
  /**
   * The first that was told is written, or the management plane has been away for a while. One that refuses says so (`onRefused`), and is
   * asked on: nobody may begin whom others cannot see. Never rejects.
   */
  written(source: SourceObject, service: Service, onRefused: (why: string) => void): Promise<void>;
  /** Somebody else tells of it from now on: nothing is written after what this resolves with, and what is there stays. Never rejects. */
  forget(source: SourceObject, service: Service): Promise<void>;
}

export interface SeatOptions {
  readonly service: Service;
  readonly engine: Engine;
  readonly announcements: Announcements;
  /** Nobody else tells of the object's condition meanwhile. */
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
  /** Of what runs, or is about to. */
  #given: Wanted | undefined;
  #serving: Serving | undefined;
  #ending: Promise<void> | undefined;
  #state: ServiceState | undefined;

  constructor(options: SeatOptions) {
    this.#options = options;
    this.engine = options.engine;
  }

  /** Undefined: nothing runs and nothing is about to. */
  get state(): ServiceState | undefined {
    return this.#state;
  }

  /** Another cluster of the same name, another right: whatever fits is kept, everything else begins anew. */
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

  /** Nothing runs after what this resolves with, unless it was wanted again. */
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
    // What was told last and not written yet must not overwrite what the next one says.
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
    // What ends says so itself, by going. A hand-over is no news for whoever reads the condition.
    if (state.phase !== 'Stopping') announcements.tell(source, service, state);
    onState();
  }
}

const isSameAs = (one: Wanted, other: Wanted): boolean =>
  one.ownership === other.ownership && one.source.uid === other.source.uid;
