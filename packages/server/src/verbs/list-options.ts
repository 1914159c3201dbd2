/** Parses the options of lists and watches: selectors, limit and version. */

import { badRequest, forbidden, invalidObject, notSupported, parseLabelSelector } from '@hangar/api';
import type { FieldError, FieldSelector, KubeObject, LabelSelector } from '@hangar/api';
import type { Query } from '../request/query.ts';
import type { Resource } from '../resources/resource.ts';

export interface ListOptions {
  readonly labels: LabelSelector | undefined;
  readonly fields: FieldSelector | undefined;
  /** 0: no limit. */
  readonly limit: number;
  readonly continueToken: string;
  readonly resourceVersion: string;
  readonly resourceVersionMatch: string;
  readonly sendInitialEvents: boolean | undefined;
  readonly allowsBookmarks: boolean;
  readonly timeoutSeconds: number | undefined;
}

/** Throws 400 and 422. `name` is the name in the path of a watch on one object. */
export function listOptions(query: Query, resource: Resource, isWatch: boolean, name = ''): ListOptions {
  const limit = Math.max(0, query.integer('limit') ?? 0);
  const timeoutSeconds = query.integer('timeoutSeconds');
  const labelText = query.text('labelSelector');
  const labels = labelText === '' ? undefined : parseLabelSelector(labelText);
  const options: Omit<ListOptions, 'fields'> = {
    labels: labels?.isEmpty ? undefined : labels,
    limit,
    continueToken: query.text('continue'),
    resourceVersion: query.text('resourceVersion'),
    resourceVersionMatch: query.text('resourceVersionMatch'),
    sendInitialEvents: query.flag('sendInitialEvents'),
    allowsBookmarks: query.flag('allowWatchBookmarks') ?? false,
    timeoutSeconds,
  };
  const errors = isWatch ? watchErrors(options) : listErrors(options);
  if (errors.length > 0) throw invalidObject({ group: 'meta.k8s.io', kind: 'ListOptions' }, '', errors);
  const fields = fieldsOf(query.text('fieldSelector'), resource, name);
  return { ...options, fields: fields?.isEmpty ? undefined : fields };
}

function fieldsOf(text: string, resource: Resource, name: string): FieldSelector | undefined {
  if (name === '') return text === '' ? undefined : resource.fieldSelector(text);
  const own = `metadata.name=${name}`;
  if (text === '') return resource.fieldSelector(own);
  const { requiresName } = resource.fieldSelector(text);
  if (requiresName !== undefined && requiresName !== name) {
    throw badRequest(`field selector metadata.name=${requiresName} does not match the name on the URL (${name})`);
  }
  return resource.fieldSelector(`${own},${text}`);
}

const match = 'resourceVersionMatch';

function listErrors(options: Omit<ListOptions, 'fields'>): FieldError[] {
  const errors: FieldError[] = [];
  const { resourceVersionMatch: how, resourceVersion, continueToken } = options;
  if (how !== '') {
    if (resourceVersion === '') {
      errors.push(forbidden(match, 'resourceVersionMatch is forbidden unless resourceVersion is provided'));
    }
    if (continueToken !== '') {
      errors.push(forbidden(match, 'resourceVersionMatch is forbidden when continue is provided'));
    }
    if (how !== 'Exact' && how !== 'NotOlderThan') errors.push(notSupported(match, how, ['Exact', 'NotOlderThan', '']));
    if (how === 'Exact' && resourceVersion === '0') {
      errors.push(forbidden(match, 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'));
    }
  }
  if (options.sendInitialEvents !== undefined) {
    errors.push(forbidden('sendInitialEvents', 'sendInitialEvents is forbidden for list'));
  }
  return errors;
}

function watchErrors(options: Omit<ListOptions, 'fields'>): FieldError[] {
  const errors: FieldError[] = [];
  const { resourceVersionMatch: how } = options;
  if (options.sendInitialEvents !== undefined && how !== 'NotOlderThan') {
    errors.push(forbidden(match, 'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan'));
  }
  if (how !== '') {
    if (options.sendInitialEvents === undefined) {
      errors.push(forbidden(match, 'resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided'));
    }
    if (how !== 'NotOlderThan') errors.push(notSupported(match, how, ['NotOlderThan']));
    if (options.continueToken !== '') {
      errors.push(forbidden(match, 'resourceVersionMatch is forbidden when continue is provided'));
    }
  }
  return errors;
}

export const selectsAll = ({ labels, fields }: ListOptions): boolean => labels === undefined && fields === undefined;

export const selects = ({ labels, fields }: ListOptions, object: KubeObject): boolean =>
  (labels === undefined || labels.matches(object.metadata.labels ?? {})) &&
  (fields === undefined || fields.matches(object));
