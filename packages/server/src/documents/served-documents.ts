/**
 * Documents about what a control plane serves, built once for each change of it. Control planes that serve the same, as
 * most do, have the same documents; they are kept under the budget of all that can be made again.
 */

import { etagOf } from '@hangar/api';
import type { CacheBudget } from '../objects/cache-budget.ts';
import { SharedByContent } from '../objects/shared-by-content.ts';
import type { Catalogue } from '../resources/catalogue.ts';

export interface ServedDocument {
  readonly bytes: Buffer;
  readonly etag: string;
}

const shared = new SharedByContent<ServedDocument>();
const bytesOf = ({ bytes }: ServedDocument): number => bytes.length;

/** What other servers serve behind this one. */
interface Others {
  /** Grows with every change. */
  readonly generation: number;
}

export class ServedDocuments {
  readonly #catalogue: Catalogue;
  readonly #budget: CacheBudget;
  readonly #others: Others;
  /** Those that other servers have a part in. */
  #own: { readonly generation: string; readonly documents: Map<string, ServedDocument> } | undefined;

  constructor({ catalogue, budget, others }: { catalogue: Catalogue; budget: CacheBudget; others: Others }) {
    this.#catalogue = catalogue;
    this.#budget = budget;
    this.#others = others;
  }

  /** `isMerged`: other servers have a part in it. */
  get(name: string, isMerged: boolean, build: () => Buffer): ServedDocument {
    if (isMerged) return this.#merged(name, build);
    return shared.get(`${this.#catalogue.content} ${name}`, () => documentOf(build()), {
      budget: this.#budget,
      bytesOf,
    });
  }

  #merged(name: string, build: () => Buffer): ServedDocument {
    const generation = `${this.#catalogue.generation} ${this.#others.generation}`;
    if (this.#own?.generation !== generation) this.#own = { generation, documents: new Map() };
    const { documents } = this.#own;
    let document = documents.get(name);
    if (!document) documents.set(name, (document = documentOf(build())));
    return document;
  }
}

const documentOf = (bytes: Buffer): ServedDocument => ({ bytes, etag: etagOf(bytes) });
