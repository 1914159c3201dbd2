/** A HostedControlPlane: etcd with its fence, and the address of its API servers. The rules are those of `../contract.ts`. */

import { CodedError } from '@hangar/core';
import type { ReplicaEntry, Revision } from '@hangar/store';
import type { DedicatedReplicaState, RemoteApiServer } from '../contract.ts';
import { ModelStore } from './model-store.ts';

const remote: RemoteApiServer = { server: 'https://dedicated', ca: '' };

export class DedicatedModel {
  readonly #onChange: () => void;
  store = new ModelStore();
  uid = 0;
  id: string | undefined;
  isThere = false;
  isFenced = true;
  isSeeded = false;
  /** Whether API servers answer. */
  isAvailable = false;

  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  get isWritable(): boolean {
    return this.isThere && this.isSeeded && !this.isFenced;
  }

  state(): DedicatedReplicaState {
    if (!this.isThere) return { phase: 'Absent', message: 'no HostedControlPlane' };
    if (!this.isSeeded) return { phase: 'Seeding', message: 'members are made from the snapshot' };
    return {
      phase: this.isFenced ? 'Fenced' : 'Active',
      message: this.isAvailable ? '' : 'no API server is available',
      remote: this.isAvailable ? remote : undefined,
      revision: this.store.revision as Revision,
    };
  }

  create(id: string): void {
    if (this.isThere && this.id !== id) throw new CodedError('Conflict', `belongs to migration ${this.id}`);
    if (this.isThere) return;
    Object.assign(this, { isThere: true, id, isFenced: true, isSeeded: false, isAvailable: false });
    this.uid++;
    this.store = new ModelStore();
  }

  load(uid: number, entries: readonly ReplicaEntry[], revision: number): void {
    if (!this.isThere || this.uid !== uid || this.isSeeded) return;
    this.store.load(entries, revision);
    this.isSeeded = true;
  }

  delete(uid: number): void {
    if (this.uid !== uid) return;
    this.isThere = false;
    this.isAvailable = false;
  }

  fence(): Revision {
    this.#expectSeeded();
    this.isFenced = true;
    this.#onChange();
    return this.store.revision as Revision;
  }

  activate(): void {
    this.#expectSeeded();
    this.isFenced = false;
    this.#onChange();
  }

  /** Undefined: permission denied. */
  commit(key: string, value: string): number | undefined {
    if (!this.isWritable || !this.isAvailable) return undefined;
    this.store.put(key, value, this.store.revision + 1);
    return this.store.revision;
  }

  #expectSeeded(): void {
    if (!this.isThere || !this.isSeeded) throw new CodedError('ServiceUnavailable', 'etcd is not available');
  }
}
