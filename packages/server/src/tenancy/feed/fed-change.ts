/** A change in a feed, decoded only on access. */

import { Buffer } from 'node:buffer';
import { decodeProtobuf, isProtobuf } from '@hangar/api';
import type { KubeObject } from '@hangar/api';
import type { FedChange } from './contract.ts';
import type { FedObject } from './key-places.ts';

export interface FedChangeOptions extends FedObject {
  readonly cluster: string;
  readonly type: FedChange['type'];
  readonly isInitial: boolean;
  /** Absent: the deleted value is unknown. */
  readonly value: Uint8Array | undefined;
  readonly revision: number;
}

export class StoredChange implements FedChange {
  readonly group: string;
  readonly resource: string;
  readonly cluster: string;
  readonly namespace: string;
  readonly name: string;
  readonly type: FedChange['type'];
  readonly isInitial: boolean;
  readonly #value: Uint8Array | undefined;
  readonly #revision: number;
  #bytes: Uint8Array | undefined;
  #object: KubeObject | undefined;

  constructor({ place, cluster, namespace, name, type, isInitial, value, revision }: FedChangeOptions) {
    this.group = place.group;
    this.resource = place.resource;
    this.cluster = cluster;
    this.namespace = namespace;
    this.name = name;
    this.type = type;
    this.isInitial = isInitial;
    this.#value = value;
    this.#revision = revision;
  }

  /** Throws if the stored kind or version is unknown. */
  get bytes(): Uint8Array {
    return (this.#bytes ??= this.#json());
  }

  get resourceVersion(): string {
    return String(this.#revision);
  }

  object(): KubeObject {
    if (!this.#object) {
      const { buffer, byteOffset, length } = this.bytes;
      const object = JSON.parse(Buffer.from(buffer, byteOffset, length).toString()) as KubeObject;
      object.metadata.resourceVersion = this.resourceVersion;
      this.#object = object;
    }
    return this.#object;
  }

  #json(): Uint8Array {
    const value = this.#value;
    if (!value) return namesAlone(this);
    // A real kube-apiserver on the same range writes protobuf.
    return isProtobuf(value) ? Buffer.from(JSON.stringify(decodeProtobuf(value))) : value;
  }
}

/** Returns a substitute for an object of which only the name is known. */
export function namesAlone({ namespace, name }: Pick<FedChange, 'namespace' | 'name'>): Uint8Array {
  return Buffer.from(JSON.stringify({ metadata: namespace === '' ? { name } : { namespace, name } }));
}
