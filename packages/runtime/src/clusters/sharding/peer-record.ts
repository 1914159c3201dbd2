/** The record of a peer in its lease: identity, acknowledged epoch, draining clusters, held clusters. */

import { isObject } from '@hangar/api/json';
import { asFinite, asText } from './fields.ts';

/**
 * active: takes part, or wants to. leaving: must not be admitted again. gone: holds nothing and never will; written by the peer itself on
 * exit, or by another one after the lease expired. Only a new life overwrites it.
 */
export type PeerState = 'active' | 'leaving' | 'gone';

/** The peer has observed this epoch. It does not work on clusters of other members in it, except those in `draining`. */
export interface Acknowledgement {
  readonly ring: string;
  readonly epoch: number;
}

export interface PeerRecord {
  readonly name: string;
  /** Id of this life. */
  readonly id: string;
  readonly state: PeerState;
  /** Peer that wrote `gone`, if it was another one. */
  readonly endedBy?: string;
  readonly weight: number;
  readonly shard?: string;
  readonly selector?: string;
  /** Time without a renewal that other peers must wait, as the peer assumes. */
  readonly leaseMs: number;
  readonly acknowledged?: Acknowledgement;
  /** Highest epoch that it has observed, in any ring. */
  readonly epochMax: number;
  /** Hashes of released clusters with running work; 'all': too many to list. */
  readonly draining: readonly string[] | 'all';
  /** Filter of the held clusters (`held-filter.ts`). */
  readonly held?: string;
  /** Number of held clusters. */
  readonly heldCount: number;
}

export const unreadableId = '';

/** Stands for a lease that cannot be decoded: its peer may hold any cluster until it expires. */
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

/** 12 characters each: far below the limit of 256 KiB for annotations. */
const drainingLengthMax = 2_000;

export function encodeRecord(record: PeerRecord): string {
  const { draining } = record;
  return JSON.stringify(draining.length > drainingLengthMax ? { ...record, draining: 'all' } : record);
}

/** Returns undefined unless the text is a record of that peer. */
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
