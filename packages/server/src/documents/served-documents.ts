/**
 * Documents about what a control plane serves, built once for each change of it. Control planes that serve the same, as
 * most do, have the same documents; they are kept under the budget of all that can be made again.
 */

import { etagOf } from '@hangar/api';
import type { CacheBudget } from '../objects/cache-budget.ts';
import type { Catalogue } from '../resources/catalogue.ts';
import { Newest, SharedVersions } from './newest.ts';

export interface ServedDocument {
  readonly bytes: Buffer;
  readonly etag: string;
}

const versions = new SharedVersions<ServedDocument>();
const bytesOf = ({ bytes }: ServedDocument): number => bytes.length;

/** What other servers serve behind this one. */
interface Others {
  /** Grows with every change. */
  readonly generation: number;
}

/** One that is looked up and kept: both as of the moment when it was asked for, whatever changes while it is built. */
interface Place {
  find(): ServedDocument | undefined;
  keep(document: ServedDocument): ServedDocument;
}

export class ServedDocuments {
  readonly #catalogue: Catalogue;
  readonly #newest: Newest<ServedDocument>;
  readonly #others: Others;
  /** Those that other servers have a part in. */
  #own: { readonly generation: string; readonly documents: Map<string, ServedDocument> } | undefined;
  #building: Promise<unknown> | undefined;

  constructor({ catalogue, budget, others }: { catalogue: Catalogue; budget: CacheBudget; others: Others }) {
    this.#catalogue = catalogue;
    this.#newest = new Newest(versions, { budget, bytesOf });
    this.#others = others;
  }

  /** `isMerged`: other servers have a part in it. */
  get(name: string, isMerged: boolean, build: () => Buffer): ServedDocument {
    const place = this.#place(name, isMerged);
    return place.find() ?? place.keep(documentOf(build()));
  }

  /**
   * As `get`, for what takes long: one at a time, however many ask and whatever changes meanwhile. Who waited for another is
   * given what is newest then. `build` looks at what is served before it first waits, not later.
   */
  async built(name: string, isMerged: () => boolean, build: () => Promise<Buffer>): Promise<ServedDocument> {
    for (;;) {
      const place = this.#place(name, isMerged());
      const known = place.find();
      if (known) return known;
      if (this.#building) {
        await this.#building.catch(() => undefined); // whoever began it is told
        continue;
      }
      const building = build().then((bytes) => place.keep(documentOf(bytes)));
      this.#building = building;
      try {
        return await building;
      } finally {
        this.#building = undefined;
      }
    }
  }

  #place(name: string, isMerged: boolean): Place {
    if (isMerged) {
      const documents = this.#merged();
      return { find: () => documents.get(name), keep: (document) => (documents.set(name, document), document) };
    }
    const digest = `${this.#catalogue.content} ${name}`;
    return {
      find: () => this.#newest.find(name, digest),
      keep: (document) => this.#newest.get(name, digest, () => document),
    };
  }

  #merged(): Map<string, ServedDocument> {
    const generation = `${this.#catalogue.generation} ${this.#others.generation}`;
    if (this.#own?.generation !== generation) this.#own = { generation, documents: new Map() };
    return this.#own.documents;
  }
}

const documentOf = (bytes: Buffer): ServedDocument => ({ bytes, etag: etagOf(bytes) });
