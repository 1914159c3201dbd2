/**
 * Documents about the APIs of a control plane, built once for each change. Control planes that serve the same APIs share them; they are
 * cached under the budget of rebuildable data.
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

/** APIs of aggregated servers. */
interface Others {
  /** Increases with every change. */
  readonly generation: number;
}

/** Cache slot for lookup and insertion: fixed at the time of the request, even if the APIs change while the document is built. */
interface Place {
  find(): ServedDocument | undefined;
  keep(document: ServedDocument): ServedDocument;
}

export class ServedDocuments {
  readonly #catalogue: Catalogue;
  readonly #newest: Newest<ServedDocument>;
  readonly #others: Others;
  /** Documents that include aggregated servers. */
  #own: { readonly generation: string; readonly documents: Map<string, ServedDocument> } | undefined;
  #building: Promise<unknown> | undefined;

  constructor({ catalogue, budget, others }: { catalogue: Catalogue; budget: CacheBudget; others: Others }) {
    this.#catalogue = catalogue;
    this.#newest = new Newest(versions, { budget, bytesOf });
    this.#others = others;
  }

  /** `isMerged`: the document includes aggregated servers. */
  get(name: string, isMerged: boolean, build: () => Buffer): ServedDocument {
    const place = this.#place(name, isMerged);
    return place.find() ?? place.keep(documentOf(build()));
  }

  /**
   * Like `get`, for documents that take long to build: builds one at a time, regardless of the number of requests. A caller that waited
   * gets the newest document. `build` must read the served APIs before its first await.
   */
  async built(name: string, isMerged: () => boolean, build: () => Promise<Buffer>): Promise<ServedDocument> {
    for (;;) {
      const place = this.#place(name, isMerged());
      const known = place.find();
      if (known) return known;
      if (this.#building) {
        await this.#building.catch(() => undefined); // the caller that started it reports the error
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
