/**
 * A series of equal events: one object on the server, with a count. Observed and written counts are separate, so that the next write
 * contains all events that occurred while a write was running or forbidden.
 */

import type { ObjectReference } from '@hangar/client/kinds/core-v1';

export interface Observation {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly action: string;
  readonly note: string;
  readonly regarding: ObjectReference;
  readonly related: ObjectReference | undefined;
}

export class Series {
  readonly first: Observation;
  readonly name: string;
  readonly firstAtMs: number;
  /** Message of the last event, which core/v1 shows. */
  note: string;
  count = 1;
  /** Wall clock, for display. */
  lastAtMs: number;
  /** Monotonic clock, for the expiry of the series. */
  seenMs: number;
  /** 0: the object does not exist on the server. */
  writtenCount = 0;
  isQueued = false;

  constructor(first: Observation, name: string, nowMs: number, monotonicMs: number) {
    this.first = first;
    this.name = name;
    this.note = first.note;
    this.firstAtMs = nowMs;
    this.lastAtMs = nowMs;
    this.seenMs = monotonicMs;
  }

  again(note: string, nowMs: number, monotonicMs: number): void {
    this.count++;
    this.note = note;
    this.lastAtMs = nowMs;
    this.seenMs = monotonicMs;
  }

  get isUnwritten(): boolean {
    return this.count > this.writtenCount;
  }
}

/** Returns the identity of a series: all fields except message, resourceVersion and time. */
export const seriesKey = ({ type, reason, action, regarding, related }: Observation): string =>
  [type, reason, action, referenceKey(regarding), related ? referenceKey(related) : ''].join('\n');

export const referenceKey = ({ apiVersion, kind, namespace, name, uid }: ObjectReference): string =>
  [apiVersion, kind, namespace ?? '', name, uid ?? ''].join(' ');
