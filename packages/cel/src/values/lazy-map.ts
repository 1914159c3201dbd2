/**
 * A map whose values are computed on first use and cached: the `variables` of admission policies. Failures are cached too, and are ordinary
 * failures for each reader.
 */

import { CelError, Fault } from '../errors.ts';
import { CelMap } from './map.ts';
import type { CelValue } from './values.ts';

export class LazyMap extends CelMap {
  readonly #name: string;
  readonly #compute: ReadonlyMap<string, () => CelValue>;
  readonly #known = new Map<string, CelValue | Fault>();

  /** A `CelError` of `compute` is cached; any other error ends the evaluation and is not cached. */
  constructor(typeName: string, compute: ReadonlyMap<string, () => CelValue>) {
    super();
    this.#name = typeName;
    this.#compute = compute;
  }

  override get typeName(): string {
    return this.#name;
  }

  override get size(): number {
    return this.#compute.size;
  }

  override find(key: CelValue): CelValue | undefined {
    if (typeof key !== 'string') return undefined;
    const compute = this.#compute.get(key);
    if (compute === undefined) return undefined;
    let value = this.#known.get(key);
    if (value === undefined) this.#known.set(key, (value = outcome(compute)));
    if (value instanceof Fault) throw value;
    return value;
  }

  override keys(): readonly string[] {
    return [...this.#compute.keys()];
  }
}

function outcome(compute: () => CelValue): CelValue | Fault {
  try {
    return compute();
  } catch (thrown) {
    if (!(thrown instanceof CelError)) throw thrown;
    // An exhausted time budget affects all readers.
    return new Fault(thrown.message, thrown.code === 'Interrupted' ? 'Interrupted' : 'Evaluation');
  }
}
