/**
 * Converts a request to the version that a webhook expects. With `matchPolicy: Equivalent`, a webhook for one version of a resource
 * receives requests for all of them: objects are converted to that version, and changes are converted back.
 */

import { normalise } from '@hangar/api';
import type { KubeObject } from '@hangar/api';
import type { ControlPlane } from '../../control-plane.ts';
import type { Decodable } from '../../objects/decode.ts';
import { kindReader } from '../../objects/kind-reader.ts';
import type { Resource } from '../../resources/resource.ts';
import type { AdmissionRequest } from '../admission.ts';
import { kindOf } from '../matching/equivalents.ts';

export class VersionedRequest {
  readonly request: AdmissionRequest;
  #resource: Resource;
  #object: KubeObject | undefined;
  #old: KubeObject | undefined;
  #isChanged = false;

  constructor(request: AdmissionRequest) {
    this.request = request;
    this.#resource = request.resource;
    this.#object = request.object;
    this.#old = request.old;
  }

  /** The object in the current version, with all fields that Go writes: a patch may refer to them. */
  get object(): KubeObject | undefined {
    return this.#object && this.#whole(this.#object);
  }

  get old(): KubeObject | undefined {
    return this.#old && this.#whole(this.#old);
  }

  #whole(object: KubeObject): KubeObject {
    const { struct } = this.reader;
    return struct ? (normalise(struct, object) as KubeObject) : object;
  }

  /** Converts the objects to this resource. */
  async show(resource: Resource): Promise<void> {
    if (resource === this.#resource) return;
    await this.settle();
    const { request } = this;
    this.#object = request.object && (await convert(request.plane, [request.resource, resource], request.object));
    this.#old = request.old && (await convert(request.plane, [request.resource, resource], request.old));
    this.#resource = resource;
  }

  /** Sets the changed object, in the current version. */
  change(object: KubeObject): void {
    this.#object = object;
    this.#isChanged = true;
  }

  /** Writes the change back to the request, in the version of the request. */
  async settle(): Promise<void> {
    if (!this.#isChanged) return;
    this.#isChanged = false;
    const { request } = this;
    const object = this.#object!;
    const isOwn = this.#resource === request.resource;
    const own = isOwn ? object : await convert(request.plane, [this.#resource, request.resource], object);
    become(request.object!, own);
    if (isOwn) this.#object = request.object;
  }

  /** Decodes an object that a webhook returned. */
  get reader(): Decodable {
    const { group, version, kind } = kindOf(this.#resource, this.request.subresource);
    const resource = this.#resource;
    const isOwn = kind === resource.kind && group === resource.group;
    return isOwn ? resource : kindReader(group === '' ? version : `${group}/${version}`, kind);
  }
}

/** Subresources with a separate kind are the same in all versions. */
function convert(
  plane: ControlPlane,
  [from, to]: readonly [Resource, Resource],
  object: KubeObject,
): KubeObject | Promise<KubeObject> {
  if (object.kind !== from.kind || object.apiVersion !== from.apiVersion || !from.convert) return object;
  return from.convert(plane, structuredClone(object), to.apiVersion);
}

/** Replaces the contents of the object in place, because verbs keep a reference to it. */
function become(object: KubeObject, other: KubeObject): void {
  if (object === other) return;
  for (const name of Object.keys(object)) delete object[name];
  Object.assign(object, other);
}
