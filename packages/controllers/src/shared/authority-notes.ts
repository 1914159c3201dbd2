/**
 * Finds objects with another CA than that of their server: records a digest during the initial delivery, and compares it with one request
 * for each control plane. Therefore a server that restarts with the same CA opens no control plane, and one with another CA updates all
 * objects.
 */

import { hash } from 'node:crypto';
import type { ObjectKey } from '@hangar/client';
import type { Request } from '@hangar/runtime';
import type { Ask, RemoteWorld } from '../contract.ts';
import { ClusterNotes } from './cluster-notes.ts';

/** Stands for all objects of a control plane in requests. It is not a valid object name. */
const checkName = '';

export const isAuthorityCheck = ({ name }: Request): boolean => name === checkName;

export class AuthorityNotes {
  readonly #keysOf: RemoteWorld['keysOf'];
  /** Digest of a CA → the objects that contain it. */
  readonly #told = new ClusterNotes<Map<string, ObjectKey[]>>(() => new Map());
  readonly #unchecked = new Map<string, ReadonlyMap<string, readonly ObjectKey[]>>();

  constructor(keysOf: RemoteWorld['keysOf']) {
    this.#keysOf = keysOf;
  }

  note(cluster: string, key: ObjectKey, authority: string): void {
    const told = this.#told.of(cluster);
    const digest = hash('sha256', authority, 'base64');
    const keys = told.get(digest);
    if (keys) keys.push(key);
    else told.set(digest, [key]);
  }

  askAll(ask: Ask): void {
    for (const [cluster, told] of this.#told.takeAll()) this.#ask(cluster, told, ask);
  }

  askFor(cluster: string, ask: Ask): void {
    const told = this.#told.take(cluster);
    if (told) this.#ask(cluster, told, ask);
  }

  /** Enqueues objects whose CA differs from that of the server. */
  async check(cluster: string, ask: Ask): Promise<void> {
    const told = this.#unchecked.get(cluster);
    if (!told) return;
    const { servingCa } = await this.#keysOf(cluster);
    // Unknown: no CA can be called wrong.
    const current = servingCa === undefined ? undefined : hash('sha256', servingCa, 'base64');
    for (const [digest, keys] of told) {
      if (current !== undefined && digest !== current) for (const key of keys) ask({ cluster, ...key });
    }
    if (this.#unchecked.get(cluster) === told) this.#unchecked.delete(cluster);
  }

  forget(cluster: string): void {
    this.#told.take(cluster);
    this.#unchecked.delete(cluster);
  }

  clear(): void {
    this.#told.takeAll();
    this.#unchecked.clear();
  }

  #ask(cluster: string, told: ReadonlyMap<string, readonly ObjectKey[]>, ask: Ask): void {
    this.#unchecked.set(cluster, told);
    ask({ cluster, name: checkName });
  }
}
