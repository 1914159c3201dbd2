/**
 * Reads ConfigMaps and Secrets that pods refer to. Each object in use has its own watch, so that the runtime needs no right to read all
 * Secrets of the cluster.
 */

import type { ApiObject, Client, Kind } from '@hangar/client';
import { ConfigMap, Secret } from '@hangar/client/kinds/core-v1';
import { hasCode, sleep } from '@hangar/core';
import type { Clock, Logger } from '@hangar/core';
import { configKey } from './references.ts';
import type { ConfigReader } from '../spec/environment.ts';

export interface WatchedObjectsOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Logger;
  /** Called after a change of an object in this namespace. */
  readonly onChange: (namespace: string) => void;
}

const retryMs = 1_000;

export class WatchedObjects implements ConfigReader {
  readonly #options: WatchedObjectsOptions;
  readonly #watched = new Map<string, WatchedObject<ApiObject>>();

  constructor(options: WatchedObjectsOptions) {
    this.#options = options;
  }

  configMap(namespace: string, name: string): Promise<ConfigMap | undefined> {
    return this.#get(ConfigMap, namespace, name);
  }

  secret(namespace: string, name: string): Promise<Secret | undefined> {
    return this.#get(Secret, namespace, name);
  }

  /** Closes the watches of objects for which `isUsed` returns false: no pod refers to them. */
  prune(isUsed: (key: string) => boolean): void {
    for (const [key, object] of this.#watched) {
      if (isUsed(key)) continue;
      object.close();
      this.#watched.delete(key);
    }
  }

  close(): void {
    for (const object of this.#watched.values()) object.close();
    this.#watched.clear();
  }

  #get<T extends ApiObject>(kind: Kind<T>, namespace: string, name: string): Promise<T | undefined> {
    const key = configKey(kind.kind as 'ConfigMap' | 'Secret', namespace, name);
    let watched = this.#watched.get(key) as WatchedObject<T> | undefined;
    if (!watched) {
      watched = new WatchedObject({ ...this.#options, kind, namespace, name });
      this.#watched.set(key, watched as unknown as WatchedObject<ApiObject>);
    }
    return watched.get();
  }
}

interface WatchedObjectOptions<T extends ApiObject> extends WatchedObjectsOptions {
  readonly kind: Kind<T>;
  readonly namespace: string;
  readonly name: string;
}

class WatchedObject<T extends ApiObject> {
  readonly #options: WatchedObjectOptions<T>;
  readonly #stop = new AbortController();
  readonly #first = Promise.withResolvers<void>();
  #object: T | undefined;

  constructor(options: WatchedObjectOptions<T>) {
    this.#options = options;
    this.#first.promise.catch(() => {});
    void this.#run();
  }

  /** Rejects when the first list fails; it is repeated meanwhile. */
  async get(): Promise<T | undefined> {
    await this.#first.promise;
    return this.#object;
  }

  close(): void {
    this.#stop.abort();
    this.#first.resolve();
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      try {
        await this.#follow(signal);
      } catch (error) {
        if (signal.aborted) return;
        const { kind, namespace, name, log } = this.#options;
        if (!hasCode(error, 'Expired') && !hasCode(error, 'ConnectionLost')) {
          log.warn('failed to watch an object of a pod, retrying', {
            kind: kind.kind,
            object: `${namespace}/${name}`,
            error,
          });
        }
        await sleep(this.#options.clock, retryMs, signal).catch(() => {});
      }
    }
  }

  async #follow(signal: AbortSignal): Promise<void> {
    const { client, kind, namespace, name, onChange } = this.#options;
    const options = { namespace, fieldSelector: { 'metadata.name': name }, signal };
    const { items, resourceVersion } = await client.list(kind, options);
    const isChanged = this.#object?.metadata.resourceVersion !== items[0]?.metadata.resourceVersion;
    this.#object = items[0];
    this.#first.resolve();
    if (isChanged) onChange(namespace);
    for await (const event of client.watch(kind, { ...options, resourceVersion })) {
      if (event.type === 'BOOKMARK') continue;
      this.#object = event.type === 'DELETED' ? undefined : event.object;
      onChange(namespace);
    }
  }
}
