/** Describes the objects that a deletion waits for, in a message of limited length. */

import type { ApiObject } from '@hangar/client';

const namedMax = 5;
const textMax = 300;

export class Blockers {
  /** Objects with finalizers first: the others disappear by themselves. */
  readonly #withFinalizers: string[] = [];
  readonly #others: string[] = [];
  #count = 0;

  get isEmpty(): boolean {
    return this.#count === 0;
  }

  add(kind: string, { metadata }: ApiObject): void {
    this.#count++;
    const { namespace, name = '', finalizers = [] } = metadata;
    const object = `${kind} "${namespace === undefined ? name : `${namespace}/${name}`}"`;
    const isBlocked = finalizers.length > 0;
    const text = isBlocked ? `${object} (finalizers: ${finalizers.join(', ')})` : object;
    const list = isBlocked ? this.#withFinalizers : this.#others;
    if (list.length < namedMax) list.push(text.slice(0, textMax));
  }

  addText(text: string): void {
    this.#count++;
    if (this.#withFinalizers.length < namedMax) this.#withFinalizers.push(text.slice(0, textMax));
  }

  /** `noun`: of the objects, in the singular. The names are in a stable order. */
  message(noun: string): string {
    const named = [...this.#withFinalizers.toSorted(), ...this.#others.toSorted()].slice(0, namedMax);
    const more = this.#count - named.length;
    const rest = more > 0 ? ` and ${more} more` : '';
    return `waiting for the deletion of ${this.#count} ${noun}${this.#count === 1 ? '' : 's'}: ${named.join(', ')}${rest}`;
  }
}
