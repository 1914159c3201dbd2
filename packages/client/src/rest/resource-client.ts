/** The verbs that support whole objects and metadata only. */

import { hasCode } from '@hangar/core';
import type { DeleteOptions, GetOptions, ListOptions, MetadataClient, ObjectList, Patch } from '../client.ts';
import type { Watch, WatchOptions, WriteOptions } from '../client.ts';
import { ReceivedStatusError } from '../errors.ts';
import type { ApiObject, Kind, ObjectKey } from '../kind.ts';
import { WatchEvents } from '../watch/events.ts';
import { deleteOf, patchOf } from './bodies.ts';
import type { Call, Caller } from './caller.ts';
import { listOf, objectOf } from './decode.ts';
import type { View } from './decode.ts';
import { collectionPath, objectPath } from './path.ts';
import { listQuery } from './query.ts';

const pageLength = 500;
/** Maximum duration of a watch without a timeout on servers, and the extra time after which silence means a broken connection. */
const watchSecondsMax = 3_600;
const watchGraceSeconds = 30;

export class ResourceClient implements MetadataClient {
  protected readonly caller: Caller;
  readonly #view: View;

  constructor(caller: Caller, view: View) {
    this.caller = caller;
    this.#view = view;
  }

  async get<T extends ApiObject>(kind: Kind<T>, key: ObjectKey, options: GetOptions = {}): Promise<T> {
    const query = options.resourceVersion === undefined ? '' : listQuery({ resourceVersion: options.resourceVersion });
    return this.object(kind, { method: 'GET', path: objectPath(kind, key), query, signal: options.signal });
  }

  async list<T extends ApiObject>(kind: Kind<T>, options: ListOptions = {}): Promise<ObjectList<T>> {
    const answer = await this.caller.call({
      method: 'GET',
      path: collectionPath(kind, options.namespace),
      query: listQuery(options),
      accept: this.#view.acceptList,
      signal: options.signal,
    });
    return listOf(kind, await answer.body(), this.#view);
  }

  /**
   * For a token that expired meanwhile, servers may return one that continues the list with current objects: like the pager of Kubernetes,
   * this uses it if it is offered. Otherwise rejects with `Expired`.
   */
  async *listAll<T extends ApiObject>(kind: Kind<T>, options: ListOptions = {}): AsyncGenerator<T, void, void> {
    const { limit = pageLength, resourceVersion, resourceVersionMatch, continue: begin, ...rest } = options;
    let from = begin;
    let isResumed = false;
    do {
      // Parameters that the token contains must not be repeated.
      const at = from === undefined ? { resourceVersion, resourceVersionMatch } : { continue: from };
      let page: ObjectList<T>;
      try {
        page = await this.list(kind, { ...rest, ...at, limit });
      } catch (error) {
        const next = from === undefined || isResumed ? undefined : tokenOfExpired(error);
        if (next === undefined) throw error;
        isResumed = true;
        from = next;
        continue;
      }
      isResumed = false;
      yield* page.items;
      from = page.continue;
    } while (from !== undefined);
  }

  watch<T extends ApiObject>(kind: Kind<T>, options: WatchOptions = {}): Watch<T> {
    const open = async (signal: AbortSignal) =>
      this.caller.call({
        method: 'GET',
        path: collectionPath(kind, options.namespace),
        query: listQuery({ allowWatchBookmarks: true, ...options, watch: true }),
        accept: this.#view.accept,
        signal,
        isLong: true,
        silenceMs: ((options.timeoutSeconds ?? watchSecondsMax) + watchGraceSeconds) * 1_000,
      });
    return {
      [Symbol.asyncIterator]: () =>
        new WatchEvents<T>({ open, signal: options.signal, restore: (object) => this.#view.object(kind, object) }),
    };
  }

  async patch<T extends ApiObject>(
    kind: Kind<T>,
    key: ObjectKey,
    patch: Patch,
    options: WriteOptions = {},
  ): Promise<T> {
    return this.object(kind, { path: objectPath(kind, key), ...patchOf(patch, options) });
  }

  async delete<T extends ApiObject>(kind: Kind<T>, key: ObjectKey, options: DeleteOptions = {}): Promise<boolean> {
    try {
      const path = objectPath(kind, key);
      const answer = await this.caller.call({ path, accept: this.#view.accept, ...deleteOf(options) });
      await answer.body();
      return true;
    } catch (error) {
      if (hasCode(error, 'NotFound')) return false;
      throw error;
    }
  }

  protected async object<T extends ApiObject>(kind: Kind<T>, call: Call): Promise<T> {
    const answer = await this.caller.call({ ...call, accept: this.#view.accept });
    return objectOf(kind, await answer.body(), this.#view);
  }
}

function tokenOfExpired(error: unknown): string | undefined {
  if (!(error instanceof ReceivedStatusError) || error.status.code !== 410) return undefined;
  const { continue: token } = (error.status.metadata ?? {}) as { readonly continue?: string };
  return token || undefined;
}
