/** Access reviews. The authorizers of the server evaluate them like a real request. */

import { badRequest, invalid, invalidObject } from '@hangar/api';
import type { FieldError, JsonObject, KubeObject } from '@hangar/api';
import type { User } from '../auth/user.ts';
import type { RequestInfo, Verb } from '../request/info.ts';
import type { Call } from '../verbs/call.ts';
import { ignoredSelectors, selectorErrors, selectorsOf } from './selectors.ts';
import type { SelectorAttributes } from './selectors.ts';

interface ResourceAttributes {
  readonly namespace?: string;
  readonly verb?: string;
  readonly group?: string;
  readonly version?: string;
  readonly resource?: string;
  readonly subresource?: string;
  readonly name?: string;
  readonly fieldSelector?: SelectorAttributes;
  readonly labelSelector?: SelectorAttributes;
}

interface AccessSpec {
  readonly resourceAttributes?: ResourceAttributes;
  readonly nonResourceAttributes?: { readonly path?: string; readonly verb?: string };
  readonly user?: string;
  readonly groups?: readonly string[];
  readonly uid?: string;
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

const specOf = (review: KubeObject): AccessSpec => (review['spec'] ?? {}) as AccessSpec;

export function checkAccessReview({ info }: Call, review: KubeObject): void {
  const spec = specOf(review);
  const isSelf = review.kind === 'SelfSubjectAccessReview';
  const isLocal = review.kind === 'LocalSubjectAccessReview';
  const errors = [
    ...attributesErrors(spec),
    ...(isSelf || spec.user || spec.groups?.length
      ? []
      : [invalid('spec.user', '', 'at least one of user or group must be specified')]),
    ...selectorErrors(spec.resourceAttributes?.fieldSelector, 'fieldSelector'),
    ...selectorErrors(spec.resourceAttributes?.labelSelector, 'labelSelector'),
    ...metadataErrors(review, isLocal),
    ...(isLocal ? localErrors(spec, review.metadata.namespace ?? '') : []),
  ];
  // kube-apiserver leaves the kind empty here.
  if (errors.length > 0) throw invalidObject({ group: 'authorization.k8s.io', kind: '' }, '', errors);
  if (isLocal && info.namespace === '') throw badRequest('namespace is required on this type: ');
}

function attributesErrors({ resourceAttributes, nonResourceAttributes }: AccessSpec): FieldError[] {
  if (resourceAttributes && nonResourceAttributes) {
    const rule = 'cannot be specified in combination with resourceAttributes';
    return [invalid('spec.nonResourceAttributes', goStruct(nonResourceAttributes), rule)];
  }
  if (resourceAttributes || nonResourceAttributes) return [];
  const rule = 'exactly one of nonResourceAttributes or resourceAttributes must be specified';
  return [invalid('spec.resourceAttributes', null, rule)];
}

/** Prints a type as Go's encoder does without JSON names. */
const goStruct = ({ path = '', verb = '' }: { path?: string; verb?: string }): JsonObject => ({
  Path: path,
  Verb: verb,
});

/** A review has no name or labels. */
function metadataErrors({ metadata }: KubeObject, isLocal: boolean): FieldError[] {
  const { managedFields: _, namespace, ...rest } = metadata;
  if (Object.keys(rest).length === 0 && (isLocal || namespace === undefined)) return [];
  return [invalid('metadata', metadata, isLocal ? 'must be empty except for namespace' : 'must be empty')];
}

function localErrors({ resourceAttributes, nonResourceAttributes }: AccessSpec, namespace: string): FieldError[] {
  const errors: FieldError[] = [];
  const asked = resourceAttributes?.namespace ?? '';
  if (resourceAttributes && asked !== namespace) {
    errors.push(invalid('spec.resourceAttributes.namespace', asked, 'must match metadata.namespace'));
  }
  if (nonResourceAttributes) {
    const rule = 'disallowed on this kind of request';
    errors.push(invalid('spec.nonResourceAttributes', goStruct(nonResourceAttributes), rule));
  }
  return errors;
}

export async function reviewAccess({ guard, user }: Call, review: KubeObject): Promise<JsonObject> {
  const spec = specOf(review);
  const asked = requestOf(spec);
  // Users who ask about themselves (`kubectl auth can-i`) learn that the server would accept the request, even if its result has only the
  // objects that they may see. Other servers act on the result of the other reviews, and would not limit theirs.
  const { decision, reason, error } = await (review.kind === 'SelfSubjectAccessReview'
    ? guard.judgeLimited(user, asked)
    : guard.judge(subjectOf(spec), asked));
  const ignored = asked.isResource && asked.selectors ? ignoredSelectors(asked.selectors) : [];
  const evaluationError = [...(error ? [error.message] : []), ...ignored].join('; ');
  const status = {
    allowed: decision === 'allow',
    ...(decision === 'deny' ? { denied: true } : {}),
    ...(reason === '' ? {} : { reason }),
    ...(evaluationError === '' ? {} : { evaluationError }),
  };
  return { ...review, status };
}

const subjectOf = ({ user = '', uid = '', groups = [], extra = {} }: AccessSpec): User => ({
  name: user,
  uid,
  groups,
  extra,
});

function requestOf({ resourceAttributes: asked, nonResourceAttributes }: AccessSpec): RequestInfo {
  if (!asked)
    return { isResource: false, verb: nonResourceAttributes?.verb ?? '', path: nonResourceAttributes?.path ?? '' };
  const selectors = selectorsOf(asked.fieldSelector, asked.labelSelector);
  return {
    isResource: true,
    verb: (asked.verb ?? '') as Verb,
    group: asked.group ?? '',
    version: asked.version || '*',
    resource: asked.resource ?? '',
    namespace: asked.namespace ?? '',
    name: asked.name ?? '',
    subresource: asked.subresource ?? '',
    rest: '',
    ...(selectors ? { selectors } : {}),
  };
}
