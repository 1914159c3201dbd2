/**
 * Final usage of destroyed tenants, for billing: their records are deleted with them. It is computed before the deletion, and reported
 * after it, by the server that deletes.
 */

import { asError } from '@hangar/core';
import type { Allocation } from '../../allocation/allocation.ts';
import type { Tenant, TenantSpec } from '../tenant.ts';
import type { LastUsage } from './last-usage.ts';

export interface LastUsagesOptions {
  readonly usageOf: (path: string) => Promise<LastUsage | undefined>;
  /** Absent: the usage is not computed. */
  readonly onDestroyed?: ((path: string, usage: LastUsage) => void) | undefined;
  readonly onError: (error: Error) => void;
}

export class LastUsages {
  readonly #options: LastUsagesOptions;
  /** Tenants whose deletion was requested, by path. */
  readonly #ending = new Map<string, { readonly uid: string; readonly usage: LastUsage }>();

  constructor(options: LastUsagesOptions) {
    this.#options = options;
  }

  /** Wraps the allocation to compute the usage before a deletion. */
  remembering(allocation: Allocation): Allocation {
    return {
      create: (...all) => allocation.create(...all),
      update: (...all) => allocation.update(...all),
      remove: async (context, object) => {
        const { name, uid } = object.metadata;
        const { deletionPolicy } = object['spec'] as TenantSpec;
        if (!context.isDryRun && deletionPolicy === 'Destroy') await this.#remember(name!, uid!);
        return allocation.remove(context, object);
      },
    };
  }

  gone({ path, uid }: Tenant): void {
    const ended = this.#ending.get(path);
    this.#ending.delete(path);
    if (ended?.uid === uid) this.#options.onDestroyed?.(path, ended.usage);
  }

  /** An error does not prevent the deletion. */
  async #remember(path: string, uid: string): Promise<void> {
    if (!this.#options.onDestroyed) return;
    try {
      const usage = await this.#options.usageOf(path);
      if (usage) this.#ending.set(path, { uid, usage });
    } catch (error) {
      this.#options.onError(asError(error));
    }
  }
}
