/** The client of a cluster over any transport: verbs to requests, answers to objects, refusals to errors. */

import type { ApplyConfiguration, ApplyOptions, CallOptions, Client, DeleteOptions } from '../client.ts';
import type { Draft, GetOptions, ListOptions, ObjectList, Patch, Subresource, Watch } from '../client.ts';
import type { WatchOptions, WriteOptions } from '../client.ts';
import { hasCode } from '@hangar/core';
import type { ApiObject, Kind, ObjectKey } from '../kind.ts';
import type { HttpAnswer, HttpRequest, HttpTransport } from '../transport/contract.ts';
import { watchEvents } from '../watch/events.ts';
import { objectsOf } from './decode.ts';
import { refusalOf } from './refusal.ts';
import { pathOf } from './path.ts';
import { deleteQuery, listQuery, writeQuery } from './query.ts';

const contentTypes: Readonly<Record<Patch['type'] | 'apply', string>> = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  apply: 'application/apply-patch+yaml',
};

interface Call extends CallOptions {
  readonly method: string;
  readonly path: string;
  readonly query?: string;
  readonly body?: unknown;
  readonly contentType?: string;
}

export class RestClient implements Client {
  readonly #transport: HttpTransport;
  readonly status: Subresource;

  constructor(transport: HttpTransport) {
    this.#transport = transport;
    this.status = this.subresource('status');
  }

  get<T extends ApiObject>(kind: Kind<T>, key: ObjectKey, { resourceVersion, signal }: GetOptions = {}): Promise<T> {
    return this.#object({ method: 'GET', path: pathOf(kind, key), query: listQuery({ resourceVersion }), signal });
  }

  async list<T extends ApiObject>(kind: Kind<T>, options: ListOptions = {}): Promise<ObjectList<T>> {
    const path = pathOf(kind, { namespace: options.namespace });
    const answer = await this.#call({ method: 'GET', path, query: listQuery(options), signal: options.signal });
    return objectsOf(kind, await answer.body());
  }

  async *listAll<T extends ApiObject>(kind: Kind<T>, options: ListOptions = {}): AsyncGenerator<T, void, void> {
    const { limit = 500 } = options;
    let from = options.continue;
    do {
      const page: ObjectList<T> = await this.list(kind, { ...options, limit, continue: from });
      yield* page.items;
      from = page.continue;
    } while (from !== undefined);
  }

  watch<T extends ApiObject>(kind: Kind<T>, options: WatchOptions = {}): Watch<T> {
    const path = pathOf(kind, { namespace: options.namespace });
    const query = listQuery({ allowWatchBookmarks: true, ...options, watch: true });
    return watchEvents(() => this.#call({ method: 'GET', path, query, signal: options.signal }));
  }

  create<T extends ApiObject>(kind: Kind<T>, object: Draft<T>, options: WriteOptions = {}): Promise<T> {
    const path = pathOf(kind, { namespace: object.metadata.namespace });
    return this.#object({ method: 'POST', path, ...writeOf(kind, object, options) });
  }

  update<T extends ApiObject>(kind: Kind<T>, object: Draft<T>, options: WriteOptions = {}): Promise<T> {
    return this.#object({ method: 'PUT', path: pathOf(kind, object.metadata), ...writeOf(kind, object, options) });
  }

  patch<T extends ApiObject>(kind: Kind<T>, key: ObjectKey, patch: Patch, options: WriteOptions = {}): Promise<T> {
    return this.#object({ path: pathOf(kind, key), ...patchOf(patch, options) });
  }

  apply<T extends ApiObject>(kind: Kind<T>, object: ApplyConfiguration<T>, options: ApplyOptions): Promise<T> {
    return this.#object({ path: pathOf(kind, appliedKey(object)), ...applyOf(kind, object, options) });
  }

  async delete<T extends ApiObject>(kind: Kind<T>, key: ObjectKey, options: DeleteOptions = {}): Promise<boolean> {
    try {
      await (await this.#call({ method: 'DELETE', path: pathOf(kind, key), ...deleteOf(options) })).body();
      return true;
    } catch (error) {
      if (hasCode(error, 'NotFound')) return false;
      throw error;
    }
  }

  async deleteCollection<T extends ApiObject>(kind: Kind<T>, options: ListOptions & DeleteOptions = {}): Promise<void> {
    const { query, ...rest } = deleteOf(options);
    const path = pathOf(kind, { namespace: options.namespace });
    const both = [listQuery(options), query].filter((one) => one !== '').join('&');
    await (await this.#call({ method: 'DELETE', path, query: both, ...rest })).body();
  }

  subresource(name: string): Subresource {
    const path = (kind: Kind<ApiObject>, key: ObjectKey): string => pathOf(kind, key, name);
    return {
      get: (kind, key, { resourceVersion, signal } = {}) =>
        this.#object({ method: 'GET', path: path(kind, key), query: listQuery({ resourceVersion }), signal }),
      create: (kind, key, body, options = {}) =>
        this.#object({
          method: 'POST',
          path: path(kind, key),
          body,
          query: writeQuery(options),
          signal: options.signal,
        }),
      update: (kind, object, options = {}) =>
        this.#object({ method: 'PUT', path: pathOf(kind, object.metadata, name), ...writeOf(kind, object, options) }),
      patch: (kind, key, patch, options = {}) => this.#object({ path: path(kind, key), ...patchOf(patch, options) }),
      apply: (kind, object, options) =>
        this.#object({ path: path(kind, appliedKey(object)), ...applyOf(kind, object, options) }),
    };
  }

  raw(request: HttpRequest): Promise<HttpAnswer> {
    return this.#transport.request(request);
  }

  close(): Promise<void> {
    return this.#transport.close();
  }

  async #object<R>(call: Call): Promise<R> {
    const answer = await this.#call(call);
    return JSON.parse((await answer.body()).toString()) as R;
  }

  /** Rejects unless the server did what it was asked. */
  async #call({ method, path, query = '', body, contentType = 'application/json', signal }: Call): Promise<HttpAnswer> {
    const answer = await this.#transport.request({
      method,
      target: query === '' ? path : `${path}?${query}`,
      headers: { accept: 'application/json', ...(body === undefined ? {} : { 'content-type': contentType }) },
      ...(body === undefined ? {} : { body: Buffer.from(JSON.stringify(body)) }),
      signal,
    });
    if (answer.status >= 200 && answer.status < 300) return answer;
    throw await refusalOf(answer);
  }
}

type Rest = Omit<Call, 'path' | 'method'>;

const writeOf = <T extends ApiObject>(kind: Kind<T>, object: Draft<T>, options: WriteOptions): Rest => ({
  body: { apiVersion: kind.apiVersion, kind: kind.kind, ...object },
  query: writeQuery(options),
  signal: options.signal,
});

const patchOf = ({ type, body }: Patch, options: WriteOptions): Rest & { method: string } => ({
  method: 'PATCH',
  body,
  contentType: contentTypes[type],
  query: writeQuery(options),
  signal: options.signal,
});

const applyOf = (kind: Kind<ApiObject>, object: object, options: ApplyOptions): Rest & { method: string } => ({
  method: 'PATCH',
  body: { apiVersion: kind.apiVersion, kind: kind.kind, ...object },
  contentType: contentTypes.apply,
  query: writeQuery(options),
  signal: options.signal,
});

const deleteOf = ({ signal, dryRun, ...options }: ListOptions & DeleteOptions): Rest & { query: string } => ({
  body: { apiVersion: 'v1', kind: 'DeleteOptions', ...deleteQuery(options), ...(dryRun ? { dryRun: ['All'] } : {}) },
  query: '',
  signal,
});

function appliedKey(object: object): ObjectKey {
  const { metadata } = object as { metadata?: { namespace?: string; name?: string } };
  return { namespace: metadata?.namespace, name: metadata?.name ?? '' };
}
