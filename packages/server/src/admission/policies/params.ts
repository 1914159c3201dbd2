/**
 * The objects that a policy is told about as `params`. They are read when a request needs them: a parameter that was just
 * written counts at once, and nothing is kept of kinds that may be large.
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

/** The resource whose objects are parameters; throws PolicyProblem when nothing of that kind is served. */
export function paramResource(plane: ControlPlane, paramKind: ParamKind): Resource {
  const found = findKind(plane, paramKind);
  // What is not stored here cannot be read as a parameter.
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
  /** Of the request. */
  readonly namespace: string;
}

/** The policy is evaluated once for each; null stands for no parameter. Rejects with PolicyProblem. */
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
