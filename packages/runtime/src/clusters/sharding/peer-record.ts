/** What a peer says of itself in its lease: who it is, what it has acknowledged, what it still drains, what it has. */

import { isObject } from '@hangar/api/json';
import { asFinite, asText } from './fields.ts';

/**
 * active: takes part, or wants to. leaving: on its way out, must not be let in again. gone: it holds nothing and never will; said
 * by itself at the end, or by another one after the lease ran out. Nobody writes over that but a new life.
 */
export type PeerState = 'active' | 'leaving' | 'gone';

/** "I have seen this epoch. What is not mine in it I do not work on, except what I say that I drain." */
export interface Acknowledgement {
  readonly ring: string;
  readonly epoch: number;
}

export interface PeerRecord {
  readonly name: string;
  /** Of this life. */
  readonly id: string;
  readonly state: PeerState;
  /** Who said `gone`, when it was not the peer. */
  readonly endedBy?: string;
  readonly weight: number;
  readonly shard?: string;
  readonly selector?: string;
  /** What others must wait for, as the peer counts on it. */
  readonly leaseMs: number;
  readonly acknowledged?: Acknowledgement;
  /** The highest epoch that it knows of, of whatever ring. */
  readonly epochMax: number;
  /** Hashes of clusters that it gave up and where work is still under way; 'all': too many to say. */
  readonly draining: readonly string[] | 'all';
  /** Which clusters it has (`held-filter.ts`). */
  readonly held?: string;
  /** How many. */
  readonly heldCount: number;
}

export const unreadableId = '';

/** Of a lease that cannot be read: somebody's, who may hold anything until it runs out. */
export const unreadableRecord = (name: string, leaseMs: number): PeerRecord => ({
  name,
  id: unreadableId,
  state: 'active',
  weight: 0,
  leaseMs,
  epochMax: 0,
  draining: 'all',
  heldCount: 0,
});

/** 12 characters each: far below the 256 KiB that annotations may have. */
const drainingLengthMax = 2_000;

export function encodeRecord(record: PeerRecord): string {
  const { draining } = record;
  return JSON.stringify(draining.length > drainingLengthMax ? { ...record, draining: 'all' } : record);
}

/** Undefined for what is not a record of that peer. */
export function decodeRecord(text: string | undefined, name: string): PeerRecord | undefined {
  try {
    const value: unknown = JSON.parse(text ?? '');
    return isObject(value) && value['name'] === name ? recordOf(value) : undefined;
  } catch {
    return undefined;
  }
}

function recordOf(value: Record<string, unknown>): PeerRecord {
  const { state, draining, acknowledged } = value;
  if (state !== 'active' && state !== 'leaving' && state !== 'gone') throw new TypeError('no state');
  return {
    name: asText(value['name']),
    id: asText(value['id']),
    state,
    weight: asFinite(value['weight']),
    leaseMs: asFinite(value['leaseMs']),
    epochMax: asFinite(value['epochMax']),
    draining: Array.isArray(draining) ? draining.map(asText) : 'all',
    heldCount: asFinite(value['heldCount']),
    ...(isObject(acknowledged)
      ? { acknowledged: { ring: asText(acknowledged['ring']), epoch: asFinite(acknowledged['epoch']) } }
      : {}),
    ...optionalTexts(value),
  };
}

function optionalTexts(value: Record<string, unknown>): Partial<PeerRecord> {
  const texts: Record<string, string> = {};
  for (const name of ['endedBy', 'shard', 'selector', 'held']) {
    if (value[name] !== undefined) texts[name] = asText(value[name]);
  }
  return texts;
}
