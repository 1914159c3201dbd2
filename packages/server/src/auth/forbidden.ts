/** Formats a denial like Kubernetes: the user, the action, the object, the scope, and the reasons of the authorizers. */

import { forbiddenRequest, quote, StatusError } from '@hangar/api';
import type { RequestInfo } from '../request/info.ts';
import type { User } from './user.ts';

export function forbidden(user: User, info: RequestInfo, reason: string): StatusError {
  const because = reason === '' ? '' : `: ${reason}`;
  if (!info.isResource) {
    const message = `forbidden: User ${quote(user.name)} cannot ${info.verb} path ${quote(info.path)}${because}`;
    return new StatusError('Forbidden', message, { details: {} });
  }
  const { group, resource, subresource, namespace, name, verb } = info;
  const what = quote(subresource === '' ? resource : `${resource}/${subresource}`);
  const where = namespace === '' ? 'at the cluster scope' : `in the namespace ${quote(namespace)}`;
  const message = `User ${quote(user.name)} cannot ${verb} resource ${what} in API group ${quote(group)} ${where}${because}`;
  return forbiddenRequest({ group, resource }, name, message);
}
