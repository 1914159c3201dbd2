/** Work for the controllers of one control plane, and its duration. */

import type { Client } from '@hangar/client';
import { defaultAccounts } from './accounts.ts';
import { garbageCollection } from './garbage.ts';
import { namespaceDeletion } from './namespace.ts';
import type { Plane } from './planes.ts';

export interface Work {
  readonly name: string;
  readonly isOurs: boolean;
  readonly objects: number;
  /** Milliseconds of each round. */
  readonly namespace: readonly number[];
  readonly background: readonly number[];
  readonly foreground: readonly number[];
  /** Sorted. */
  readonly accounts: readonly number[];
}

/** Controllers that have just been started must list first. */
export async function warmUp(client: Client): Promise<void> {
  await defaultAccounts(client, 'warm-account', 1);
  await namespaceDeletion(client, 'warm-namespace', 10);
  await garbageCollection(client, { namespace: 'warm-garbage', dependents: 10, propagationPolicy: 'Background' });
}

export interface WorkSizes {
  readonly objects: number;
  readonly rounds: number;
  readonly accounts: number;
}

export async function measureWork(plane: Plane, sizes: WorkSizes): Promise<Work> {
  const { name, client, isOurs, roundsMax = Infinity } = plane;
  const { objects } = sizes;
  const rounds = Math.min(sizes.rounds, roundsMax);
  const [namespace, background, foreground]: [number[], number[], number[]] = [[], [], []];
  for (let round = 0; round < rounds; round++) {
    namespace.push(await namespaceDeletion(client, `namespace-${round}`, objects));
    const collect = (policy: 'Background' | 'Foreground'): Promise<number> =>
      garbageCollection(client, {
        namespace: `${policy.toLowerCase()}-${round}`,
        dependents: objects,
        propagationPolicy: policy,
      });
    background.push(await collect('Background'));
    foreground.push(await collect('Foreground'));
  }
  const accounts = await defaultAccounts(client, 'account', sizes.accounts);
  return { name, isOurs, objects, namespace, background, foreground, accounts };
}
