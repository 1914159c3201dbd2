/**
 * Follows one resource, despite failures of the server:
 *
 *     no revision known ──pages of a list──► watch from the revision of the list ──► changes, bookmarks advance the revision
 *        ▲                                        ▲                      │
 *        └── the revision is too old (410) ───────┴── ended, broken ─────┘
 *
 * The revision is stored with the changes, so that a restart continues from it. Objects are passed on page by page: the memory does not
 * depend on their number.
 */

import type { ApiObject, Client, UnknownObject } from '@hangar/client';
import { asMetadata } from '@hangar/client';
import type { JsonObject } from '@hangar/api';
import { asError, backOffMs, hasCode, sleep } from '@hangar/core';
import type { Clock, Logger, Permits, Random } from '@hangar/core';
import { documentOf } from '../document/document.ts';
import type { Batches } from './batches.ts';
import type { FollowedKind } from './followed-kind.ts';

export interface KindStreamOptions {
  readonly client: Client;
  readonly followed: FollowedKind;
  /** Name of the control plane of objects without `metadata.clusterName`. */
  readonly cluster: string;
  /** Revision to resume from; undefined: a list comes first. */
  readonly revision: string | undefined;
  readonly batches: Batches;
  /** Limits the lists of all streams that run at the same time. */
  readonly lists: Permits;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** Called with every object, and with deleted ones. */
  readonly onObject?: ((cluster: string, object: UnknownObject, isDeleted: boolean) => void) | undefined;
  /** Called when a list starts: all objects that exist follow. */
  readonly onList?: (() => void) | undefined;
  /** Called when the index has all objects of the resource. */
  readonly onSynced: () => void;
}

/** Objects of a page. Fewer, if they do not fit in one response of the client. */
const pageSize = 100;
const backOff = { baseMs: 200, maxMs: 30_000 };
/** A longer watch counts as success. */
const healthyMs = 5_000;
const watchSeconds = 300;

export class KindStream {
  readonly #options: KindStreamOptions;
  #revision: string | undefined;
  #failures = 0;

  constructor(options: KindStreamOptions) {
    this.#options = options;
    this.#revision = options.revision;
  }

  /** Runs until the signal is aborted. Never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, random, log, followed } = this.#options;
    if (this.#revision !== undefined) this.#options.onSynced();
    while (!signal.aborted) {
      const startMs = clock.monotonicMs();
      try {
        if (this.#revision === undefined) await this.#sync(signal);
        await this.#watch(signal);
        if (clock.monotonicMs() - startMs >= healthyMs) this.#failures = 0;
        else this.#failures++;
      } catch (thrown) {
        if (signal.aborted) return;
        const error = asError(thrown);
        if (isExpired(error)) this.#revision = undefined;
        else if (clock.monotonicMs() - startMs < healthyMs) this.#failures++;
        if (this.#failures === 1) log.warn('list or watch failed, retrying', { kind: followed.kind.plural, error });
      }
      if (this.#failures > 0) {
        await sleep(clock, backOffMs(backOff, this.#failures, random), signal).catch(() => undefined);
      }
    }
  }

  async #sync(signal: AbortSignal): Promise<void> {
    const { batches, lists, onSynced } = this.#options;
    await lists.run(() => this.#list(signal), signal);
    if (signal.aborted) return;
    await batches.flushed();
    onSynced();
  }

  async #list(signal: AbortSignal): Promise<void> {
    const { batches, followed, onList } = this.#options;
    const { resource } = followed;
    await batches.add({ type: 'listing', resource });
    onList?.();
    let next: string | undefined;
    let revision = '';
    let limit = pageSize;
    do {
      const found = await this.#page(next, { limit, signal });
      limit = Math.min(pageSize, found.limit * 2);
      revision ||= found.page.resourceVersion;
      for (const object of found.page.items) await this.#put(object);
      next = found.page.continue;
    } while (next !== undefined && !signal.aborted);
    if (signal.aborted) return;
    await batches.add({ type: 'listed', resource });
    this.#advance(revision);
  }

  /** Reads a page, again with a lower limit if the response is too large for the client. */
  async #page(next: string | undefined, { limit, signal }: { limit: number; signal: AbortSignal }) {
    const { kind, isMetadataOnly } = this.#options.followed;
    for (; ; limit = Math.ceil(limit / 4)) {
      const options = { limit, signal, ...(next === undefined ? {} : { continue: next }) };
      try {
        return { page: await this.#reader().list(isMetadataOnly ? asMetadata(kind) : kind, options), limit };
      } catch (error) {
        if (!hasCode(error, 'MalformedAnswer') || limit === 1) throw error;
      }
    }
  }

  async #watch(signal: AbortSignal): Promise<void> {
    const { followed, random } = this.#options;
    const timeoutSeconds = watchSeconds + random.below(watchSeconds);
    const { kind, isMetadataOnly } = followed;
    const options = { resourceVersion: this.#revision, timeoutSeconds, signal };
    for await (const event of this.#reader().watch(isMetadataOnly ? asMetadata(kind) : kind, options)) {
      if (signal.aborted) return;
      if (event.type === 'BOOKMARK') {
        if (event.resourceVersion !== '') this.#advance(event.resourceVersion);
        continue;
      }
      if (event.type === 'DELETED') await this.#delete(event.object);
      else await this.#put(event.object);
      this.#advance(event.object.metadata.resourceVersion ?? '');
    }
  }

  #reader(): Pick<Client, 'list' | 'watch'> {
    const { client, followed } = this.#options;
    return followed.isMetadataOnly ? (client.metadata as Pick<Client, 'list' | 'watch'>) : client;
  }

  #advance(revision: string): void {
    if (revision === '') return;
    this.#revision = revision;
    this.#options.batches.progress(this.#options.followed.resource, revision);
  }

  #put(object: ApiObject): Promise<void> | undefined {
    const { followed, batches, onObject } = this.#options;
    const { kind, resource, isMetadataOnly } = followed;
    const cluster = this.#clusterOf(object);
    onObject?.(cluster, object as UnknownObject, false);
    const source = { cluster, ...resource, kind: isMetadataOnly ? kind.kind : object.kind || kind.kind };
    const named = isMetadataOnly ? { ...object, apiVersion: kind.apiVersion } : object;
    return batches.add({ type: 'put', document: documentOf(source, named as unknown as JsonObject) });
  }

  #delete(object: ApiObject): Promise<void> | undefined {
    const { followed, batches, onObject } = this.#options;
    const cluster = this.#clusterOf(object);
    onObject?.(cluster, object as UnknownObject, true);
    const { namespace = '', name = '' } = object.metadata;
    return batches.add({ type: 'delete', key: { cluster, ...followed.resource, namespace, name } });
  }

  #clusterOf({ metadata }: ApiObject): string {
    return (metadata as { clusterName?: string }).clusterName ?? this.#options.cluster;
  }
}

const isExpired = (error: Error): boolean => hasCode(error, 'Expired') || hasCode(error, 'Gone');
