/**
 * The namespaces that objects live in, for selectors and for `namespaceObject`. Followed from the first request that
 * needs one; one that is not known yet is read, so that a namespace can be used as soon as it is there.
 */

import { notFound } from '@hangar/api';
import type { KubeObject } from '@hangar/api';
import { objectKey } from '../../control-plane.ts';
import type { ControlPlane } from '../../control-plane.ts';
import { Followed } from '../../objects/followed.ts';

const resource = { group: '', version: 'v1', resource: 'namespaces' };

export class Namespaces {
  readonly #plane: ControlPlane;
  readonly #followed: Followed<KubeObject>;

  constructor(plane: ControlPlane) {
    this.#plane = plane;
    this.#followed = new Followed(plane, resource, (object) => object);
  }

  known(name: string): KubeObject | undefined {
    return this.#followed.all?.get(name);
  }

  /** Rejects with 404 when there is none. */
  async get(name: string): Promise<KubeObject> {
    const known = (await this.#followed.ready()).get(name);
    if (known) return known;
    const { catalogue, store } = this.#plane;
    const namespaces = catalogue.find(resource)!;
    const { entry } = await store.get(objectKey(this.#plane, namespaces, '', name));
    if (!entry) throw notFound({ group: '', resource: 'namespaces' }, name);
    return namespaces.stored.object(entry);
  }

  close(): void {
    this.#followed.close();
  }
}
