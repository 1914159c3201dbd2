/** What is answered for paths that lead nowhere, and for methods that are not served where they do. */

import { builtinServedGroups, methodNotSupported, StatusError } from '@hangar/api';
import { PageNotFound } from '../objects/page-not-found.ts';
import type { Resource } from './resource.ts';

/** Inside a built-in group kube-apiserver's API answers, elsewhere its router. */
export const unknownResource = ({ group }: { readonly group: string }): Error =>
  builtinServedGroups().some(({ name }) => name === group) ? noSuchResource() : new PageNotFound();

export function unknownPath(path: string): Error {
  const [, root, group = ''] = path.split('/');
  if (root === 'api') return unknownResource({ group: '' });
  return root === 'apis' && group !== '' ? unknownResource({ group }) : new PageNotFound();
}

export const noSuchResource = (): StatusError =>
  new StatusError('NotFound', 'the server could not find the requested resource', { details: {} });

/** Kubernetes' own kinds have no route for such a method, custom resources have a handler that says so. */
export const notAllowed = ({ group, name: resource, struct }: Resource, verb: string): StatusError =>
  struct
    ? new StatusError('MethodNotAllowed', 'the server does not allow this method on the requested resource', {
        details: {},
      })
    : methodNotSupported({ group, resource }, verb);
