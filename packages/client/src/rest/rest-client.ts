/** Implements `Client` over any transport. */

import type { ApplyConfiguration, ApplyOptions, Client, DeleteOptions, Draft, ListOptions } from '../client.ts';
import type { MetadataClient, Subresource, WriteOptions } from '../client.ts';
import { ClientError } from '../errors.ts';
import type { ApiObject, Kind, ObjectKey } from '../kind.ts';
import { isPlainTarget } from '../plain-path.ts';
import type { HttpAnswer, HttpRequest, HttpTransport } from '../transport/contract.ts';
import { appliedKey, applyOf, deleteOf, draftKey, patchOf, writeOf } from './bodies.ts';
import { Caller } from './caller.ts';
import type { Call } from './caller.ts';
import { onlyMetadata, valueOf, wholeObjects } from './decode.ts';
import type { RestOptions } from './options.ts';
import { collectionPath, creationPath, objectPath } from './path.ts';
import { listQuery, writeQuery } from './query.ts';
import { ResourceClient } from './resource-client.ts';

/**
 * The client of a cluster over any `HttpTransport`. `connect` creates one over sockets.
 *
 *     const client = new RestClient(new InProcessTransport({ handler: server.handler }));
 */
export class RestClient extends ResourceClient implements Client {
  readonly status: Subresource;
  readonly metadata: MetadataClient;
  readonly #transport: HttpTransport;

  constructor(transport: HttpTransport, options: RestOptions = {}) {
    const caller = new Caller(transport, options);
    super(caller, wholeObjects);
    this.#transport = transport;
    this.metadata = new ResourceClient(caller, onlyMetadata);
    this.status = this.subresource('status');
  }

  async create<T extends ApiObject>(kind: Kind<T>, object: Draft<T>, options: WriteOptions = {}): Promise<T> {
    const path = creationPath(kind, object.metadata.namespace);
    return this.object(kind, { method: 'POST', path, ...writeOf(kind, object, options) });
  }

  async update<T extends ApiObject>(kind: Kind<T>, object: Draft<T>, options: WriteOptions = {}): Promise<T> {
    const path = objectPath(kind, draftKey(object));
    return this.object(kind, { method: 'PUT', path, ...writeOf(kind, object, options) });
  }

  async apply<T extends ApiObject>(kind: Kind<T>, object: ApplyConfiguration<T>, options: ApplyOptions): Promise<T> {
    const path = objectPath(kind, appliedKey(object));
    return this.object(kind, { path, ...applyOf(kind, object, options) });
  }

  async deleteCollection<T extends ApiObject>(kind: Kind<T>, options: ListOptions & DeleteOptions = {}): Promise<void> {
    const path = collectionPath(kind, options.namespace);
    const answer = await this.caller.call({ path, query: listQuery(options), ...deleteOf(options) });
    await answer.body();
  }

  subresource(name: string): Subresource {
    const path = (kind: Kind<ApiObject>, key: ObjectKey): string => objectPath(kind, key, name);
    return {
      get: async (kind, key, { resourceVersion, signal } = {}) =>
        this.#value({ method: 'GET', path: path(kind, key), query: listQuery({ resourceVersion }), signal }),
      create: async (kind, key, body, options = {}) => {
        const query = writeQuery(options);
        return this.#value({ method: 'POST', path: path(kind, key), body, query, signal: options.signal });
      },
      update: async (kind, object, options = {}) =>
        this.#value({ method: 'PUT', path: path(kind, draftKey(object)), ...writeOf(kind, object, options) }),
      patch: async (kind, key, patch, options = {}) =>
        this.#value({ path: path(kind, key), ...patchOf(patch, options) }),
      apply: async (kind, object, options) =>
        this.#value({ path: path(kind, appliedKey(object)), ...applyOf(kind, object, options) }),
    };
  }

  async raw(request: HttpRequest): Promise<HttpAnswer> {
    if (!isPlainTarget(request.target)) {
      throw new ClientError('InvalidKey', `${JSON.stringify(request.target)} is not a normalized path`);
    }
    return this.caller.send(request);
  }

  close(): Promise<void> {
    return this.#transport.close();
  }

  async #value<R>(call: Call): Promise<R> {
    const answer = await this.caller.call(call);
    return valueOf(await answer.body());
  }
}
