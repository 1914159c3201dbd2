/** Converts values of a resource with a conversion webhook: from the stored version to the served one, and back. */

import type { KubeObject } from '@hangar/api';
import { Slicer } from '@hangar/core';
import type { ControlPlane } from '../../control-plane.ts';
import { ownText } from '../../objects/own-memory.ts';
import type { StoredForm } from '../../objects/stored.ts';
import type { ConversionWebhook } from './conversion-webhook.ts';

export interface StoredVersionsOptions {
  readonly plane: ControlPlane;
  readonly webhook: ConversionWebhook;
  /** Form of the served version, whose values are treated as if they were stored in it. */
  readonly stored: StoredForm;
  readonly apiVersion: string;
  readonly storedApiVersion: string;
  /** Applies the schema of the object's version. In place. */
  adapt(object: KubeObject): void;
}

export class StoredVersions {
  readonly #options: StoredVersionsOptions;
  readonly #head: Buffer;
  readonly #storedHead: Buffer;
  /** Values already converted for the store, keyed by the value that is returned for them. */
  readonly #known = new WeakMap<Uint8Array, Buffer>();

  constructor(options: StoredVersionsOptions) {
    this.#options = options;
    this.#head = headOf(options.apiVersion);
    this.#storedHead = headOf(options.storedApiVersion);
  }

  isStoredVersion(value: Uint8Array): boolean {
    return startsWith(value, this.#storedHead);
  }

  /** Uses one webhook call for all values that need conversion. Rejects with 500. */
  async fromStore(values: readonly Uint8Array[]): Promise<Uint8Array[]> {
    const others = values.filter((value) => !this.#isServed(value));
    if (others.length === 0) return [...values];
    const { apiVersion, stored, adapt } = this.#options;
    const converted = await this.#convert(others, apiVersion);
    const slicer = new Slicer(this.#options.plane.clock);
    const bytes: Buffer[] = [];
    for (const object of converted) {
      adapt(object);
      bytes.push(stored.encode(object));
      await slicer.pause();
    }
    return values.map((value) => (this.#isServed(value) ? value : bytes.shift()!));
  }

  /** Rejects with 500. */
  async toStore(value: Uint8Array): Promise<Uint8Array> {
    const { apiVersion, storedApiVersion, adapt } = this.#options;
    if (apiVersion === storedApiVersion) return value;
    const known = this.#known.get(value);
    if (known) return known;
    const [object] = await this.#convert([value], storedApiVersion);
    adapt(object!);
    const { apiVersion: _, kind, metadata, ...rest } = object!;
    return Buffer.from(JSON.stringify({ apiVersion: storedApiVersion, kind, metadata, ...rest }));
  }

  /** Returns the value as it will be read after it was stored: a conversion may lose fields that the stored version does not have. */
  async roundTrip(value: Buffer): Promise<Buffer> {
    const { apiVersion, storedApiVersion } = this.#options;
    if (apiVersion === storedApiVersion) return value;
    const inStore = Buffer.from(await this.toStore(value));
    const [back] = await this.fromStore([inStore]);
    const read = Buffer.from(back!);
    this.#known.set(read, inStore);
    return read;
  }

  async #convert(values: readonly Uint8Array[], apiVersion: string): Promise<KubeObject[]> {
    const { plane, webhook, adapt } = this.#options;
    const slicer = new Slicer(plane.clock);
    const objects: KubeObject[] = [];
    for (const value of values) {
      const object = JSON.parse(Buffer.from(value).toString()) as KubeObject;
      adapt(object);
      objects.push(object);
      await slicer.pause();
    }
    return webhook.convert(plane, objects, apiVersion);
  }

  #isServed(value: Uint8Array): boolean {
    return startsWith(value, this.#head);
  }
}

const headOf = (apiVersion: string): Buffer => ownText(`{"apiVersion":${JSON.stringify(apiVersion)},`);

const startsWith = (value: Uint8Array, head: Buffer): boolean =>
  value.length > head.length && head.compare(value, 0, head.length) === 0;
