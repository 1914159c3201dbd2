/**
 * A request for admission as policies see it. It differs from what the verbs hand over in small ways that Kubernetes has
 * and policies depend on: a namespace is in itself, and a subresource has a kind of its own.
 */

import type { GroupVersionKind, KubeObject } from '@hangar/api';
import type { ResourceName } from '../../resources/catalogue.ts';
import type { AdmissionRequest } from '../admission.ts';
import { kindOf } from '../matching/equivalents.ts';
import { isNamespace, namespaceOf } from '../matching/namespace.ts';

export interface Attributes {
  readonly request: AdmissionRequest;
  /** What the object is. */
  readonly kind: GroupVersionKind;
  readonly resource: ResourceName;
  readonly namespace: string;
  readonly isNamespace: boolean;
  readonly object: KubeObject | undefined;
  readonly old: KubeObject | undefined;
}

export function attributesOf(request: AdmissionRequest): Attributes {
  const { resource, subresource, object, old } = request;
  const { group, version } = resource;
  const isScale = subresource === 'scale' && resource.scale !== undefined;
  return {
    request,
    kind: kindOf(resource, subresource),
    resource: { group, version, resource: resource.name },
    namespace: namespaceOf(request),
    isNamespace: isNamespace(request),
    object: isScale ? object && asScale(request, object) : object,
    old: isScale ? old && asScale(request, old) : old,
  };
}

/** Writes of a scale are handed over as writes of what is scaled. */
const asScale = ({ resource }: AdmissionRequest, object: KubeObject): KubeObject =>
  object.kind === 'Scale' ? object : resource.scale!.scaleOf(object);

/** `apps/v1, Kind=Deployment`; the core group's begins with a slash. */
export const kindText = ({ group, version, kind }: GroupVersionKind): string => `${group}/${version}, Kind=${kind}`;
