/** The values of expressions: objects, request, namespace and parameters. */

import type { JsonObject, KubeObject } from '@hangar/api';
import type { CelBindings } from '@hangar/cel';
import type { Attributes } from './attributes.ts';
import type { Match } from './match-criteria.ts';

export interface Told {
  readonly attributes: Attributes;
  readonly match: Match;
  /** In the version that the policy matched. */
  readonly object: KubeObject | undefined;
  readonly old: KubeObject | undefined;
  readonly params: KubeObject | null;
  readonly namespace: KubeObject | undefined;
}

/** `request` is built when an expression reads it. */
export function valuesOf(told: Told): CelBindings {
  const { attributes, match, object, old, params, namespace } = told;
  let request: JsonObject | undefined;
  return {
    object: object ?? null,
    oldObject: old ?? null,
    params,
    namespaceObject: namespace ? shownNamespace(namespace) : null,
    get request() {
      return (request ??= requestValue(attributes, match));
    },
  };
}

/** Returns the AdmissionRequest of admission.k8s.io/v1 without the objects. Empty strings are omitted, as in Go. */
function requestValue({ request, kind, resource, namespace }: Attributes, match: Match): JsonObject {
  const { subresource, name, operation, user, isDryRun, options } = request;
  const { extra } = user;
  return {
    uid: '',
    kind: match.kind,
    resource: match.resource,
    ...present({ subResource: subresource }),
    requestKind: kind,
    requestResource: resource,
    ...present({ requestSubResource: subresource, name, namespace }),
    operation,
    userInfo: {
      ...present({ username: user.name, uid: user.uid }),
      ...(user.groups.length > 0 ? { groups: user.groups } : {}),
      ...(Object.keys(extra).length > 0 ? { extra } : {}),
    },
    object: null,
    oldObject: null,
    dryRun: isDryRun,
    options: options ?? null,
  };
}

const present = (texts: Readonly<Record<string, string>>): JsonObject =>
  Object.fromEntries(Object.entries(texts).filter(([, text]) => text !== ''));

/** Omits managers and owners. */
function shownNamespace({ metadata, spec, status }: KubeObject): JsonObject {
  const { managedFields: _, ownerReferences: __, ...shown } = metadata;
  return { metadata: shown, spec: spec ?? {}, status: status ?? {} };
}

/** Copies property descriptors: spreading would evaluate lazy values. */
export const joinedValues = (values: CelBindings, more: CelBindings): CelBindings =>
  Object.defineProperties(
    {},
    { ...Object.getOwnPropertyDescriptors(values), ...Object.getOwnPropertyDescriptors(more) },
  ) as CelBindings;
