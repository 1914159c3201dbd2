/** Converts a request to the spec of a SubjectAccessReview. */

import type { FieldRequirement, JsonObject, LabelOperator, LabelRequirement } from '@hangar/api';
import type { RequestInfo, ResourceRequest } from '../../../request/info.ts';
import type { User } from '../../user.ts';

export type ReviewVersion = 'v1' | 'v1beta1';

/** In the field order of Go; empty fields are omitted. */
export function reviewSpec(user: User, info: RequestInfo): JsonObject {
  const { name, uid, groups, extra } = user;
  return {
    ...(info.isResource
      ? { resourceAttributes: resourceAttributes(info) }
      : { nonResourceAttributes: filled({ path: info.path, verb: info.verb }) }),
    ...(name === '' ? {} : { user: name }),
    ...(groups.length === 0 ? {} : { groups }),
    ...(Object.keys(extra).length === 0 ? {} : { extra }),
    ...(uid === '' ? {} : { uid }),
  };
}

/** The older version has a different name for groups. */
export function review(spec: JsonObject, version: ReviewVersion): JsonObject {
  const { groups, ...rest } = spec;
  return {
    kind: 'SubjectAccessReview',
    apiVersion: `authorization.k8s.io/${version}`,
    metadata: {},
    spec: version === 'v1' || groups === undefined ? spec : { ...rest, group: groups },
    status: { allowed: false },
  };
}

function resourceAttributes(info: ResourceRequest): JsonObject {
  const { namespace, verb, group, version, resource, subresource, name, selectors } = info;
  const fields = selectors?.fields.requirements.map(fieldRequirement) ?? [];
  const labels = selectors?.labels.requirements.flatMap(labelRequirement) ?? [];
  return {
    ...filled({ namespace, verb, group, version, resource, subresource, name }),
    ...(fields.length === 0 ? {} : { fieldSelector: { requirements: fields } }),
    ...(labels.length === 0 ? {} : { labelSelector: { requirements: labels } }),
  };
}

const filled = (texts: Readonly<Record<string, string>>): JsonObject =>
  Object.fromEntries(Object.entries(texts).filter(([, text]) => text !== ''));

const fieldRequirement = ({ field, operator, value }: FieldRequirement): JsonObject => ({
  key: field,
  operator: operator === '=' ? 'In' : 'NotIn',
  values: [value],
});

const labelOperators: Readonly<Partial<Record<LabelOperator, string>>> = {
  in: 'In',
  '=': 'In',
  '==': 'In',
  notin: 'NotIn',
  '!=': 'NotIn',
  exists: 'Exists',
  '!': 'DoesNotExist',
};

/** Requirements that a review cannot express are omitted, which makes the requested access broader. */
function labelRequirement({ key, operator, values }: LabelRequirement): JsonObject[] {
  const said = labelOperators[operator];
  return said === undefined ? [] : [{ key, operator: said, ...(values.length === 0 ? {} : { values }) }];
}
