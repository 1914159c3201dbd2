/**
 * Reports unowned clusters in a condition of an object of each cluster, such as its registration: `ShardOwned` is False with the reason
 * `NoOwner`, and True again when the cluster has an owner. Every peer may write it; an unchanged condition is not written again.
 */

import type { ApiObject, Client, Kind, ObjectKey } from '@hangar/client';
import { hasCode, sleep, systemClock } from '@hangar/core';
import type { Clock, Logger } from '@hangar/core';
import type { ClusterName } from '../../cluster.ts';
import { setCondition } from '../../helpers/conditions.ts';
import type { Condition } from '../../helpers/conditions.ts';
import { retryOnConflict } from '../../helpers/retry-on-conflict.ts';
import { bounded } from '../../bounded.ts';

export const shardOwned = 'ShardOwned';

export interface OwnershipConditionOptions<T extends ApiObject> {
  readonly client: Client;
  readonly kind: Kind<T>;
  /** Returns the key of the object that represents a cluster. */
  readonly keyOf: (cluster: ClusterName) => ObjectKey;
  /** Aborts running writes. */
  readonly signal: AbortSignal;
  readonly clock?: Clock;
  readonly log?: Logger;
}

const requestTimeoutMs = 10_000;
const retryMs = 5_000;

/** Returns a function for `onUnowned` of a coordinator that writes the condition `ShardOwned` to the objects of clusters. */
export function ownershipCondition<T extends ApiObject>(
  options: OwnershipConditionOptions<T>,
): (names: readonly ClusterName[]) => void {
  const { signal, log, clock = systemClock } = options;
  /** Conditions that are not written yet. */
  const wanted = new Map<ClusterName, boolean>();
  let unowned: ReadonlySet<ClusterName> = new Set();
  let isBusy = false;

  const sayAll = async (): Promise<void> => {
    while (wanted.size > 0 && !signal.aborted) {
      let failed = 0;
      for (const [name, isOwned] of Array.from(wanted)) {
        try {
          await bounded({ clock, timeoutMs: requestTimeoutMs, signal }, (signal) =>
            say(options, name, isOwned, signal),
          );
          if (wanted.get(name) === isOwned) wanted.delete(name);
        } catch (error) {
          if (signal.aborted) return;
          failed++;
          log?.warn('failed to update the condition ShardOwned of a cluster', { cluster: name, error });
        }
      }
      if (failed > 0) await sleep(clock, retryMs, signal).catch(() => {});
    }
  };

  return (names) => {
    const next = new Set(names);
    for (const name of next) if (!unowned.has(name)) wanted.set(name, false);
    for (const name of unowned) if (!next.has(name)) wanted.set(name, true);
    unowned = next;
    if (isBusy) return;
    isBusy = true;
    void sayAll().finally(() => (isBusy = false));
  };
}

type WithConditions = ApiObject & { status?: { conditions?: Condition[] } };

async function say<T extends ApiObject>(
  { client, kind, keyOf, clock = systemClock }: OwnershipConditionOptions<T>,
  name: ClusterName,
  isOwned: boolean,
  signal: AbortSignal,
): Promise<void> {
  const attempt = async (): Promise<void> => {
    const object = (await client.get(kind, keyOf(name), { signal })) as WithConditions;
    const { status } = object;
    const conditions = setCondition(
      status?.conditions,
      isOwned
        ? { type: shardOwned, status: true, reason: 'Owned', message: 'A process owns this cluster.' }
        : {
            type: shardOwned,
            status: false,
            reason: 'NoOwner',
            message: 'No process has confirmed the ownership of this cluster.',
          },
      clock,
    );
    if (conditions === status?.conditions) return;
    await client.status.update(
      kind as Kind<WithConditions>,
      { ...object, status: { ...status, conditions } },
      { signal },
    );
  };
  try {
    await retryOnConflict(attempt, { signal, clock });
  } catch (error) {
    if (!hasCode(error, 'NotFound')) throw error;
  }
}
