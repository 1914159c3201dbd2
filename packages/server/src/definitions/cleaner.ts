/**
 * Deletes a definition: first all of its objects, waiting for their finalizers, then the finalizer of the definition, and with it the
 * definition itself.
 */

import type { KubeObject } from '@hangar/api';
import type { CustomResourceDefinition } from '@hangar/api/crd';
import { sleep } from '@hangar/core';
import { prefixRange } from '@hangar/store';
import type { Entry, Write } from '@hangar/store';
import { objectKey } from '../control-plane.ts';
import type { ControlPlane } from '../control-plane.ts';
import type { Resource } from '../resources/resource.ts';
import { StoredForm } from '../objects/stored.ts';
import { timestamp } from '../verbs/metadata.ts';
import { crd } from './library.ts';

const retryMinMs = 100;
const retryMaxMs = 5_000;
/** Upper bound of the time between the check and the commit of most requests; slow webhooks may exceed it. */
const stragglersMs = 2_000;
/** Number of objects that are deleted in one transaction. */
const batchSize = 100;

export class DefinitionCleaner {
  readonly #plane: ControlPlane;
  readonly #definitions: Resource;
  /** UIDs of the definitions that are being deleted. */
  readonly #running = new Set<string>();
  readonly #stop = new AbortController();

  constructor(plane: ControlPlane, definitions: Resource) {
    this.#plane = plane;
    this.#definitions = definitions;
  }

  close(): void {
    this.#stop.abort();
  }

  /** Returns immediately. Does nothing if the deletion is already running. */
  clean(definition: CustomResourceDefinition): void {
    const { uid, finalizers } = definition.metadata;
    if (!finalizers?.includes(crd().cleanupFinalizer) || this.#running.has(uid!)) return;
    this.#running.add(uid!);
    void this.#run(definition)
      .catch(() => undefined)
      .finally(() => this.#running.delete(uid!));
  }

  async #run(definition: CustomResourceDefinition): Promise<void> {
    let delayMs = retryMinMs;
    while (!this.#stop.signal.aborted) {
      const isDone = await this.#attempt(definition).catch(() => false);
      if (isDone) return this.#sweep(definition);
      await sleep(this.#plane.clock, delayMs, this.#stop.signal);
      delayMs = Math.min(delayMs * 2, retryMaxMs);
    }
  }

  /** A create that was in flight when the definition was marked may commit after the last list. */
  async #sweep(definition: CustomResourceDefinition): Promise<void> {
    await sleep(this.#plane.clock, stragglersMs, this.#stop.signal);
    const key = objectKey(this.#plane, this.#definitions, '', definition.metadata.name!);
    const { entry } = await this.#plane.store.get(key);
    if (!entry) await this.#endObjects(definition);
  }

  /** Returns true if the definition is gone or no longer terminating. */
  async #attempt(definition: CustomResourceDefinition): Promise<boolean> {
    const left = await this.#endObjects(definition);
    return left === 0 && this.#release(definition);
  }

  /** Returns the number of remaining objects. */
  async #endObjects({ spec, status }: CustomResourceDefinition): Promise<number> {
    const { store, prefix } = this.#plane;
    const range = prefixRange(`${prefix}${spec.group}/${status?.acceptedNames?.plural || spec.names.plural}/`);
    const { entries } = await store.range(range);
    const stored = storedForm(spec);
    for (let at = 0; at < entries.length; at += batchSize) {
      const writes = entries.slice(at, at + batchSize).flatMap((entry) => this.#endObject(stored, entry));
      const deletions = writes.filter(({ type }) => type === 'delete');
      if (deletions.length > 0) await store.commit(deletions);
      // One at a time: together they may exceed the limit of a transaction.
      for (const write of writes) if (write.type !== 'delete') await store.commit([write]);
    }
    return (await store.statistics(range)).keys;
  }

  #endObject(stored: StoredForm, entry: Entry): Write[] {
    const object = stored.object(entry);
    const { metadata } = object;
    if (!metadata.finalizers?.length) return [{ type: 'delete', key: entry.key, expected: entry.modRevision }];
    if (metadata.deletionTimestamp !== undefined) return [];
    metadata.deletionTimestamp = timestamp(this.#plane.clock);
    metadata.deletionGracePeriodSeconds = 0;
    if (metadata.generation !== undefined) metadata.generation++;
    return [{ type: 'put', key: entry.key, value: stored.encode(object), expected: entry.modRevision }];
  }

  async #release(definition: CustomResourceDefinition): Promise<boolean> {
    const { store } = this.#plane;
    const { name, uid } = definition.metadata;
    const key = objectKey(this.#plane, this.#definitions, '', name!);
    const { entry } = await store.get(key);
    const object = entry && this.#definitions.stored.object(entry);
    if (!object || object.metadata.uid !== uid) return true;
    const { committed } = await store.commit([this.#released(entry, object)]);
    return committed;
  }

  #released(entry: Entry, object: KubeObject): Write {
    const { key, modRevision: expected } = entry;
    const { metadata } = object;
    const kept = (metadata.finalizers ?? []).filter((one) => one !== crd().cleanupFinalizer);
    if (kept.length === 0) return { type: 'delete', key, expected };
    metadata.finalizers = kept;
    return { type: 'put', key, value: this.#definitions.stored.encode(object), expected };
  }
}

function storedForm({ group, names, versions }: CustomResourceDefinition['spec']): StoredForm {
  const apiVersion = `${group}/${versions.find(({ storage }) => storage)!.name}`;
  return new StoredForm({
    kind: names.kind,
    apiVersion,
    storedApiVersion: apiVersion,
    isCustom: true,
    convert: (object, wanted) => ({ ...object, apiVersion: wanted }),
  });
}
