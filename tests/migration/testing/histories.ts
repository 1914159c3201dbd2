/**
 * Reads what each side has stored: the range of the tenant in the embedded store, while no server has opened it, and the etcd of the dedicated
 * side, all the time.
 */

import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { find } from '@hangar/client';
import type { Client } from '@hangar/client';
import { hasCode } from '@hangar/core';
import { openEmbeddedStore, prefixRange } from '@hangar/store';
import type { Entry, Revision, Store } from '@hangar/store';
import { HostedControlPlane } from '../../../operators/hosted/src/api/index.ts';
import { memberAccess, openKeys } from '../../../operators/hosted/src/backup/member-access.ts';
import type { StoredVersion } from './writable-side.ts';

const registry = '/registry/';
const pauseMs = 200;
/** This process compacts nothing. */
const history = { ageMs: 24 * 3_600_000, revisionsMax: 1_000_000_000 };

/** The range of the tenant `name`. Its internal data is left out. */
export class TenantHistory {
  readonly versions: StoredVersion[] = [];
  readonly #directory: string;
  readonly #prefix: string;
  #next = 1 as Revision;

  constructor(dataFolder: string, name: string) {
    this.#directory = join(dataFolder, 'store');
    this.#prefix = `${registry}clusters/${name}/`;
  }

  /** Adds everything since the last call. No server may run. Rejects with `Compacted` if more than five minutes have passed. */
  async read(): Promise<void> {
    const store = await openEmbeddedStore({ directory: this.#directory, history });
    try {
      const end = await store.revision();
      const watch = store.watch({ prefix: this.#prefix, fromRevision: this.#next });
      watch.requestProgress();
      for await (const { revision, events } of watch) {
        for (const event of events) if (event.type === 'put') this.#add(event.entry);
        if (revision >= end) break;
      }
      this.#next = (end + 1) as Revision;
    } finally {
      await store.close();
    }
  }

  #add(entry: Entry): void {
    const path = entry.key.slice(this.#prefix.length);
    if (!path.startsWith('.')) this.versions.push(versionOf(`${registry}${path}`, entry));
  }
}

/** The etcd of the HostedControlPlane `name`, and of every later one with this name. Starts with the constructor. */
export class DedicatedHistory implements AsyncDisposable {
  readonly versions: StoredVersion[] = [];
  /** Content of each etcd when it was first read. */
  readonly copied: StoredVersion[] = [];
  /** Reasons why something is missing. */
  readonly faults: string[] = [];
  readonly #management: () => Client;
  readonly #name: string;
  readonly #stopping = new AbortController();
  readonly #ended: Promise<void>;
  #uid = '';
  #next = 0 as Revision;

  constructor(management: () => Client, name: string) {
    this.#management = management;
    this.#name = name;
    this.#ended = this.#run();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort();
    await this.#ended;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      try {
        await this.#follow(signal);
      } catch (error) {
        if (hasCode(error, 'Compacted')) this.faults.push(`changes after revision ${this.#next} were not read`);
      }
      await delay(pauseMs, undefined, { signal }).catch(() => {});
    }
  }

  /** Until etcd or the server stops. */
  async #follow(signal: AbortSignal): Promise<void> {
    const client = this.#management();
    const key = { namespace: `kplane-cp-${this.#name}`, name: this.#name };
    const object = await find(client, HostedControlPlane, key, { signal });
    if (!object) return;
    const etcd = { ...key, replicas: object.spec?.etcd?.replicas ?? 3, isFenced: true };
    const access = await memberAccess(etcd, { client, apiReader: client, reach: 'endpoint', signal });
    const [member] = access?.members ?? [];
    if (!access || !member) return;
    const store = await openKeys(access, member);
    try {
      if (this.#uid !== object.metadata.uid) await this.#begin(store, object.metadata.uid!);
      await this.#watch(store, signal);
    } finally {
      await store.close();
    }
  }

  async #begin(store: Store, uid: string): Promise<void> {
    const { entries, revision } = await store.range(prefixRange(registry));
    // Empty members wait for the snapshot.
    if (entries.length === 0) throw new Error('etcd has no data yet');
    for (const entry of entries) this.copied.push(versionOf(entry.key, entry));
    [this.#uid, this.#next] = [uid, (revision + 1) as Revision];
  }

  async #watch(store: Store, signal: AbortSignal): Promise<void> {
    const watch = store.watch({ prefix: registry, fromRevision: this.#next });
    const close = () => watch.close();
    signal.addEventListener('abort', close);
    try {
      for await (const { revision, events } of watch) {
        for (const event of events) {
          if (event.type === 'put') this.versions.push(versionOf(event.entry.key, event.entry));
        }
        this.#next = (revision + 1) as Revision;
      }
    } finally {
      signal.removeEventListener('abort', close);
    }
  }
}

const versionOf = (key: string, { createRevision, modRevision, version }: Entry): StoredVersion => ({
  key,
  createRevision,
  modRevision,
  version,
});
