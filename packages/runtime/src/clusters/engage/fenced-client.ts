/**
 * The client of a cluster that reconcilers receive. Every write checks the fence first; reads do not, because they are harmless. `close`
 * has no effect: the creator of the connections closes them.
 */

import type { CallOptions, Client, HttpRequest, MetadataClient, Subresource } from '@hangar/client';

/** Allows or rejects writes. */
export interface WritePermit {
  write<T>(signal: AbortSignal | undefined, send: (signal: AbortSignal | undefined) => Promise<T>): Promise<T>;
}

export const anyWrite: WritePermit = { write: (signal, send) => send(signal) };

const readMethods = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Opens a connection into the cluster, over which any action is possible. */
const isConnection = (target: string): boolean => /\/(exec|attach|portforward|proxy)([/?]|$)/.test(target);

/** Returns whether a request only reads. */
export const isRead = ({ method, target }: Pick<HttpRequest, 'method' | 'target'>): boolean =>
  readMethods.has(method) && !isConnection(target);

export function fencedClient(client: Client, fence: WritePermit): Client {
  const write = <O extends CallOptions, T>(options: O | undefined, send: (options: O | undefined) => Promise<T>) =>
    fence.write(options?.signal, (signal) =>
      send(signal === options?.signal ? options : ({ ...options, signal } as O)),
    );
  return {
    get: (kind, key, options) => client.get(kind, key, options),
    list: (kind, options) => client.list(kind, options),
    listAll: (kind, options) => client.listAll(kind, options),
    watch: (kind, options) => client.watch(kind, options),
    create: (kind, object, options) => write(options, (bounded) => client.create(kind, object, bounded)),
    update: (kind, object, options) => write(options, (bounded) => client.update(kind, object, bounded)),
    patch: (kind, key, patch, options) => write(options, (bounded) => client.patch(kind, key, patch, bounded)),
    apply: (kind, object, options) => write(options, (bounded) => client.apply(kind, object, bounded ?? options)),
    delete: (kind, key, options) => write(options, (bounded) => client.delete(kind, key, bounded)),
    deleteCollection: (kind, options) => write(options, (bounded) => client.deleteCollection(kind, bounded)),
    subresource: (name) => fencedSubresource(client.subresource(name), write),
    status: fencedSubresource(client.status, write),
    metadata: fencedMetadata(client.metadata, write),
    raw: (request) =>
      isRead(request)
        ? client.raw(request)
        : fence.write(request.signal, (signal) =>
            client.raw(signal === request.signal ? request : { ...request, signal }),
          ),
    close: () => Promise.resolve(),
  };
}

type Write = <O extends CallOptions, T>(
  options: O | undefined,
  send: (options: O | undefined) => Promise<T>,
) => Promise<T>;

/** Creating a subresource is a write as well: tokens, evictions, bindings. */
const fencedSubresource = (of: Subresource, write: Write): Subresource => ({
  get: (kind, key, options) => of.get(kind, key, options),
  create: (kind, key, body, options) => write(options, (bounded) => of.create(kind, key, body, bounded)),
  update: (kind, object, options) => write(options, (bounded) => of.update(kind, object, bounded)),
  patch: (kind, key, patch, options) => write(options, (bounded) => of.patch(kind, key, patch, bounded)),
  apply: (kind, object, options) => write(options, (bounded) => of.apply(kind, object, bounded ?? options)),
});

const fencedMetadata = (of: MetadataClient, write: Write): MetadataClient => ({
  get: (kind, key, options) => of.get(kind, key, options),
  list: (kind, options) => of.list(kind, options),
  listAll: (kind, options) => of.listAll(kind, options),
  watch: (kind, options) => of.watch(kind, options),
  patch: (kind, key, patch, options) => write(options, (bounded) => of.patch(kind, key, patch, bounded)),
  delete: (kind, key, options) => write(options, (bounded) => of.delete(kind, key, bounded)),
});
