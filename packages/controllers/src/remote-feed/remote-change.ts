/** A change as received from the server: its bytes are unchanged, and parsed on demand. */

import type { KubeObject } from '@hangar/api';
import type { Change } from '../contract.ts';

/** The header line before the bytes of a change. */
export interface ChangeHead {
  readonly type: 'put' | 'delete';
  readonly cluster: string;
  readonly group: string;
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
  readonly resourceVersion: string;
  readonly isInitial: boolean;
}

export class RemoteChange implements Change {
  readonly type: Change['type'];
  readonly cluster: string;
  readonly group: string;
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
  readonly resourceVersion: string;
  readonly isInitial: boolean;
  readonly bytes: Uint8Array;
  readonly #buffer: Buffer;
  #object: KubeObject | undefined;

  constructor(head: ChangeHead, bytes: Buffer) {
    this.type = head.type;
    this.cluster = head.cluster;
    this.group = head.group;
    this.resource = head.resource;
    this.namespace = head.namespace;
    this.name = head.name;
    this.resourceVersion = head.resourceVersion;
    this.isInitial = head.isInitial;
    this.bytes = bytes;
    this.#buffer = bytes;
  }

  object(): KubeObject {
    if (!this.#object) {
      const object = JSON.parse(this.#buffer.toString()) as KubeObject;
      object.metadata.resourceVersion = this.resourceVersion;
      this.#object = object;
    }
    return this.#object;
  }
}
