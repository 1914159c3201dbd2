/**
 * Shares one copy of values that many objects have: namespaces, label values, owners, and the trees of managed fields, which are equal in
 * all objects of a manager. The parser of V8 shares only strings of up to ten characters. object-store.bench.ts measures the gain, and `npm
 * run bench -- runtime fleet` that of the trees.
 */

import type { JsonObject, ManagedFieldsEntry } from '@hangar/api/json';
import type { ApiObject, KindNames } from '@hangar/client';

/** Above this number of distinct strings, sharing stops: they rarely repeat. */
const stringsMax = 50_000;
const treesMax = 5_000;
/** Longer trees belong to large objects, which are few. */
const treeLengthMax = 2_000;

export class SharedStrings {
  readonly #known = new Map<string, string>();
  readonly #trees = new Map<string, JsonObject>();

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
    for (const entry of metadata.managedFields ?? []) this.#shareFields(entry);
  }

  #shareFields(entry: ManagedFieldsEntry): void {
    if (entry.manager !== undefined) entry.manager = this.one(entry.manager);
    if (entry.fieldsV1 === undefined) return;
    const text = textOf(entry.fieldsV1);
    if (text === undefined || text.length > treeLengthMax) return;
    const known = this.#trees.get(text);
    if (known) entry.fieldsV1 = known;
    else if (this.#trees.size < treesMax) this.#trees.set(text, entry.fieldsV1);
  }
}

/** Returns undefined for a tree that is nested too deep for recursion. */
function textOf(tree: JsonObject): string | undefined {
  try {
    return JSON.stringify(tree);
  } catch {
    return undefined;
  }
}
