/** A tenant of a shared server: its data, its hold, and the requests of its clients. The rules are those of `../contract.ts`. */

import { CodedError } from '@hangar/core';
import type { ReplicaEntry, ReplicaFrame, Revision } from '@hangar/store';
import type { TenantReplicaState } from '../contract.ts';
import { ModelStore } from './model-store.ts';

export class TenantModel {
  readonly #onChange: () => void;
  store = new ModelStore();
  /** Revision of the shared store: other tenants write, too. */
  hostRevision = 100;
  serving: 'Local' | 'Remote' = 'Local';
  heldBy: string | undefined;
  heldAt: number | undefined;
  received: { by: string; revision: number } | undefined;
  /** Changes with every hold and its end: a commit of an older identity is refused. */
  identity = 0;
  #snapshot: ReplicaEntry[] = [];

  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  get isWritable(): boolean {
    return this.serving === 'Local' && this.heldBy === undefined;
  }

  state(): TenantReplicaState {
    const { serving, heldBy, heldAt, received } = this;
    return {
      serving,
      heldBy,
      heldAt: heldAt as Revision | undefined,
      received: received && { by: received.by, revision: received.revision as Revision },
    };
  }

  /** Undefined: the identity has changed, and the request is processed again. */
  commit(identity: number, key: string, value: string): number | undefined {
    if (identity !== this.identity || !this.isWritable) return undefined;
    this.hostRevision++;
    this.store.put(key, value, this.hostRevision);
    return this.hostRevision;
  }

  hold(id: string): TenantReplicaState {
    if (this.heldBy !== undefined && this.heldBy !== id) throw conflict(`held by ${this.heldBy}`);
    if (this.heldBy === undefined) {
      this.#changeIdentity(id);
      this.heldAt = ++this.hostRevision;
    }
    return this.state();
  }

  release(id: string): void {
    if (this.heldBy === undefined) return;
    if (this.heldBy !== id) throw conflict(`held by ${this.heldBy}`);
    this.#changeIdentity(undefined);
  }

  passTo(id: string): void {
    if (this.heldBy !== id || this.serving !== 'Local') throw conflict('not held, or not Local');
    this.serving = 'Remote';
    this.#changeIdentity(undefined);
  }

  startReceiving(id: string): void {
    if (this.serving !== 'Remote') throw conflict('not Remote');
    if (this.received?.by === id && this.received.revision > 0) return;
    this.store = new ModelStore();
    this.#snapshot = [];
    this.received = { by: id, revision: 0 };
  }

  receive(id: string, frames: readonly ReplicaFrame[]): Revision {
    if (this.serving !== 'Remote' || this.received?.by !== id) throw conflict('not receiving');
    for (const frame of frames) this.#receiveFrame(frame);
    this.received.revision = this.store.revision;
    return this.store.revision as Revision;
  }

  #receiveFrame(frame: ReplicaFrame): void {
    if (frame.type === 'entry') this.#snapshot.push(frame.entry);
    else if (frame.type === 'snapshot' && this.store.revision === 0)
      this.store.load(this.#snapshot.splice(0), frame.revision);
    else if (frame.type === 'batch' || frame.type === 'progress') {
      if (this.store.revision === 0) throw conflict('changes before a snapshot');
      this.store.append(frame);
    }
  }

  serveReceived(id: string, revision: number): void {
    if (this.serving === 'Local' && this.received === undefined) return;
    if (this.heldBy !== id || this.received?.by !== id || this.received.revision < revision)
      throw conflict('not received');
    this.hostRevision = Math.max(this.hostRevision, this.received.revision) + 1;
    this.serving = 'Local';
    this.received = undefined;
    this.#changeIdentity(undefined);
  }

  deleteData(id: string): void {
    if (this.serving !== 'Remote' || (this.received && this.received.by !== id)) throw conflict('in use');
    this.store = new ModelStore();
    this.received = undefined;
  }

  #changeIdentity(heldBy: string | undefined): void {
    this.identity++;
    this.heldBy = heldBy;
    this.heldAt = undefined;
    this.#onChange();
  }
}

const conflict = (message: string): CodedError => new CodedError('Conflict', message);
