/**
 * One copy of strings that many objects have: the namespace, values of labels, owners. V8's parser shares only those of up to ten
 * characters. Which pays is measured in object-store.bench.ts.
 */

import type { ApiObject, KindNames } from '@hangar/client';

/** More different ones are no longer kept: then they are not repeated either. */
const stringsMax = 50_000;

export class SharedStrings {
  readonly #known = new Map<string, string>();

  one(text: string): string {
    const known = this.#known.get(text);
    if (known !== undefined) return known;
    if (this.#known.size < stringsMax) this.#known.set(text, text);
    return text;
  }

  share({ apiVersion, kind }: KindNames, object: ApiObject): void {
    if (object.apiVersion === apiVersion) object.apiVersion = apiVersion;
    if (object.kind === kind) object.kind = kind;
    const { metadata } = object;
    if (metadata.namespace !== undefined) metadata.namespace = this.one(metadata.namespace);
    const { labels } = metadata;
    if (labels) for (const name in labels) labels[name] = this.one(labels[name]!);
    for (const owner of metadata.ownerReferences ?? []) {
      owner.apiVersion = this.one(owner.apiVersion);
      owner.kind = this.one(owner.kind);
      owner.name = this.one(owner.name);
      owner.uid = this.one(owner.uid);
    }
  }
}
