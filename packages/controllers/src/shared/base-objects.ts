/**
 * Determines whether control planes start with an object in each of their first namespaces (`kube-public/default`, an account): a Hangar
 * with built-in controllers creates them, a bare one does not. The feed delivers neither these namespaces nor such objects, and all control
 * planes are alike: so one of them is checked, and only if it lacks the object, all are.
 *
 *     delivered, without the object ──▶ open ──▶ one is checked ──▶ exists:    all have it, nothing to do
 *                                         ▲            │            missing:   all open ones are checked
 *                                         └── next ◀───┴─────────── undecided: it was changed, or the server does not answer
 */

import type { Request } from '@hangar/runtime';
import type { Ask } from '../contract.ts';

/** The namespaces that every control plane starts with. */
const firstNamespaces = ['default', 'kube-node-lease', 'kube-public', 'kube-system'];

export class BaseObjects {
  #isThere: boolean | undefined;
  /** While undecided: control plane → its first namespaces in which it has not stored the object itself. */
  readonly #open = new Map<string, Set<string>>();
  #ask: Ask = () => undefined;

  /** Called when a control plane was delivered: `stored` are the namespaces with a stored object. */
  told(cluster: string, stored: ReadonlySet<string> | undefined, ask: Ask): void {
    if (this.#isThere === true) return;
    const lacking = firstNamespaces.filter((namespace) => !stored?.has(namespace));
    if (lacking.length === 0) return;
    if (this.#isThere === false) {
      for (const name of lacking) ask({ cluster, name });
      return;
    }
    this.#ask = ask;
    const isFirst = this.#open.size === 0;
    this.#open.set(cluster, new Set(lacking));
    if (isFirst) this.#askNext();
  }

  /** Called when the object was created, changed or deleted there: it is no longer representative. */
  changed(cluster: string, namespace: string): void {
    this.#open.get(cluster)?.delete(namespace);
  }

  /** Reports whether this namespace can decide for all. */
  isOpen({ cluster, name: namespace }: Request): boolean {
    return this.#open.get(cluster)?.has(namespace) === true;
  }

  /** Called with the result of a check. Undefined: this namespace cannot decide. */
  found({ cluster, name: namespace }: Request, isThere: boolean | undefined): void {
    const namespaces = this.#open.get(cluster);
    if (!namespaces) return;
    if (!namespaces.has(namespace) || isThere === undefined) {
      namespaces.delete(namespace);
      this.#askNext();
      return;
    }
    this.#isThere = isThere;
    const all = [...this.#open];
    this.#open.clear();
    if (isThere) return;
    for (const [one, lacking] of all) for (const name of lacking) this.#ask({ cluster: one, name });
  }

  /** Called when a check failed and is retried later: another control plane is checked meanwhile. */
  failed({ cluster }: Request): void {
    const namespaces = this.#open.get(cluster);
    if (!namespaces || this.#open.size === 1) return;
    this.#open.delete(cluster);
    this.#open.set(cluster, namespaces);
    this.#askNext();
  }

  forget(cluster: string): void {
    // It may be the one that is being checked.
    if (this.#open.delete(cluster)) this.#askNext();
  }

  clear(): void {
    this.#isThere = undefined;
    this.#open.clear();
  }

  #askNext(): void {
    for (const [cluster, namespaces] of this.#open) {
      const [name] = namespaces;
      if (name !== undefined) return this.#ask({ cluster, name });
      this.#open.delete(cluster);
    }
  }
}
