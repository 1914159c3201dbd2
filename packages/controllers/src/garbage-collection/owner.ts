/**
 * An owner, as its dependents name it. Of the object itself nothing is kept; that it went is told by its uid.
 *
 *     made by the first dependent ──▶ not known ──look-up──▶ found, here or in no namespace
 *                                        └──────── its deletion is told ──▶ gone, for good
 */

import type { Node, Reference } from './node.ts';

export class Owner {
  readonly uid: string;
  /** Group, kind and name as the first dependent said. */
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  /** One, or several: most owners have few. */
  #dependents: Node | Set<Node> | undefined;
  /** From where it went, when its deletion was told: nothing brings a uid back. */
  #goneFrom: string | undefined;
  /** Where it was found; '' when it is in no namespace. Undefined: nobody has looked. */
  foundIn: string | undefined;

  constructor({ uid, apiVersion, kind, name }: Reference) {
    this.uid = uid;
    this.apiVersion = apiVersion;
    this.kind = kind;
    this.name = name;
  }

  get dependentCount(): number {
    if (this.#dependents === undefined) return 0;
    return this.#dependents instanceof Set ? this.#dependents.size : 1;
  }

  get dependents(): Iterable<Node> {
    if (this.#dependents === undefined) return [];
    return this.#dependents instanceof Set ? this.#dependents : [this.#dependents];
  }

  add(node: Node): void {
    if (this.#dependents === undefined || this.#dependents === node) this.#dependents = node;
    else if (this.#dependents instanceof Set) this.#dependents.add(node);
    else this.#dependents = new Set([this.#dependents, node]);
  }

  remove(node: Node): void {
    if (this.#dependents instanceof Set) this.#dependents.delete(node);
    else if (this.#dependents === node) this.#dependents = undefined;
  }

  /** Names it as the first dependent did. Versions of a group are the same object. */
  isNamedBy({ apiVersion, kind, name }: Reference): boolean {
    return kind === this.kind && name === this.name && groupOf(apiVersion) === groupOf(this.apiVersion);
  }

  /** Its deletion was told; it was in this namespace, or in none (''). */
  goneFrom(namespace: string): void {
    this.#goneFrom = namespace;
  }

  /** Has it gone from where a dependent in this namespace looks for it? */
  isGoneFor(namespace: string): boolean {
    return this.#goneFrom === '' || this.#goneFrom === namespace;
  }

  /** Is it known to be there for a dependent in this namespace? */
  isFoundFor(namespace: string): boolean {
    return this.#goneFrom === undefined && (this.foundIn === '' || this.foundIn === namespace);
  }
}

const groupOf = (apiVersion: string): string => apiVersion.slice(0, Math.max(0, apiVersion.indexOf('/')));
