/** Reservations of running transactions against the quota of a tenant. */

import { noAmounts } from '../usage/counted.ts';
import type { Amounts } from '../usage/counted.ts';

export interface Holding {
  readonly released: Promise<void>;
  /** Idempotent. */
  release(): void;
}

export class Holdings {
  readonly #held = new Set<Holding>();
  readonly #all = noAmounts();

  /** Returns the sum of used and reserved amounts, for these kinds. */
  with(used: Amounts, kinds: Iterable<string>): Amounts {
    const { objects, storedBytes, objectsPerKind } = this.#all;
    const both = new Map<string, number>();
    for (const kind of kinds) {
      both.set(kind, (used.objectsPerKind.get(kind) ?? 0) + (objectsPerKind.get(kind) ?? 0));
    }
    return {
      objects: used.objects + objects,
      storedBytes: used.storedBytes + storedBytes,
      objectsPerKind: both,
    };
  }

  hold(growth: Amounts): Holding {
    const { promise, resolve } = Promise.withResolvers<void>();
    const amounts = onlyGrowth(growth);
    const holding: Holding = {
      released: promise,
      release: () => {
        if (!this.#held.delete(holding)) return;
        this.#add(amounts, -1);
        resolve();
      },
    };
    this.#held.add(holding);
    this.#add(amounts, 1);
    return holding;
  }

  /** Resolves when all current reservations are released. */
  async released(): Promise<void> {
    await Promise.all(Array.from(this.#held, (one) => one.released));
  }

  #add({ objects, storedBytes, objectsPerKind }: Amounts, sign: 1 | -1): void {
    const all = this.#all;
    all.objects += sign * objects;
    all.storedBytes += sign * storedBytes;
    for (const [kind, count] of objectsPerKind) {
      const now = (all.objectsPerKind.get(kind) ?? 0) + sign * count;
      if (now === 0) all.objectsPerKind.delete(kind);
      else all.objectsPerKind.set(kind, now);
    }
  }
}

/** A decrease does not free quota before it is committed. */
const onlyGrowth = ({ objects, storedBytes, objectsPerKind }: Amounts): Amounts => ({
  objects: Math.max(0, objects),
  storedBytes: Math.max(0, storedBytes),
  objectsPerKind: new Map([...objectsPerKind].filter(([, count]) => count > 0)),
});
