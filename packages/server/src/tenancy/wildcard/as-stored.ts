/**
 * Custom resources of many control planes, each with a separate definition: an object is returned as stored, in the storage version of its
 * control plane. Only the revision and the name of the control plane are added.
 */

import type { KubeObject } from '@hangar/api';
import type { Entry, Revision } from '@hangar/store';
import { StoredForm } from '../../objects/stored.ts';

/** `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{`: how stored custom resources begin. */
const head = /^\{"apiVersion":"([^"\\]+)","kind":"([^"\\]+)","metadata":\{/;
/** Objects with a longer head are decoded. */
const headLengthMax = 512;
/** Maximum number of cached combinations of kind and version under one name. */
const formsMax = 64;

const formOptions = (apiVersion: string, kind: string, clusterName: (entry: Entry) => string) => ({
  kind,
  apiVersion,
  storedApiVersion: apiVersion,
  isCustom: true,
  convert: (object: KubeObject): KubeObject => object,
  clusterName,
});

export class AsStored extends StoredForm {
  readonly #clusterName: (entry: Entry) => string;
  /** By the head of the objects. */
  readonly #forms = new Map<string, StoredForm>();
  #kind: string | undefined;

  /** `apiVersion`: the requested version. */
  constructor(apiVersion: string, clusterName: (entry: Entry) => string) {
    super(formOptions(apiVersion, '', clusterName));
    this.#clusterName = clusterName;
  }

  /** Kind of the last object returned; undefined if there was none. */
  get kindSeen(): string | undefined {
    return this.#kind;
  }

  override object(entry: Entry, revision: Revision = entry.modRevision): KubeObject {
    const object = super.object(entry, revision);
    this.#kind = object.kind;
    return object;
  }

  override json(entry: Entry, revision: Revision = entry.modRevision): Buffer {
    return this.#formOf(entry)?.json(entry, revision) ?? super.json(entry, revision);
  }

  override items(entries: readonly Entry[]): Buffer {
    const pieces: Buffer[] = [];
    for (let at = 0; at < entries.length;) {
      const form = this.#formOf(entries[at]!);
      let end = at + 1;
      while (end < entries.length && this.#formOf(entries[end]!) === form) end++;
      const some = entries.slice(at, end);
      if (at > 0) pieces.push(Buffer.from(','));
      pieces.push(form ? form.items(some) : super.items(some));
      at = end;
    }
    return pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces);
  }

  /** Returns undefined if the object has to be decoded. */
  #formOf({ value }: Entry): StoredForm | undefined {
    const found = head.exec(
      Buffer.from(value.buffer, value.byteOffset, Math.min(value.length, headLengthMax)).toString(),
    );
    if (!found) return undefined;
    const [first, apiVersion, kind] = found as unknown as [string, string, string];
    this.#kind = kind;
    let form = this.#forms.get(first);
    if (!form) {
      form = new StoredForm(formOptions(apiVersion, kind, this.#clusterName));
      if (this.#forms.size < formsMax) this.#forms.set(first, form);
    }
    return form;
  }
}
