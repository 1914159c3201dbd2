/** Audit events as the service stores them: the fields that queries filter by, and the text of the whole event. */

import { hash } from 'node:crypto';
import { isObject } from '@hangar/api';
import type { JsonObject } from '@hangar/api';

/** An audit event of `audit.k8s.io/v1`, as far as this service reads it. */
export type AuditEvent = JsonObject;

/**
 * Fields of an event that are columns of the database. Absent strings are empty, an absent code is 0: a filter has the same result in the
 * database and on rows.
 */
export interface EventColumns {
  readonly auditId: string;
  readonly stage: string;
  readonly verb: string;
  readonly username: string;
  readonly apiGroup: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  readonly code: number;
}

/** An event with its place: the control plane, and the time of its stage. */
export interface EventRow extends EventColumns {
  /** Control plane that recorded the event; `root` for the management plane. */
  readonly plane: string;
  /** Time of the stage in microseconds since 1970. */
  readonly timeUs: number;
  /** Identifies the event in its plane: a repeated delivery has the same digest. 16 bytes. */
  readonly digest: Uint8Array;
  /** JSON. */
  readonly text: string;
}

/** Name of the management plane in `plane`. */
export const managementPlane = 'root';

export const stringOf = (value: unknown): string => (typeof value === 'string' ? value : '');
export const objectOf = (value: unknown): JsonObject => (isObject(value) ? value : {});

/** Returns text that every database can store: without lone surrogates and NUL. */
export const storable = (text: string): string => text.toWellFormed().replaceAll('\0', '\uFFFD');

/** Names of objects and users are shorter. A client can send longer ones, and the text of the event has them. */
const columnLengthMax = 1_024;

/** Returns the first characters of text, as every database can store them. */
export const bounded = (text: string, lengthMax = columnLengthMax): string => storable(text.slice(0, lengthMax));

const column = (value: unknown): string => bounded(stringOf(value));

export function columnsOf(event: AuditEvent): EventColumns {
  const reference = objectOf(event['objectRef']);
  const code = objectOf(event['responseStatus'])['code'];
  return {
    auditId: column(event['auditID']),
    stage: column(event['stage']),
    verb: column(event['verb']),
    username: column(objectOf(event['user'])['username']),
    apiGroup: column(reference['apiGroup']),
    resource: column(reference['resource']),
    subresource: column(reference['subresource']),
    namespace: column(reference['namespace']),
    name: column(reference['name']),
    code: typeof code === 'number' && Number.isInteger(code) && Math.abs(code) < 1e6 ? code : 0,
  };
}

/**
 * Returns the identity of an event. Clients choose audit IDs (the header `Audit-ID`), so an audit ID and a stage alone do not identify an
 * event: a user who sends every request with the same ID would hide all but the first. The digest covers the whole event, which senders
 * repeat unchanged.
 */
export const digestOf = (plane: string, text: string): Uint8Array =>
  hash('sha256', `${plane}\n${text}`, 'buffer').subarray(0, 16);

const timePattern = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)$/;

/** Parses a time of RFC 3339 to microseconds since 1970, cutting off smaller parts; undefined if it is none. */
export function microsecondsOf(text: string): number | undefined {
  const parts = timePattern.exec(text);
  if (!parts) return undefined;
  const ms = Date.parse(`${parts[1]}${parts[3]}`);
  if (Number.isNaN(ms)) return undefined;
  return ms * 1_000 + Number((parts[2] ?? '').slice(0, 6).padEnd(6, '0'));
}

/** Formats microseconds since 1970 as MicroTime of Kubernetes. */
export function microTime(us: number): string {
  const seconds = Math.floor(us / 1_000_000);
  const rest = String(us - seconds * 1_000_000).padStart(6, '0');
  return new Date(seconds * 1_000).toISOString().replace('.000Z', `.${rest}Z`);
}
