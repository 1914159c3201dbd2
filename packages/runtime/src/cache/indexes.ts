/** The indexes of a kind by name, for all stores of that kind. */

import type { ApiObject } from '@hangar/client';
import { asError } from '@hangar/core';
import type { Logger } from '@hangar/core';
import { RuntimeError } from '../errors.ts';
import type { IndexFunction } from './contract.ts';

const none: readonly string[] = [];

export class Indexes<T extends ApiObject> {
  readonly #functions = new Map<string, IndexFunction<T>>();
  readonly #log: Logger | undefined;

  constructor(log: Logger | undefined) {
    this.#log = log;
  }

  get names(): Iterable<string> {
    return this.#functions.keys();
  }

  has(name: string): boolean {
    return this.#functions.has(name);
  }

  /**
   * Returns false if the index exists. Clusters that share their indexes each add the same one, usually as a separate closure: functions
   * with the same source text are taken as equal.
   */
  add(name: string, values: IndexFunction<T>): boolean {
    const known = this.#functions.get(name);
    if (known === undefined) {
      this.#functions.set(name, values);
      return true;
    }
    if (known === values || known.toString() === values.toString()) return false;
    throw new RuntimeError('InvalidOptions', `a different index "${name}" already exists`);
  }

  /** Never throws: an object that cannot be indexed must not affect the others. */
  valuesOf(name: string, object: T): readonly string[] {
    try {
      return this.#functions.get(name)?.(object) ?? none;
    } catch (error) {
      this.#log?.error('index function failed', {
        index: name,
        object: object.metadata.name,
        error: asError(error),
      });
      return none;
    }
  }
}

export const unknownIndex = (name: string): RuntimeError =>
  new RuntimeError('UnknownIndex', `unknown index "${name}": add it to the cache first`);
