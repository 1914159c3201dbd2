/**
 * A map whose values are computed when they are first asked for, and kept: the `variables` of admission policies. What a
 * value fails with is kept too, and is an ordinary failure for whoever asks.
 */

import { CelError, Fault } from '../errors.ts';
import { CelMap } from './map.ts';
import type { CelValue } from './values.ts';

export class LazyMap extends CelMap {
  readonly #name: string;
  readonly #compute: ReadonlyMap<string, () => CelValue>;
  readonly #known = new Map<string, CelValue | Fault>();

  /** A `compute` that throws a `CelError` has failed; anything else it throws ends the evaluation and is not remembered. */
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
    // Time that is up is up for everybody.
    return new Fault(thrown.message, thrown.code === 'Interrupted' ? 'Interrupted' : 'Evaluation');
  }
}
