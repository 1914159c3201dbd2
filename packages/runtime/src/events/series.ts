/**
 * The same event again and again: one object on the server, with a count. What was observed and what was written of it are told
 * apart, so that however much happens while a write is under way or forbidden, the next one brings it all.
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
  /** Of the last one: what core/v1 shows. */
  note: string;
  count = 1;
  /** By the wall clock, for people. */
  lastAtMs: number;
  /** By the monotonic one, for us. */
  seenMs: number;
  /** 0: it does not exist on the server. */
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

/** What makes two of them the same: all but the words, the resourceVersion and the time. */
export const seriesKey = ({ type, reason, action, regarding, related }: Observation): string =>
  [type, reason, action, referenceKey(regarding), related ? referenceKey(related) : ''].join('\n');

export const referenceKey = ({ apiVersion, kind, namespace, name, uid }: ObjectReference): string =>
  [apiVersion, kind, namespace ?? '', name, uid ?? ''].join(' ');
