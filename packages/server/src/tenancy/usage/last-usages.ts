/**
 * The last figures of tenants that are destroyed: their records go with them, and somebody may still write a bill. They are
 * found out before the deletion, and told when it has happened, by the server that did it.
 */

import { asError } from '@hangar/core';
import type { Allocation } from '../../allocation/allocation.ts';
import type { Tenant, TenantSpec } from '../tenant.ts';
import type { LastUsage } from './last-usage.ts';

export interface LastUsagesOptions {
  readonly usageOf: (path: string) => Promise<LastUsage | undefined>;
  /** Absent: nobody wants to know, and nothing is found out. */
  readonly onDestroyed?: ((path: string, usage: LastUsage) => void) | undefined;
  readonly onError: (error: Error) => void;
}

export class LastUsages {
  readonly #options: LastUsagesOptions;
  /** Of those whose end was asked for, by their paths. */
  readonly #ending = new Map<string, { readonly uid: string; readonly usage: LastUsage }>();

  constructor(options: LastUsagesOptions) {
    this.#options = options;
  }

  /** The same, and it remembers what is about to end. */
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

  /** A figure that cannot be had keeps nobody from ending a tenant. */
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
