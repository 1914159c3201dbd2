/** The dependency graph of one control plane: nodes by uid, owners by uid. Objects without owners are not included. */

import type { KubeObject } from '@hangar/api';
import type { Change } from '../contract.ts';
import { nodeOf } from './node.ts';
import type { Node, Ownership, Reference } from './node.ts';
import { Owner } from './owner.ts';
import type { SeenObjects } from './seen-objects.ts';

export class Graph {
  readonly nodes = new Map<string, Node>();
  readonly owners = new Map<string, Owner>();
  /** Set during a replay of the control plane: missing objects prove nothing. */
  seen: SeenObjects | undefined;

  constructor(seen: SeenObjects | undefined) {
    this.seen = seen;
  }

  get isEmpty(): boolean {
    return this.nodes.size === 0 && this.owners.size === 0;
  }

  /** Returns the former and the new node. */
  put(change: Change, object: KubeObject): { readonly before: Node | undefined; readonly now: Node | undefined } {
    const uid = object.metadata.uid ?? '';
    const before = this.nodes.get(uid);
    const now = nodeOf(change, object, (reference) => this.#ownershipOf(reference));
    if (now) {
      this.nodes.set(uid, now);
      for (const { owner } of now.ownerships) owner.add(now);
    } else this.nodes.delete(uid);
    if (before) this.#leave(before);
    return { before, now };
  }

  /** Returns the former node, and the dependents that lost an owner. */
  delete(uid: string, namespace: string): { readonly before: Node | undefined; readonly dependents: readonly Node[] } {
    const before = this.nodes.get(uid);
    this.nodes.delete(uid);
    if (before) this.#leave(before);
    const owner = this.owners.get(uid);
    if (!owner) return { before, dependents: [] };
    owner.goneFrom(namespace);
    return { before, dependents: [...owner.dependents] };
  }

  dependentsOf(uid: string): Iterable<Node> {
    return this.owners.get(uid)?.dependents ?? [];
  }

  /** Returns the dependents for which a foreground deletion of the owner waits. */
  blockingDependentsOf(uid: string): Node[] {
    return Array.from(this.dependentsOf(uid)).filter(({ ownerships }) =>
      ownerships.some(({ owner, blocks }) => owner.uid === uid && blocks),
    );
  }

  #ownershipOf(reference: Reference): Ownership {
    let owner = this.owners.get(reference.uid);
    if (!owner) this.owners.set(reference.uid, (owner = new Owner(reference)));
    return { owner, blocks: reference.blockOwnerDeletion === true, isDeviant: !owner.isNamedBy(reference) };
  }

  #leave(node: Node): void {
    for (const { owner } of node.ownerships) {
      owner.remove(node);
      if (owner.dependentCount === 0) this.owners.delete(owner.uid);
    }
  }
}
