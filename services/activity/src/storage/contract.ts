/**
 * The contract of a database of audit events and activities. `conformance/` has one test suite for every driver.
 *
 * One writer appends batches. A batch is committed as a whole: `append` resolves after the commit is durable. Events are partitioned by the
 * day of their time, activities by the day of their commit; `retain` drops whole partitions.
 *
 * Every activity has a version. Versions increase in the order of commits, and a reader that sees a version also sees all lower ones.
 */

import type { EventColumns, EventRow } from '../events/event.ts';
import type { SqlFilter } from '../filter/sql.ts';
import type { VolumeLimits } from './volume.ts';

/** A control plane whose events are visible, from a time on: an earlier control plane of the same name belonged to another owner. */
export interface VisiblePlane {
  readonly name: string;
  readonly sinceUs: number;
}

/** `all`: events of every control plane. */
export type VisiblePlanes = 'all' | readonly VisiblePlane[];

/** Makes the activity of an event. */
export interface ActivityDraft {
  /** Identity of the changed object in its plane, if values of it are remembered. */
  readonly objectKey: string | undefined;
  /** Values that are remembered for the next event of the object; undefined: the known ones stay. */
  readonly remembered: Readonly<Record<string, unknown>> | undefined;
  /** Returns the activity as JSON; undefined: the event is not an activity. `previous`: the remembered values. */
  render(previous: Readonly<Record<string, unknown>>): string | undefined;
}

export interface NewEvent {
  readonly row: EventRow;
  /** Returns the text of the event without its objects. */
  withoutObjects(): string;
  readonly draft: ActivityDraft | undefined;
}

export interface Appended {
  /** Number of events that were not stored before. */
  readonly added: number;
  /** Version of the last activity. */
  readonly version: number;
  /** Planes with new activities. */
  readonly changedPlanes: readonly string[];
  /** Planes that reached their limit of the day: their further events of the day are not stored. */
  readonly limitedPlanes: readonly string[];
}

export interface RetainOptions {
  /** Partitions that are entirely before this time are dropped. */
  readonly beforeUs: number;
  /** Partitions of earlier days are dropped, oldest first, while the database is larger than `bytesMax`. */
  readonly nowUs: number;
  readonly bytesMax: number;
}

/** Position in the order of query results: newest first. */
export interface EventPosition {
  readonly timeUs: number;
  readonly sequence: number;
}

export interface EventQuery {
  readonly planes: VisiblePlanes;
  /** Inclusive. */
  readonly startUs: number;
  /** Exclusive. */
  readonly endUs: number;
  /** Only events that come later in the results, which are older. */
  readonly after: EventPosition | undefined;
  readonly filter: SqlFilter | undefined;
  /** Maximum number of returned events. */
  readonly limit: number;
  /** Maximum number of events that one call examines. */
  readonly scanMax: number;
  /** A call stops reading after events whose texts have this size together. */
  readonly bytesMax: number;
}

export interface FoundEvent extends EventPosition {
  readonly plane: string;
  readonly columns: EventColumns;
  readonly text: string;
}

export interface EventPage {
  readonly events: readonly FoundEvent[];
  /** Position of the last examined event; undefined: there are no more events. */
  readonly next: EventPosition | undefined;
}

export interface ActivityQuery {
  readonly planes: VisiblePlanes;
  /** Exclusive. */
  readonly afterVersion: number;
  /** Inclusive; absent: all. */
  readonly upToVersion?: number | undefined;
  readonly limit: number;
}

export interface StoredActivity {
  readonly version: number;
  readonly plane: string;
  readonly text: string;
}

export interface ActivityPage {
  /** In the order of their versions. */
  readonly activities: readonly StoredActivity[];
  /** The current version. */
  readonly version: number;
  /** Activities up to this version may have been dropped. */
  readonly floor: number;
}

export interface EventDatabase {
  /** Stores the events that are not stored yet, and their activities, within the limits of each control plane. `nowUs`: the time of the commit. */
  append(events: readonly NewEvent[], nowUs: number, limits?: VolumeLimits): Promise<Appended>;
  query(query: EventQuery): Promise<EventPage>;
  activities(query: ActivityQuery): Promise<ActivityPage>;
  /** Returns the number of activities that `activities` would return, at most `limit`. */
  countActivities(query: ActivityQuery): Promise<number>;
  activity(version: number, planes: VisiblePlanes): Promise<StoredActivity | undefined>;
  /** Returns a secret that is the same for all users of the database. */
  secret(): Promise<Uint8Array>;
  /** Drops partitions. Returns false if the database is still larger than the limit: the current day is not dropped. */
  retain(options: RetainOptions): Promise<boolean>;
  close(): Promise<void>;
}

const dayUs = 86_400_000_000;

/** Returns the number of the day since 1970: the name of a partition. */
export const dayOf = (timeUs: number): number => Math.floor(timeUs / dayUs);
export const startOfDay = (day: number): number => day * dayUs;
