/**
 * Index of token secrets by account. Token secrets are rare, accounts are not: a created or deleted account is looked up here, and no
 * server request is made for those without secrets.
 *
 *     cluster ─▶ namespace/account ─▶ names of secrets
 */

import type { ObjectKey } from '@hangar/client';

export class SecretIndex {
  readonly #clusters = new Map<string, Map<string, Set<string>>>();
  /** `namespace/secret` → account, by cluster: the annotation may change. */
  readonly #accounts = new Map<string, Map<string, string>>();

  put(cluster: string, { namespace, name }: ObjectKey, account: string): void {
    this.delete(cluster, { namespace, name });
    const byAccount = this.#clusters.get(cluster) ?? new Map<string, Set<string>>();
    this.#clusters.set(cluster, byAccount);
    const id = `${namespace}/${account}`;
    byAccount.set(id, (byAccount.get(id) ?? new Set<string>()).add(name));
    const accounts = this.#accounts.get(cluster) ?? new Map<string, string>();
    this.#accounts.set(cluster, accounts.set(`${namespace}/${name}`, account));
  }

  /** Returns the former account. */
  delete(cluster: string, { namespace, name }: ObjectKey): string | undefined {
    const accounts = this.#accounts.get(cluster);
    const account = accounts?.get(`${namespace}/${name}`);
    if (account === undefined) return undefined;
    accounts!.delete(`${namespace}/${name}`);
    const byAccount = this.#clusters.get(cluster)!;
    const names = byAccount.get(`${namespace}/${account}`)!;
    names.delete(name);
    if (names.size === 0) byAccount.delete(`${namespace}/${account}`);
    if (accounts!.size === 0) this.forget(cluster);
    return account;
  }

  of(cluster: string, namespace: string, account: string): readonly string[] {
    return [...(this.#clusters.get(cluster)?.get(`${namespace}/${account}`) ?? [])];
  }

  forget(cluster: string): void {
    this.#clusters.delete(cluster);
    this.#accounts.delete(cluster);
  }

  clear(): void {
    this.#clusters.clear();
    this.#accounts.clear();
  }

  /** Number of control planes with entries. */
  get size(): number {
    return this.#clusters.size;
  }
}
