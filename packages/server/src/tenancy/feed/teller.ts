/**
 * Converts store events to calls of a listener. The set of control planes is derived from their `Tenant` objects, in the same order as all
 * other events. Data without a `Tenant` (retained, or partially restored) is ignored.
 *
 *     Tenant put, did not exist    clusterChanged; if it takes over stored data, a scan sends that data
 *     Tenant put, existed          clusterChanged
 *     Tenant deleted               clusterGone, without events for its objects
 *     data is being replaced       clusterGone, without events for its objects
 *     data was replaced            clusterChanged, then a scan sends the data
 *     a migration holds it         clusterGone, without events for its objects; the same while another API server serves it
 *     it serves its data again     clusterChanged, then a scan sends the data
 */

import { Buffer } from 'node:buffer';
import type { KubeObject } from '@hangar/api';
import { hiddenName } from '@hangar/store';
import type { Entry, Revision, StoreEvent } from '@hangar/store';
import { decodeIdentity } from '../identity.ts';
import { clustersPrefix, identityKey, importKey, isTenantPath, rootPath, tenantPrefix } from '../layout.ts';
import { tenantsPrefix } from '../tenant.ts';
import { keyOf } from '../wildcard/touched.ts';
import type { FeedListener } from './contract.ts';
import type { DeletedKey } from './deleted-base.ts';
import { StoredChange } from './fed-change.ts';
import { isHidden, KeyPlaces } from './key-places.ts';

export interface TellerOptions {
  readonly storePrefix: string;
  readonly listener: FeedListener;
  /** Returns the base object that a tenant deleted, or undefined if there was none. */
  deletedBase(deleted: DeletedKey): Promise<Entry | undefined>;
  /** Returns the entry of the `Tenant` at this revision. */
  tenantAt(cluster: string, at: Revision): Promise<Entry | undefined>;
  /** Called when a scan must send the stored data of the control plane. */
  onTakenOver(cluster: string): void;
}

export class Teller {
  readonly #options: TellerOptions;
  readonly #listener: FeedListener;
  readonly #places: KeyPlaces;
  readonly #clusters = new Set<string>();
  /** Control planes that do not serve their data: a restore replaces it, a migration holds it, or another API server serves them. */
  readonly #away = new Set<string>();
  readonly #clustersLength: number;
  /** Prefix of `Tenant` objects. */
  readonly #tenants: string;
  /** Deletions of base objects that a scan found and that are not sent yet. */
  #deleted: Omit<DeletedKey, 'at'>[] = [];

  constructor(options: TellerOptions) {
    const { storePrefix, listener } = options;
    this.#options = options;
    this.#listener = listener;
    this.#places = new KeyPlaces((resource) => listener.wants(resource));
    this.#clustersLength = clustersPrefix(storePrefix).length;
    this.#tenants = `${tenantPrefix(storePrefix, rootPath)}${tenantsPrefix}`;
  }

  has(cluster: string): boolean {
    return cluster === rootPath || this.#clusters.has(cluster);
  }

  /** Adds a `Tenant` of the initial state. */
  tenant(entry: Entry): void {
    this.#put(entry);
  }

  /** Sends an existing object. Returns the control plane if it has no `Tenant`, so that the caller can skip the rest of its data. */
  initial(entry: Entry): string | undefined {
    const { key, value, modRevision } = entry;
    const end = key.indexOf('/', this.#clustersLength);
    if (end === -1) return undefined;
    const cluster = key.slice(this.#clustersLength, end);
    if (!this.has(cluster)) return cluster;
    const found = this.#places.wanted(key, end + 1);
    if (!found) {
      if (isIdentity(key, end + 1) && this.#leaves(cluster, value)) return cluster;
      if (isHidden(key, end + 1)) this.#deleted.push({ cluster, rest: key.slice(end + 1 + hiddenName.length) });
      return undefined;
    }
    this.#listener.changed(
      new StoredChange({ ...found, cluster, type: 'put', isInitial: true, value, revision: modRevision }),
    );
    return undefined;
  }

  /**
   * Sends the deletions of base objects that a scan found, because the listener may not have seen them. They are sent as if they happened
   * now, so that controllers react to them.
   */
  async deletionsFound(at: Revision, signal: AbortSignal): Promise<void> {
    const deleted = this.#deleted;
    this.#deleted = [];
    for (const { cluster, rest } of deleted) {
      if (signal.aborted) return;
      await this.#deletedBase({ cluster, rest, at });
    }
  }

  /** Processes all events of one revision. Returns a promise only if it has to read from the store. */
  batch(events: readonly StoreEvent[], revision: Revision): Promise<void> | undefined {
    if (events.length === 1) {
      const [event] = events as [StoreEvent];
      if (keyOf(event).startsWith(this.#tenants)) this.#tenantEvent(event, events);
      return this.#event(event, revision, events);
    }
    const scanned = new Set<string>();
    for (const event of events) {
      if (!keyOf(event).startsWith(this.#tenants)) continue;
      const isTakenOver = this.#tenantEvent(event, events);
      // The scan includes the changes of the same revision.
      if (isTakenOver) scanned.add(keyOf(event).slice(this.#tenants.length));
    }
    let waiting: Promise<void> | undefined;
    for (const event of events) {
      if (scanned.size > 0 && scanned.has(this.#clusterOf(keyOf(event)))) continue;
      waiting = waiting
        ? waiting.then(() => this.#event(event, revision, events))
        : this.#event(event, revision, events);
    }
    return waiting;
  }

  #event(event: StoreEvent, revision: Revision, events: readonly StoreEvent[]): Promise<void> | undefined {
    const key = keyOf(event);
    const end = key.indexOf('/', this.#clustersLength);
    if (end === -1) return undefined;
    const cluster = key.slice(this.#clustersLength, end);
    if (!this.has(cluster)) {
      return this.#away.has(cluster) ? this.#awayEvent(event, cluster, revision) : undefined;
    }
    const found = this.#places.wanted(key, end + 1);
    if (!found) {
      if (event.type === 'put' && isIdentity(key, end + 1)) this.#leaves(cluster, event.entry.value);
      if (event.type === 'delete' || !isHidden(key, end + 1)) return undefined;
      return this.#hidden(cluster, key.slice(end + 1 + hiddenName.length), revision, events);
    }
    const { type } = event;
    const value = event.type === 'put' ? event.entry.value : event.previous?.value;
    this.#listener.changed(new StoredChange({ ...found, cluster, type, isInitial: false, value, revision }));
    return undefined;
  }

  /** Returns false if the control plane with this identity serves its data. */
  #leaves(cluster: string, identity: Uint8Array): boolean {
    if (servesItsData(identity)) return false;
    this.#away.add(cluster);
    if (this.#clusters.delete(cluster)) this.#listener.clusterGone(cluster);
    return true;
  }

  #awayEvent(event: StoreEvent, cluster: string, at: Revision): Promise<void> | undefined {
    if (event.type === 'delete' || !isIdentity(event.entry.key, this.#clustersLength + cluster.length + 1)) {
      return undefined;
    }
    if (!servesItsData(event.entry.value)) return undefined;
    return this.#options.tenantAt(cluster, at).then((entry) => {
      this.#away.delete(cluster);
      if (entry && this.#put(entry) !== undefined) this.#options.onTakenOver(cluster);
    });
  }

  /** Handles a tombstone. If the tenant's own entry is deleted with it, that event is sufficient. */
  #hidden(cluster: string, rest: string, at: Revision, events: readonly StoreEvent[]): Promise<void> | undefined {
    const key = `${tenantPrefix(this.#options.storePrefix, cluster)}${rest}`;
    if (events.some((event) => event.type === 'delete' && event.key === key)) return undefined;
    return this.#deletedBase({ cluster, rest, at });
  }

  #deletedBase(deleted: DeletedKey): Promise<void> | undefined {
    const { cluster, rest, at: revision } = deleted;
    const found = this.#places.wanted(rest, 0);
    if (!found) return undefined;
    return this.#options.deletedBase(deleted).then((entry) => {
      if (!entry) return;
      const { value } = entry;
      this.#listener.changed(
        new StoredChange({ ...found, cluster, type: 'delete', isInitial: false, value, revision }),
      );
    });
  }

  /** Returns true if a scan has to send the stored data of the tenant. */
  #tenantEvent(event: StoreEvent, events: readonly StoreEvent[]): boolean {
    if (event.type === 'put') {
      // Sent when it serves its data again.
      if (this.#away.has(event.entry.key.slice(this.#tenants.length))) return false;
      const cluster = this.#put(event.entry);
      if (cluster === undefined || event.previous || this.#isNewBorn(cluster, events)) return false;
      this.#options.onTakenOver(cluster);
      return true;
    }
    const cluster = event.key.slice(this.#tenants.length);
    this.#away.delete(cluster);
    if (this.#clusters.delete(cluster)) this.#listener.clusterGone(cluster);
    return false;
  }

  /** Returns undefined if the entry, written by another program, is not a valid Tenant. */
  #put({ key, value, modRevision }: Entry): string | undefined {
    const path = key.slice(this.#tenants.length);
    if (!isTenantPath(path)) return undefined;
    let tenant: KubeObject;
    try {
      tenant = JSON.parse(Buffer.from(value.buffer, value.byteOffset, value.length).toString()) as KubeObject;
      // Use the name from the object: a slice of the key would keep the whole key in memory.
      this.#clusters.add(tenant.metadata.name === path ? tenant.metadata.name : path);
    } catch {
      return undefined;
    }
    tenant.metadata.resourceVersion = String(modRevision);
    this.#listener.clusterChanged(path, tenant);
    return path;
  }

  /** Reports whether the range was empty: identity and object are written in one transaction, which completes no restore. */
  #isNewBorn(cluster: string, events: readonly StoreEvent[]): boolean {
    const prefix = tenantPrefix(this.#options.storePrefix, cluster);
    const [identity, mark] = [identityKey(prefix), importKey(prefix)];
    let isMade = false;
    for (const event of events) {
      const key = keyOf(event);
      if (key === mark) return false;
      if (key === identity && event.type === 'put' && !event.previous) isMade = true;
    }
    return isMade;
  }

  #clusterOf(key: string): string {
    return key.slice(this.#clustersLength, key.indexOf('/', this.#clustersLength));
  }
}

function servesItsData(value: Uint8Array): boolean {
  const { next, heldBy, remote } = decodeIdentity(value);
  return !next && heldBy === undefined && !remote;
}

const identityName = identityKey('');

/** Reports whether the key holds the identity of a tenant. `at`: offset of the part after the control plane's prefix. */
const isIdentity = (key: string, at: number): boolean =>
  key.length === at + identityName.length && key.endsWith(identityName);
