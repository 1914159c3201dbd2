/**
 * One copy of what many objects have: the namespace, values of labels, owners, and the trees of fields that a manager owns, which are
 * alike in all objects that it makes. V8's parser shares only strings of up to ten characters. Which pays is measured in
 * object-store.bench.ts, and for the trees by `npm run bench -- runtime fleet`.
 */

import type { JsonObject, ManagedFieldsEntry } from '@hangar/api/json';
import type { ApiObject, KindNames } from '@hangar/client';

/** More different ones are no longer kept: then they are not repeated either. */
const stringsMax = 50_000;
const treesMax = 5_000;
/** Larger ones are those of large objects, which are few. */
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

/** Undefined for what is nested too deep to be written by a recursion. */
function textOf(tree: JsonObject): string | undefined {
  try {
    return JSON.stringify(tree);
  } catch {
    return undefined;
  }
}
