/**
 * The stored form of a resource's objects, and responses from it without decoding.
 *
 * A value is JSON without `resourceVersion`, which is the key's revision. It begins with a head that is the same for all objects of the
 * resource, so that a revision is inserted by copying bytes:
 *
 *   stored     {"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a","uid":"…",…
 *   answered   {"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a","uid":"…","resourceVersion":"7",…
 *   in a list                                       {"metadata":{"name":"a","uid":"…","resourceVersion":"7",…
 *
 * Values of other writers, in another order, of another version, or as protobuf, are decoded.
 */

import { decodeProtobuf, isProtobuf, normalise, normaliseSharing, sharedManagedFieldsJson } from '@hangar/api';
import type { JsonObject, KubeObject, ObjectMeta, StructType } from '@hangar/api';
import type { Entry, Revision } from '@hangar/store';
import { ownText } from './own-memory.ts';

export interface StoredFormOptions {
  readonly kind: string;
  /** apiVersion of the resource in requests. */
  readonly apiVersion: string;
  readonly storedApiVersion: string;
  /** Custom resources begin with their apiVersion, and keep it in lists. */
  readonly isCustom: boolean;
  /** For built-in kinds: all fields that Go always writes, such as an empty status, are stored in Go's order. */
  readonly struct?: StructType;
  /** Updates stored objects when read, if their schema may have changed since they were written. In place. */
  refresh?(object: KubeObject): void;
  /** Returns the control plane of an entry, for responses with objects of several control planes: `metadata.clusterName`. Never stored. */
  clusterName?(entry: Entry): string;
  /** Converts between the stored version and the version of the resource. */
  convert(object: KubeObject, apiVersion: string): KubeObject;
}

const metadata = '"metadata":{';
const newline = 0x0a;
const comma = 0x2c;

export class StoredForm {
  readonly #options: StoredFormOptions;
  readonly #headText: string;
  readonly #head: Buffer;
  readonly #itemHead: Buffer;
  readonly #isSameVersion: boolean;
  /** Stored bytes are returned unchanged. */
  readonly #isFaithful: boolean;

  constructor(options: StoredFormOptions) {
    this.#options = options;
    const kind = JSON.stringify(options.kind);
    const apiVersion = JSON.stringify(options.storedApiVersion);
    const first = options.isCustom
      ? `"apiVersion":${apiVersion},"kind":${kind},`
      : `"kind":${kind},"apiVersion":${apiVersion},`;
    this.#headText = `{${first}${metadata}`;
    this.#head = ownText(this.#headText);
    this.#itemHead = options.isCustom ? this.#head : ownText(`{${metadata}`);
    this.#isSameVersion = options.apiVersion === options.storedApiVersion;
    this.#isFaithful = this.#isSameVersion && options.refresh === undefined;
  }

  /** Returns the same form, for responses with the control plane of each object. */
  withClusterName(clusterName: (entry: Entry) => string): StoredForm {
    return new StoredForm({ ...this.#options, clusterName });
  }

  /** Returns the value to store, without resourceVersion. The object is not changed. */
  encode(object: KubeObject): Buffer {
    const { metadata: meta, apiVersion: _, kind, ...rest } = this.#whole(object);
    const managedFields = kind === this.#options.kind ? sharedManagedFieldsJson(meta.managedFields) : undefined;
    if (managedFields !== undefined) {
      const { managedFields: _shared, ...others } = meta;
      return Buffer.from(this.#joined(ordered(others), managedFields, rest));
    }
    const apiVersion = this.#options.storedApiVersion;
    const first = this.#options.isCustom ? { apiVersion, kind } : { kind, apiVersion };
    return Buffer.from(JSON.stringify({ ...first, metadata: ordered(meta), ...rest }));
  }

  /** Returns the JSON of an object whose managedFields are JSON already. They are the last field of metadata. */
  #joined(meta: JsonObject, managedFields: string, rest: JsonObject): string {
    const [fields, others] = [JSON.stringify(meta).slice(1, -1), JSON.stringify(rest).slice(1, -1)];
    const whole = `${fields === '' ? '' : `${fields},`}"managedFields":${managedFields}}`;
    return `${this.#headText}${whole}${others === '' ? '' : `,${others}`}}`;
  }

  /** Returns the object in the stored version. Read only: parts may belong to the object. */
  #whole(object: KubeObject): KubeObject {
    const { struct, storedApiVersion, convert } = this.#options;
    if (this.#isSameVersion) return struct ? (normaliseSharing(struct, object) as KubeObject) : object;
    return convert(struct ? (normalise(struct, object) as KubeObject) : object, storedApiVersion);
  }

  /** Reports whether the value is stored as it would be now: in this form and in the current storage version. */
  isCurrent({ value }: Entry): boolean {
    const head = this.#head;
    return value.length > head.length && head.compare(value, 0, head.length) === 0;
  }

  /** Returns a new object of the resource's version. Throws if the value is not one. */
  object(entry: Entry, revision: Revision = entry.modRevision): KubeObject {
    let object = parsed(entry.value);
    this.#options.refresh?.(object);
    if (!this.#isSameVersion || object.apiVersion !== this.#options.apiVersion) {
      object = this.#options.convert(object, this.#options.apiVersion);
    }
    if (revision > 0) object.metadata.resourceVersion = String(revision);
    const { clusterName } = this.#options;
    if (clusterName) (object.metadata as JsonObject)['clusterName'] = clusterName(entry);
    return object;
  }

  /**
   * Returns the type and metadata of an object of the resource's version. Nothing is defaulted or converted, so that this works for every
   * object that can be parsed. Throws if the value is not one.
   */
  partial(entry: Entry, revision: Revision = entry.modRevision): KubeObject {
    const { metadata: meta } = parsed(entry.value);
    const { kind, apiVersion, clusterName } = this.#options;
    if (revision > 0) meta.resourceVersion = String(revision);
    if (clusterName) (meta as JsonObject)['clusterName'] = clusterName(entry);
    return { kind, apiVersion, metadata: meta };
  }

  /** Returns the object as JSON with a trailing newline, as kube-apiserver writes it. */
  json(entry: Entry, revision: Revision = entry.modRevision): Buffer {
    const { value } = entry;
    const cut = this.#cut(value);
    if (cut === 0) return Buffer.from(`${JSON.stringify(this.object(entry, revision))}\n`);
    const text = this.#text(entry, revision);
    const bytes = Buffer.allocUnsafe(value.length + text.length + 1);
    bytes[this.#splice(bytes, 0, { head: this.#head, value, cut, text })] = newline;
    return bytes;
  }

  /** Reports whether conversion may change metadata: built-in kinds keep fields of other versions in annotations. */
  get convertsMetadata(): boolean {
    return !this.#options.isCustom && !this.#isSameVersion;
  }

  /** Reports whether values are returned as stored, without decoding, unless other writers wrote them. */
  get isFaithful(): boolean {
    return this.#isFaithful;
  }

  /** Returns the objects as JSON list items: separated by commas, in one buffer. */
  items(entries: readonly Entry[]): Buffer {
    let length = Math.max(0, entries.length - 1);
    const pieces = entries.map((entry) => {
      const piece = this.#item(entry);
      length += Buffer.isBuffer(piece) ? piece.length : this.#lengthOf(piece);
      return piece;
    });
    const bytes = Buffer.allocUnsafe(length);
    let at = 0;
    pieces.forEach((piece, index) => {
      if (index > 0) bytes[at++] = comma;
      at += Buffer.isBuffer(piece) ? piece.copy(bytes, at) : this.#splice(bytes, at, piece);
    });
    return bytes;
  }

  #item(entry: Entry): Splice | Buffer {
    const { value, modRevision } = entry;
    const cut = this.#cut(value);
    if (cut === 0) return this.#decodedItem(entry);
    return { head: this.#itemHead, value, cut, text: this.#text(entry, modRevision) };
  }

  /** A cluster name is a DNS label, so nothing needs escaping. */
  #text(entry: Entry, revision: Revision): string {
    const text = versionText(revision);
    const { clusterName } = this.#options;
    return clusterName ? `${text},"clusterName":"${clusterName(entry)}"` : text;
  }

  #decodedItem(entry: Entry): Buffer {
    const { kind, apiVersion, ...rest } = this.object(entry);
    return Buffer.from(JSON.stringify(this.#options.isCustom ? { apiVersion, kind, ...rest } : rest));
  }

  /** Returns the position of the version in a stored value; 0 if the value must be decoded. */
  #cut(value: Uint8Array): number {
    const head = this.#head;
    if (!this.#isFaithful || value.length <= head.length || head.compare(value, 0, head.length) !== 0) return 0;
    if (this.#options.clusterName && mayNameCluster(value)) return 0;
    return afterUid(value, head.length);
  }

  #lengthOf({ head, value, text }: Splice): number {
    return head.length + text.length + value.length - this.#head.length;
  }

  /** Writes the head, then the rest of the stored value with the text inserted; returns the number of bytes. */
  #splice(bytes: Buffer, at: number, { head, value, cut, text }: Splice): number {
    const from = this.#head.length;
    head.copy(bytes, at);
    let end = at + head.length;
    bytes.set(value.subarray(from, cut), end);
    end += cut - from;
    bytes.write(text, end, 'latin1');
    end += text.length;
    bytes.set(value.subarray(cut), end);
    return end + value.length - cut - at;
  }
}

const parsed = (value: Uint8Array): KubeObject =>
  (isProtobuf(value) ? decodeProtobuf(value) : JSON.parse(asBuffer(value).toString())) as KubeObject;

/** A stored value with a different head, and with a text inserted. */
interface Splice {
  readonly head: Buffer;
  readonly value: Uint8Array;
  readonly cut: number;
  readonly text: string;
}

/** No stored object has revision 0: the object of a dry run has no version. */
const versionText = (revision: Revision): string => (revision === 0 ? '' : `,"resourceVersion":"${revision}"`);

/**
 * Other writers may have stored a clusterName, and of duplicate keys readers take the last. Hangar never writes one, nor escapes letters: a
 * value that may contain one is decoded, so that ours is the only one.
 */
function mayNameCluster(value: Uint8Array): boolean {
  const bytes = asBuffer(value);
  return bytes.includes('clusterName') || bytes.includes('\\u00');
}

const uid = Buffer.from('"uid":"');

/**
 * Returns the position after the uid, as in Go's type; 0 if Hangar did not write the value. No string can look like the key, because its
 * quotes would be escaped, but a label or an owner can: before the object's uid there are only strings.
 */
function afterUid(value: Uint8Array, from: number): number {
  const bytes = asBuffer(value);
  const at = bytes.indexOf(uid, from);
  if (at < 0) return 0;
  for (let i = from; i < at; i++) if (bytes[i] === 0x7b || bytes[i] === 0x5b) return 0;
  const end = bytes.indexOf(0x22, at + uid.length);
  // `\"` does not close the string; `,"r` begins a version that another writer stored.
  return bytes[end - 1] === 0x5c || bytes[end + 3] === 0x72 ? 0 : end + 1;
}

/** In the order of Go's type, so that equal metadata has equal bytes regardless of the order in which it was set. */
const metadataOrder = [
  'name',
  'generateName',
  'namespace',
  'uid',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'labels',
  'annotations',
  'ownerReferences',
  'finalizers',
  'managedFields',
] as const;

function ordered(metadata: ObjectMeta): JsonObject {
  const result: JsonObject = {};
  for (const name of metadataOrder) {
    const value = metadata[name];
    if (value !== undefined) result[name] = value;
  }
  return result;
}

const asBuffer = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
