/**
 * Limits the bytes that one control plane stores in a day, so that a tenant cannot fill the database:
 *
 *     bytes of the day     0 ........ wholeBytesMax ............ bytesMax ......
 *     stored form          whole      without objects            nothing
 *
 * Drivers read the volumes of the planes of a batch, ask for the form of each event, and store the changed volumes with the batch.
 */

export interface VolumeLimits {
  /** Beyond it, events of the day are stored without their objects. */
  readonly wholeBytesMax: number;
  /** Beyond it, events of the day are not stored, and have no activities. */
  readonly bytesMax: number;
}

const mib = 1024 * 1024;
export const defaultVolumeLimits: VolumeLimits = { wholeBytesMax: 256 * mib, bytesMax: 512 * mib };

/** Columns, index entries and the digest of an event or activity. */
const rowBytes = 512;

/** Data that a control plane stored on a day. */
export interface Volume {
  readonly bytes: number;
  /** Number of events that were not stored. */
  readonly dropped: number;
}

export class DayVolumes {
  readonly #limits: VolumeLimits;
  readonly #before: ReadonlyMap<string, Volume>;
  readonly #volumes = new Map<string, Volume>();

  constructor(limits: VolumeLimits, before: ReadonlyMap<string, Volume>) {
    this.#limits = limits;
    this.#before = before;
  }

  /** Returns the form of the next event of the plane; `None` counts it as dropped. */
  next(plane: string): 'Whole' | 'WithoutObjects' | 'None' {
    const { bytes, dropped } = this.#of(plane);
    if (bytes < this.#limits.wholeBytesMax) return 'Whole';
    if (bytes < this.#limits.bytesMax) return 'WithoutObjects';
    this.#volumes.set(plane, { bytes, dropped: dropped + 1 });
    return 'None';
  }

  /** Adds a row with this text. */
  add(plane: string, text: string): void {
    this.#change(plane, rowBytes + text.length);
  }

  /** Takes back a row that was added, and not stored. */
  remove(plane: string, text: string): void {
    this.#change(plane, -(rowBytes + text.length));
  }

  /** Returns the planes whose volume is another one now. */
  get changed(): ReadonlyMap<string, Volume> {
    return this.#volumes;
  }

  /** Returns the planes whose first event of the day was dropped. */
  get limited(): readonly string[] {
    return [...this.#volumes]
      .filter(([plane, { dropped }]) => dropped > 0 && (this.#before.get(plane)?.dropped ?? 0) === 0)
      .map(([plane]) => plane);
  }

  #change(plane: string, more: number): void {
    const { bytes, dropped } = this.#of(plane);
    this.#volumes.set(plane, { bytes: bytes + more, dropped });
  }

  #of(plane: string): Volume {
    return this.#volumes.get(plane) ?? this.#before.get(plane) ?? { bytes: 0, dropped: 0 };
  }
}
