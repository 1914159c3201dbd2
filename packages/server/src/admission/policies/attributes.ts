/**
 * The attributes of an admission request as policies see them. As in Kubernetes, a Namespace object is in itself, and a subresource has its
 * own kind.
 */

import type { GroupVersionKind, KubeObject } from '@hangar/api';
import type { ResourceName } from '../../resources/catalogue.ts';
import type { AdmissionRequest } from '../admission.ts';
import { kindOf } from '../matching/equivalents.ts';
import { isNamespace, namespaceOf } from '../matching/namespace.ts';

export interface Attributes {
  readonly request: AdmissionRequest;
  /** Kind of the object. */
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

/** Writes to `scale` carry the scaled object: returns its Scale. */
const asScale = ({ resource }: AdmissionRequest, object: KubeObject): KubeObject =>
  object.kind === 'Scale' ? object : resource.scale!.scaleOf(object);

/** `apps/v1, Kind=Deployment`; in the core group it starts with a slash. */
export const kindText = ({ group, version, kind }: GroupVersionKind): string => `${group}/${version}, Kind=${kind}`;
