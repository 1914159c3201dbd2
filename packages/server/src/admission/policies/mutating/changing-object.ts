/**
 * The object of a request while policies change it, converted to the version of each policy. The result is written back into the object of
 * the request, which is the one that is stored.
 */

import type { KubeObject } from '@hangar/api';
import type { Attributes } from '../attributes.ts';
import type { Match } from '../match-criteria.ts';
import { inVersion } from '../versions.ts';

export class ChangingObject {
  readonly #attributes: Attributes;
  #object: KubeObject | undefined;
  #wasWritten = false;

  constructor(attributes: Attributes) {
    this.#attributes = attributes;
    this.#object = attributes.object;
  }

  get wasWritten(): boolean {
    return this.#wasWritten;
  }

  async in(match: Match): Promise<KubeObject | undefined> {
    return this.#object && this.#shown(this.#object, this.#attributes, match);
  }

  async oldIn(match: Match): Promise<KubeObject | undefined> {
    const { old } = this.#attributes;
    return old && this.#shown(old, this.#attributes, match);
  }

  async write(match: Match, object: KubeObject): Promise<void> {
    this.#object = await this.#shown(object, match, this.#attributes);
    this.#wasWritten = true;
  }

  settle(): void {
    const { request } = this.#attributes;
    const target = request.object;
    if (!target || !this.#object) return;
    const isScale = this.#object.kind === 'Scale' && target.kind !== 'Scale';
    if (isScale) request.resource.scale!.applyScale(target, this.#object);
    else replaceContents(target, this.#object);
  }

  #shown(object: KubeObject, from: Match, to: Match): Promise<KubeObject> {
    return inVersion(this.#attributes.request.plane, object, from, to);
  }
}

/** Replaces the contents of an object in place, so that all references see the change. */
function replaceContents(target: KubeObject, source: KubeObject): void {
  for (const key of Object.keys(target)) delete target[key];
  Object.defineProperties(target, Object.getOwnPropertyDescriptors(source));
}
