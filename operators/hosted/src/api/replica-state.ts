/**
 * The state of a replica, in annotations of the HostedControlPlane. Its creator writes `replica-of`, the id of the migration, so that etcd
 * never starts empty. All other state is in `replica`:
 *
 *     Preparing   the Secrets are created from the keys of the tenant; no phase runs
 *     Seeding     a restore makes the members of etcd from a snapshot; API servers wait
 *     Fenced      API servers can only read; controllers are stopped
 *     Active      an ordinary control plane. The issuer and the networks stay those of the tenant
 */

import { annotations } from './names.ts';
import type { HostedControlPlane } from './kinds.ts';

const phases = ['Preparing', 'Seeding', 'Fenced', 'Active'] as const;
export type ReplicaPhase = (typeof phases)[number];

export interface ReplicaState {
  /** Of the migration. */
  readonly id: string;
  readonly phase: ReplicaPhase;
  /** Number of snapshots that etcd was to be made from. Each one is a separate restore. */
  readonly attempt: number;
  /** Issuer of service account tokens. Absent: the control plane was not made from a tenant. */
  readonly issuer?: string | undefined;
  /** CA of the address of the tenant, PEM: pods of the tenant also trust it. */
  readonly servingCa?: string | undefined;
  /** Networks of cluster IPs. */
  readonly serviceCidrs?: readonly string[] | undefined;
}

type Annotated = Pick<HostedControlPlane, 'metadata'>;

/** The id of the migration that creates the control plane. */
export const replicaOf = ({ metadata }: Annotated): string | undefined => metadata.annotations?.[annotations.replicaOf];

export function replicaStateOf({ metadata }: Annotated): ReplicaState | 'malformed' | undefined {
  const text = metadata.annotations?.[annotations.replica];
  if (text === undefined) return undefined;
  try {
    const state = JSON.parse(text) as Partial<ReplicaState> | null;
    const isState =
      typeof state?.id === 'string' &&
      phases.includes(state.phase!) &&
      Number.isSafeInteger(state.attempt) &&
      ['string', 'undefined'].includes(typeof state.issuer) &&
      ['string', 'undefined'].includes(typeof state.servingCa) &&
      (state.serviceCidrs === undefined || isTexts(state.serviceCidrs));
    return isState ? (state as ReplicaState) : 'malformed';
  } catch {
    return 'malformed';
  }
}

const isTexts = (value: unknown): boolean =>
  Array.isArray(value) && value.length > 0 && value.every((one) => typeof one === 'string');

/** `everything`: no phase runs. `api-servers`: etcd can start. `controllers`: API servers can start. */
export type ReplicaHold = 'everything' | 'api-servers' | 'controllers';

/** When in doubt, nothing is started. */
export function replicaHoldOf(object: Annotated): ReplicaHold | undefined {
  const state = replicaStateOf(object);
  if (state === undefined) return replicaOf(object) === undefined ? undefined : 'everything';
  if (state === 'malformed') return 'everything';
  const holds = { Preparing: 'everything', Seeding: 'api-servers', Fenced: 'controllers', Active: undefined } as const;
  return holds[state.phase];
}

/** Reports whether API servers can only read. */
export const isFenced = (object: Annotated): boolean => replicaHoldOf(object) === 'controllers';
