/**
 * A policy reveals its parameters through messages and denials, so the author of a policy must be allowed to read the parameter kind or
 * object that it names.
 */

import { forbidden, invalidObject, parseApiVersion } from '@hangar/api';
import type { FieldError, KubeObject } from '@hangar/api';
import { mastersGroup } from '../../auth/user.ts';
import type { User } from '../../auth/user.ts';
import { objectKey } from '../../control-plane.ts';
import type { ControlPlane } from '../../control-plane.ts';
import type { RequestInfo, Verb } from '../../request/info.ts';
import type { AdmissionPlugin, AdmissionRequest } from '../admission.ts';
import { findKind } from './params.ts';
import type { BindingSpec, ParamKind, PolicySpec } from './spec.ts';

const group = 'admissionregistration.k8s.io';

const policyOf: Readonly<Record<string, string>> = {
  ValidatingAdmissionPolicyBinding: 'validatingadmissionpolicies',
  MutatingAdmissionPolicyBinding: 'mutatingadmissionpolicies',
};

/** Always on: kube-apiserver does this check in validation, not in a plugin. */
export const paramAccessCheck: AdmissionPlugin = {
  name: 'ParamAccess',
  resources: new Set(
    ['validatingadmissionpolicies', 'mutatingadmissionpolicies'].flatMap((name) => [
      `${group}/${name}`,
      `${group}/${name.replace(/ies$/, 'ybindings')}`,
    ]),
  ),
  validate: checkParamAccess,
};

/** Throws 422, as for a forbidden field. */
function checkParamAccess(request: AdmissionRequest): void | Promise<void> {
  const { object, old, user, subresource } = request;
  if (!object || subresource !== '' || user.groups.includes(mastersGroup)) return undefined;
  switch (object.kind) {
    case 'ValidatingAdmissionPolicy':
    case 'MutatingAdmissionPolicy':
      return isSame(specOf(object)['paramKind'], specOf(old)['paramKind']) ? undefined : checkPolicy(request, object);
    case 'ValidatingAdmissionPolicyBinding':
    case 'MutatingAdmissionPolicyBinding': {
      const named = ({ paramRef, policyName }: BindingSpec): unknown => paramRef && [paramRef, policyName];
      return isSame(named(specOf(object)), named(specOf(old))) ? undefined : checkBinding(request, object);
    }
    default:
      return undefined;
  }
}

const specOf = (object: KubeObject | undefined): PolicySpec & BindingSpec => (object?.['spec'] ?? {}) as PolicySpec;

/** An absent value needs no check. */
const isSame = (now: unknown, before: unknown): boolean =>
  now === undefined || JSON.stringify(now) === JSON.stringify(before);

async function checkPolicy(request: AdmissionRequest, object: KubeObject): Promise<void> {
  const { plane, guard, user } = request;
  const paramKind = specOf(object).paramKind!;
  const asked = { ...typeOf(plane, paramKind), verb: 'get', namespace: '*', name: '*' };
  if ((await guard.decide(user, questionOf(asked))) === 'allow') return;
  const { kind, apiVersion } = paramKind;
  refuse(
    request,
    'spec.paramKind',
    `user ${goText(user)} must have "get" permission on all objects of the referenced paramKind (kind=${kind}, apiVersion=${apiVersion})`,
  );
}

async function checkBinding(request: AdmissionRequest, object: KubeObject): Promise<void> {
  const { plane, guard, user } = request;
  const { paramRef, policyName = '' } = specOf(object);
  const policy = await readPolicy(plane, object.kind, policyName);
  const paramKind = policy && specOf(policy).paramKind;
  const type = paramKind ? typeOf(plane, paramKind) : anyType;
  const verb = paramRef!.name ? 'get' : 'list';
  const asked = { ...type, verb, namespace: paramRef!.namespace ?? '', name: paramRef!.name ?? '' };
  if ((await guard.decide(user, questionOf(asked))) === 'allow') return;
  const lacks = `user ${goText(user)} does not have "${verb}" permission`;
  const doubt = policy
    ? paramKind && type.resource === '*' && `resolve paramKind ${goKind(paramKind)}`
    : `get policy ${policyName}`;
  refuse(
    request,
    'spec.paramRef',
    doubt
      ? `unable to ${doubt} to determine minimum required permissions and ${lacks} for all groups, versions and resources`
      : `${lacks} on the object referenced by paramRef`,
  );
}

async function readPolicy(plane: ControlPlane, bindingKind: string, name: string): Promise<KubeObject | undefined> {
  const resource = plane.catalogue.find({
    group,
    version: 'v1',
    resource: policyOf[bindingKind]!,
  })!;
  const { entry } = await plane.store.get(objectKey(plane, resource, '', name));
  return entry && resource.stored.object(entry);
}

interface ParamType {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
}

/** If the type is unknown, access to all types is required. */
const anyType: ParamType = { group: '*', version: '*', resource: '*' };

function typeOf(plane: ControlPlane, paramKind: ParamKind): ParamType {
  const { group, version } = parseApiVersion(paramKind.apiVersion ?? '');
  return { group, version, resource: findKind(plane, paramKind)?.name ?? '*' };
}

const questionOf = (asked: ParamType & { verb: string; namespace: string; name: string }): RequestInfo => ({
  isResource: true,
  subresource: '',
  rest: '',
  ...asked,
  verb: asked.verb as Verb,
});

function refuse({ resource, object }: AdmissionRequest, path: string, why: string): never {
  const errors: FieldError[] = [forbidden(path, why)];
  throw invalidObject({ group: resource.group, kind: resource.kind }, object?.metadata.name ?? '', errors);
}

/** Formats a user like Go's `%v`. */
function goText({ name, uid, groups, extra }: User): string {
  const keys = Object.keys(extra).toSorted();
  return `&{${name} ${uid} [${groups.join(' ')}] map[${keys.map((key) => `${key}:[${extra[key]!.join(' ')}]`).join(' ')}]}`;
}

const goKind = ({ apiVersion, kind }: ParamKind): string => `&{${apiVersion} ${kind}}`;
