/** The content of an event, adjusted to the limits of servers. */

import { dnsSubdomainReasons } from '@hangar/api/formats';
import type { ApiObject } from '@hangar/client';
import type { ObjectReference } from '@hangar/client/kinds/core-v1';
import type { Random } from '@hangar/core';
import type { Observation } from './series.ts';

/** Content of an Event. */
export interface EventDetails {
  /** Absent: `Normal`. */
  readonly type?: 'Normal' | 'Warning';
  /** Machine-readable reason in CamelCase: `ScaledUp`. */
  readonly reason: string;
  /** Human-readable message. Truncated after 1 KiB. */
  readonly note: string;
  /** Action that was taken or failed, in CamelCase. Absent: the reason. */
  readonly action?: string;
  /** A secondary object. */
  readonly related?: ApiObject;
}

const noteBytesMax = 1024;
const wordBytesMax = 128;
const nameLengthMax = 253;

/** Returns undefined for an object without name or kind. */
export function observationOf(regarding: ApiObject, details: EventDetails): Observation | undefined {
  const reference = referenceTo(regarding);
  if (!reference || details.reason === '') return undefined;
  const reason = cut(details.reason, wordBytesMax);
  return {
    type: details.type ?? 'Normal',
    reason,
    action: details.action ? cut(details.action, wordBytesMax) : reason,
    note: cut(details.note, noteBytesMax),
    regarding: reference,
    related: details.related && referenceTo(details.related),
  };
}

function referenceTo({ apiVersion, kind, metadata }: ApiObject): ObjectReference | undefined {
  const { namespace, name, uid, resourceVersion } = metadata;
  if (!name || !kind || !apiVersion) return undefined;
  return {
    apiVersion,
    kind,
    name,
    ...(namespace ? { namespace } : {}),
    ...(uid ? { uid } : {}),
    ...(resourceVersion ? { resourceVersion } : {}),
  };
}

/** Truncates to this number of bytes of UTF-8 at a character boundary, with three dots at the end. */
export function cut(text: string, bytesMax: number): string {
  if (text.length * 3 <= bytesMax || Buffer.byteLength(text) <= bytesMax) return text;
  // Only the needed prefix is encoded: a note may be megabytes.
  const bytes = Buffer.from(text.slice(0, bytesMax));
  let end = bytesMax - 3;
  while (end > 0 && (bytes[end]! & 0xc0) === 0x80) end--;
  return `${bytes.toString('utf8', 0, end)}...`;
}

/** `name.17f…`, as in Kubernetes: the time in nanoseconds, with random last digits. */
export function eventName(about: string, nowMs: number, random: Random): string {
  const nanos = (BigInt(Math.floor(nowMs)) * 1_000_000n + BigInt(random.below(1_000_000))).toString(16);
  const name = `${about}.${nanos}`;
  if (name.length <= nameLengthMax && dnsSubdomainReasons(name).length === 0) return name;
  // Names of roles and similar kinds may not be valid names of events.
  return `event-${Buffer.from(random.bytes(8)).toString('hex')}.${nanos}`;
}
