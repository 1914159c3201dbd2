/** Responses for unknown paths and unsupported methods. */

import { builtinServedGroups, methodNotSupported, StatusError } from '@hangar/api';
import { PageNotFound } from '../objects/page-not-found.ts';
import type { Resource } from './resource.ts';

/** kube-apiserver answers from its API inside a built-in group, and from its router elsewhere. */
export const unknownResource = ({ group }: { readonly group: string }): Error =>
  builtinServedGroups().some(({ name }) => name === group) ? noSuchResource() : new PageNotFound();

export function unknownPath(path: string): Error {
  const [, root, group = ''] = path.split('/');
  if (root === 'api') return unknownResource({ group: '' });
  return root === 'apis' && group !== '' ? unknownResource({ group }) : new PageNotFound();
}

export const noSuchResource = (): StatusError =>
  new StatusError('NotFound', 'the server could not find the requested resource', { details: {} });

/** Built-in kinds have no route for such a method; custom resources have a handler that refuses it. */
export const notAllowed = ({ group, name: resource, struct }: Resource, verb: string): StatusError =>
  struct
    ? new StatusError('MethodNotAllowed', 'the server does not allow this method on the requested resource', {
        details: {},
      })
    : methodNotSupported({ group, resource }, verb);
