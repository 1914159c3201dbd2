/**
 * Whether control planes are born with an object in each of their first namespaces (`kube-public/default`, an account): a Hangar with
 * controllers of its own makes them so, a bare one does not. Neither these namespaces nor such objects are told by the feed, and all
 * control planes are alike: so one of them is asked, and only if it lacks the object, all are.
 *
 *     told, without the object ──▶ open ──▶ one is asked ──▶ there:    all have it, nothing is to be done
 *                                    ▲            │          missing:  all that are open are asked
 *                                    └── next ◀───┴───────── it cannot be said: somebody changed it, or the server does not answer
 */

import type { Request } from '@hangar/runtime';
import type { Ask } from '../contract.ts';

/** Those that every control plane has from its first moment. */
const firstNamespaces = ['default', 'kube-node-lease', 'kube-public', 'kube-system'];

export class BaseObjects {
  #isThere: boolean | undefined;
  /** While nobody knows: control plane → its first namespaces in which it has not stored the object itself. */
  readonly #open = new Map<string, Set<string>>();
  #ask: Ask = () => undefined;

  /** A control plane was told: `stored` are namespaces in which it has the object. */
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

  /** Somebody made, changed or deleted it there: it says nothing about others any more. */
  changed(cluster: string, namespace: string): void {
    this.#open.get(cluster)?.delete(namespace);
  }

  /** Can a look at this place say it for all? */
  isOpen({ cluster, name: namespace }: Request): boolean {
    return this.#open.get(cluster)?.has(namespace) === true;
  }

  /** What a look has shown. Undefined: this place can say nothing after all. */
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

  /** A look failed, and is tried again later: meanwhile another is asked. */
  failed({ cluster }: Request): void {
    const namespaces = this.#open.get(cluster);
    if (!namespaces || this.#open.size === 1) return;
    this.#open.delete(cluster);
    this.#open.set(cluster, namespaces);
    this.#askNext();
  }

  forget(cluster: string): void {
    // It may be the one that was asked.
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
