/**
 * The stored form of a resource's objects, and the way from it to answers without decoding.
 *
 * A value is JSON without `resourceVersion`, which is the key's revision. It begins with a head that is the same for all
 * objects of the resource, so that a revision is written in by copying bytes:
 *
 *   stored     {"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a","uid":"…",…
 *   answered   {"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a","uid":"…","resourceVersion":"7",…
 *   in a list                                       {"metadata":{"name":"a","uid":"…","resourceVersion":"7",…
 *
 * Values that others wrote, in another order, of another version, or as protobuf, take the way through the decoder.
 */

import { decodeProtobuf, isProtobuf, normalise, normaliseSharing } from '@hangar/api';
import type { JsonObject, KubeObject, ObjectMeta, StructType } from '@hangar/api';
import type { Entry, Revision } from '@hangar/store';
import { ownText } from './own-memory.ts';

export interface StoredFormOptions {
  readonly kind: string;
  /** Of the resource, as requests name it. */
  readonly apiVersion: string;
  readonly storedApiVersion: string;
  /** Custom resources begin with their apiVersion, and keep it in lists. */
  readonly isCustom: boolean;
  /** Of built-in kinds: stored are all fields that Go always writes, such as an empty status, in Go's order. */
  readonly struct?: StructType;
  /** What reading makes of stored objects, where their schema may have changed since they were written. In place. */
  refresh?(object: KubeObject): void;
  /** Whose an entry is, where objects of several control planes are answered together: `metadata.clusterName`. Never stored. */
  clusterName?(entry: Entry): string;
  /** Between the stored version and the resource's own. */
  convert(object: KubeObject, apiVersion: string): KubeObject;
}

const metadata = '"metadata":{';
const newline = 0x0a;
const comma = 0x2c;

export class StoredForm {
  readonly #options: StoredFormOptions;
  readonly #head: Buffer;
  readonly #itemHead: Buffer;
  readonly #isSameVersion: boolean;
  /** Stored bytes are what is answered. */
  readonly #isFaithful: boolean;

  constructor(options: StoredFormOptions) {
    this.#options = options;
    const kind = JSON.stringify(options.kind);
    const apiVersion = JSON.stringify(options.storedApiVersion);
    const first = options.isCustom
      ? `"apiVersion":${apiVersion},"kind":${kind},`
      : `"kind":${kind},"apiVersion":${apiVersion},`;
    this.#head = ownText(`{${first}${metadata}`);
    this.#itemHead = options.isCustom ? this.#head : ownText(`{${metadata}`);
    this.#isSameVersion = options.apiVersion === options.storedApiVersion;
    this.#isFaithful = this.#isSameVersion && options.refresh === undefined;
  }

  /** The same form, for answers that say of each object whose it is. */
  withClusterName(clusterName: (entry: Entry) => string): StoredForm {
    return new StoredForm({ ...this.#options, clusterName });
  }

  /** The value to store. The object's resourceVersion is left out; the object is not changed. */
  encode(object: KubeObject): Buffer {
    const { metadata: meta, apiVersion: _, kind, ...rest } = this.#whole(object);
    const apiVersion = this.#options.storedApiVersion;
    const first = this.#options.isCustom ? { apiVersion, kind } : { kind, apiVersion };
    return Buffer.from(JSON.stringify({ ...first, metadata: ordered(meta), ...rest }));
  }

  /** In the stored version. To be read only: parts may be the object's own. */
  #whole(object: KubeObject): KubeObject {
    const { struct, storedApiVersion, convert } = this.#options;
    if (this.#isSameVersion) return struct ? (normaliseSharing(struct, object) as KubeObject) : object;
    return convert(struct ? (normalise(struct, object) as KubeObject) : object, storedApiVersion);
  }

  /** It is stored as it would be now: in this form, and in the version that is the stored one today. */
  isCurrent({ value }: Entry): boolean {
    const head = this.#head;
    return value.length > head.length && head.compare(value, 0, head.length) === 0;
  }

  /** A fresh object of the resource's version. Throws when the value is not one. */
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
   * The type and metadata of an object of the resource's version. Nothing is defaulted or converted, so that this works for
   * every object that can be parsed. Throws when the value is not one.
   */
  partial(entry: Entry, revision: Revision = entry.modRevision): KubeObject {
    const { metadata: meta } = parsed(entry.value);
    const { kind, apiVersion, clusterName } = this.#options;
    if (revision > 0) meta.resourceVersion = String(revision);
    if (clusterName) (meta as JsonObject)['clusterName'] = clusterName(entry);
    return { kind, apiVersion, metadata: meta };
  }

  /** The object as JSON, with a line's end as kube-apiserver writes it. */
  json(entry: Entry, revision: Revision = entry.modRevision): Buffer {
    const { value } = entry;
    const cut = this.#cut(value);
    if (cut === 0) return Buffer.from(`${JSON.stringify(this.object(entry, revision))}\n`);
    const text = this.#text(entry, revision);
    const bytes = Buffer.allocUnsafe(value.length + text.length + 1);
    bytes[this.#splice(bytes, 0, { head: this.#head, value, cut, text })] = newline;
    return bytes;
  }

  /** Values are answered as they are stored, unless others wrote them: without decoding. */
  get isFaithful(): boolean {
    return this.#isFaithful;
  }

  /** The objects as JSON, as the items of a list: with commas between them, in one piece of memory. */
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

  /** A cluster's name is a DNS label: there is nothing to escape. */
  #text(entry: Entry, revision: Revision): string {
    const text = versionText(revision);
    const { clusterName } = this.#options;
    return clusterName ? `${text},"clusterName":"${clusterName(entry)}"` : text;
  }

  #decodedItem(entry: Entry): Buffer {
    const { kind, apiVersion, ...rest } = this.object(entry);
    return Buffer.from(JSON.stringify(this.#options.isCustom ? { apiVersion, kind, ...rest } : rest));
  }

  /** Where the version goes into a stored value; 0 when the value has to be decoded. */
  #cut(value: Uint8Array): number {
    const head = this.#head;
    if (!this.#isFaithful || value.length <= head.length || head.compare(value, 0, head.length) !== 0) return 0;
    if (this.#options.clusterName && mayNameCluster(value)) return 0;
    return afterUid(value, head.length);
  }

  #lengthOf({ head, value, text }: Splice): number {
    return head.length + text.length + value.length - this.#head.length;
  }

  /** Writes the head, then what follows the stored head, with the text where it belongs; answers how much that is. */
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

/** A stored value with another head, and with a text at one place. */
interface Splice {
  readonly head: Buffer;
  readonly value: Uint8Array;
  readonly cut: number;
  readonly text: string;
}

/** Nothing has the revision 0: an object that a dry run only imagines is of no version. */
const versionText = (revision: Revision): string => (revision === 0 ? '' : `,"resourceVersion":"${revision}"`);

/**
 * Others may have stored such a name, and of two readers take the last. We never write one, nor escape a letter: what might
 * hold one is decoded, so that ours is the only one.
 */
function mayNameCluster(value: Uint8Array): boolean {
  const bytes = asBuffer(value);
  return bytes.includes('clusterName') || bytes.includes('\\u00');
}

const uid = Buffer.from('"uid":"');

/**
 * Behind the uid, as in Go's type; 0 when the value is not of our making. No text can look like its key, whose quotes would
 * be escaped, but a label or an owner can: before the object's own there is nothing but texts.
 */
function afterUid(value: Uint8Array, from: number): number {
  const bytes = asBuffer(value);
  const at = bytes.indexOf(uid, from);
  if (at < 0) return 0;
  for (let i = from; i < at; i++) if (bytes[i] === 0x7b || bytes[i] === 0x5b) return 0;
  const end = bytes.indexOf(0x22, at + uid.length);
  // `\"` is not its end; `,"r` begins a version that others stored along.
  return bytes[end - 1] === 0x5c || bytes[end + 3] === 0x72 ? 0 : end + 1;
}

/** In the order of Go's type, so that what is the same has the same bytes whoever set it in which order. */
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
