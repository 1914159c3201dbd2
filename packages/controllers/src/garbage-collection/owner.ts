/**
 * An owner as its dependents reference it. The object itself is not kept; its deletion is delivered with its uid.
 *
 *     created by the first dependent ──▶ not known ──look-up──▶ found, here or in no namespace
 *                                        └──────── its deletion is delivered ──▶ gone, for good
 */

import type { Node, Reference } from './node.ts';

export class Owner {
  readonly uid: string;
  /** Group, kind and name in the reference of the first dependent. */
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  /** One, or a set: most owners have few. */
  #dependents: Node | Set<Node> | undefined;
  /** Namespace from which it was deleted: a uid never returns. */
  #goneFrom: string | undefined;
  /** Namespace in which it was found; '' when it is cluster-scoped. Undefined: not looked up yet. */
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

  /** Reports whether the reference equals that of the first dependent. Versions of a group are the same object. */
  isNamedBy({ apiVersion, kind, name }: Reference): boolean {
    return kind === this.kind && name === this.name && groupOf(apiVersion) === groupOf(this.apiVersion);
  }

  /** Called when its deletion was delivered; '' if it was cluster-scoped. */
  goneFrom(namespace: string): void {
    this.#goneFrom = namespace;
  }

  /** Reports whether the owner was deleted for a dependent in this namespace. */
  isGoneFor(namespace: string): boolean {
    return this.#goneFrom === '' || this.#goneFrom === namespace;
  }

  /** Reports whether the owner is known to exist for a dependent in this namespace. */
  isFoundFor(namespace: string): boolean {
    return this.#goneFrom === undefined && (this.foundIn === '' || this.foundIn === namespace);
  }
}

const groupOf = (apiVersion: string): string => apiVersion.slice(0, Math.max(0, apiVersion.indexOf('/')));
