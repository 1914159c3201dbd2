/**
 * The summary of a virtual control plane, from its export: the number of objects, and a SHA-256 over the keys and values of its entries in
 * the order of keys. A restored control plane has the same summary as its backup. Left out are
 *
 *     .hangar/…                                    CAs and keys, which a restore under another name replaces
 *     events/… leases/…                            Events and Leases, which change while nothing happens
 *     configmaps/…/kube-root-ca.crt                objects that are derived from the keys and the address of the control plane
 *     configmaps/kube-public/cluster-info
 *     configmaps/kube-system/extension-apiserver-authentication
 *
 * and the default objects of a control plane that it did not change, which are not in an export. A deletion of a default object
 * (`.hidden/…`) is part of the digest, but not of the number of objects.
 */

import { createHash } from 'node:crypto';
import { asError } from '@hangar/core';
import { readTransfer } from '@hangar/store/transfer';
import type { TransferEntry } from '@hangar/store/transfer';
import type { ContentSummary } from '@hangar/backup-operator';
import { Handover } from './handover.ts';

/** Description at the start of an export. */
export interface ExportAbout {
  readonly revision: string;
  /** Version of the server. */
  readonly version: string;
  readonly hasKeys: boolean;
}

const isDerived =
  /^(?:\.hangar\/|events\/|leases\/|configmaps\/(?:[^/]+\/kube-root-ca\.crt|kube-public\/cluster-info|kube-system\/extension-apiserver-authentication)$)/;
const isDeletion = /^\.hidden\//;

/** Digest of entries in the order of their keys. */
class EntriesDigest {
  readonly #hash = createHash('sha256');
  #objects = 0;

  add({ key, value }: TransferEntry): void {
    if (isDerived.test(key)) return;
    if (!isDeletion.test(key)) this.#objects++;
    const name = Buffer.from(key);
    const lengths = Buffer.alloc(8);
    lengths.writeUInt32LE(name.length, 0);
    lengths.writeUInt32LE(value.length, 4);
    this.#hash.update(lengths).update(name).update(value);
  }

  summary({ revision }: ExportAbout): ContentSummary {
    return { objects: this.#objects, contentDigest: this.#hash.digest('hex'), revision };
  }
}

/** Computes the summary of an export while it passes. Memory use is that of a few chunks and one entry. */
export class SummarizedExport {
  readonly about: ExportAbout;
  readonly #first: readonly Uint8Array[];
  readonly #rest: AsyncIterator<Uint8Array>;
  readonly #reading: Reading;

  private constructor(
    about: ExportAbout,
    parts: { first: readonly Uint8Array[]; rest: AsyncIterator<Uint8Array>; reading: Reading },
  ) {
    this.about = about;
    this.#first = parts.first;
    this.#rest = parts.rest;
    this.#reading = parts.reading;
  }

  /** Resolves when the description was read. Rejects with `ImportFailed` if the stream is not an export. */
  static async open(chunks: AsyncIterable<Uint8Array>): Promise<SummarizedExport> {
    const rest = chunks[Symbol.asyncIterator]();
    const reading = new Reading();
    const first: Uint8Array[] = [];
    try {
      while (!reading.hasBegun) {
        const { done, value } = await rest.next();
        if (done) break;
        first.push(value);
        await reading.put(value);
      }
      if (!reading.hasBegun) reading.end();
      return new SummarizedExport(await reading.about, { first, rest, reading });
    } catch (error) {
      await rest.return?.();
      throw error;
    }
  }

  /** The bytes of the export, once. Rejects with `ImportFailed` after the last byte if the export is not complete. */
  async *content(): AsyncGenerator<Uint8Array, void, void> {
    try {
      for (const chunk of this.#first) yield chunk;
      for (;;) {
        const { done, value } = await this.#rest.next();
        if (done) break;
        await this.#reading.put(value);
        yield value;
      }
      this.#reading.end();
      await this.#reading.summary;
    } catch (error) {
      this.#reading.fail(asError(error));
      throw error;
    } finally {
      await this.#rest.return?.();
    }
  }

  /** Resolves after the content was read completely. */
  summary(): Promise<ContentSummary> {
    return this.#reading.summary;
  }
}

/** Returns the summary of an export, without its bytes. */
export async function summaryOf(chunks: AsyncIterable<Uint8Array>): Promise<ContentSummary> {
  const summarized = await SummarizedExport.open(chunks);
  for await (const _ of summarized.content());
  return summarized.summary();
}

class Reading {
  readonly about: Promise<ExportAbout>;
  readonly summary: Promise<ContentSummary>;
  /** True when the description was read, or the stream is invalid. */
  hasBegun = false;
  readonly #chunks = new Handover();
  readonly #failed = Promise.withResolvers<never>();

  constructor() {
    const transfer = readTransfer(this.#chunks).finally(() => (this.hasBegun = true));
    this.about = transfer.then(({ about }) => aboutOf(about));
    const summary = transfer
      .then(async ({ entries }) => {
        const digest = new EntriesDigest();
        for await (const entry of entries) digest.add(entry);
        return digest.summary(await this.about);
      })
      .finally(() => this.#chunks.leave());
    this.summary = Promise.race([summary, this.#failed.promise]);
    // Both are reported by `open` and `content`.
    for (const promise of [this.about, this.summary]) promise.catch(() => undefined);
  }

  /** Resolves when the chunk was read. */
  put(chunk: Uint8Array): Promise<void> {
    return this.#chunks.put(chunk);
  }

  end(): void {
    this.#chunks.end();
  }

  fail(error: Error): void {
    this.#failed.reject(error);
    this.#chunks.end();
  }
}

function aboutOf(bytes: Uint8Array | undefined): ExportAbout {
  const { revision, version, hasKeys } = JSON.parse(Buffer.from(bytes ?? Buffer.from('{}')).toString()) as {
    readonly revision?: unknown;
    readonly version?: unknown;
    readonly hasKeys?: unknown;
  };
  return { revision: String(revision), version: String(version), hasKeys: hasKeys === true };
}
