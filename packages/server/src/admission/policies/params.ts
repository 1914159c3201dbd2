/**
 * Reads the objects that a policy gets as `params` when a request needs them: a written parameter takes effect immediately, and nothing is cached
 * of kinds that may be large.
 */

import { labelSelectorOf, parseApiVersion } from '@hangar/api';
import type { KubeObject } from '@hangar/api';
import { prefixRange } from '@hangar/store';
import { collectionPrefix, objectKey } from '../../control-plane.ts';
import type { ControlPlane } from '../../control-plane.ts';
import type { Resource } from '../../resources/resource.ts';
import { kindText } from './attributes.ts';
import { PolicyProblem } from './problem.ts';
import type { ParamKind, ParamRef } from './spec.ts';

/** Returns the resource of the parameter kind. Throws PolicyProblem if no such kind is served. */
export function paramResource(plane: ControlPlane, paramKind: ParamKind): Resource {
  const found = findKind(plane, paramKind);
  // Objects that are not stored here cannot be parameters.
  if (found && found.storagePrefix !== '') return found;
  const kind = { ...parseApiVersion(paramKind.apiVersion ?? ''), kind: paramKind.kind ?? '' };
  throw new PolicyProblem(`failed to find resource referenced by paramKind: '${kindText(kind)}'`);
}

export function findKind({ catalogue }: ControlPlane, { apiVersion = '', kind = '' }: ParamKind): Resource | undefined {
  const { group, version } = parseApiVersion(apiVersion);
  const served = catalogue.groups
    .find((one) => one.name === group)
    ?.versions.find((one) => one.name === version)
    ?.resources.find((one) => one.kind === kind);
  return served && catalogue.find({ group, version, resource: served.name });
}

export interface ParamsWanted {
  readonly plane: ControlPlane;
  /** Undefined: the policy has no parameters. */
  readonly resource: Resource | undefined;
  readonly ref: ParamRef | undefined;
  /** Namespace of the request. */
  readonly namespace: string;
}

/** Returns the parameters; the policy is evaluated once for each. Null stands for no parameter. Rejects with PolicyProblem. */
export async function collectParams(wanted: ParamsWanted): Promise<readonly (KubeObject | null)[]> {
  const { resource, ref } = wanted;
  if (!resource || !ref) return [null];
  const namespace = paramNamespace(wanted.namespace, resource, ref);
  const found = await (ref.name ? named(wanted.plane, resource, namespace, ref.name) : selected(wanted, namespace));
  if (found.length === 0 && ref.parameterNotFoundAction === 'Deny') {
    throw new PolicyProblem('no params found for policy binding with `Deny` parameterNotFoundAction');
  }
  return found;
}

function paramNamespace(requested: string, resource: Resource, ref: ParamRef): string {
  if (!resource.namespaced) {
    if (!ref.namespace) return '';
    throw new PolicyProblem('paramRef.namespace must not be provided for a cluster-scoped `paramKind`');
  }
  const namespace = ref.namespace || requested;
  if (namespace !== '') return namespace;
  throw new PolicyProblem('cannot use namespaced paramRef in policy binding that matches cluster-scoped resources');
}

async function named(plane: ControlPlane, resource: Resource, namespace: string, name: string): Promise<KubeObject[]> {
  const home = resource.plane ?? plane;
  const { entry } = await home.store.get(objectKey(home, resource, namespace, name));
  return entry ? [resource.stored.object(entry)] : [];
}

async function selected({ plane, resource, ref }: ParamsWanted, namespace: string): Promise<KubeObject[]> {
  const selector = labelSelectorOf(ref!.selector);
  const home = resource!.plane ?? plane;
  const { entries } = await home.store.range(prefixRange(collectionPrefix(home, resource!, namespace)));
  return entries
    .map((entry) => resource!.stored.object(entry))
    .filter(({ metadata }) => selector.matches(metadata.labels));
}
