/** Dispatches a call to the subresource or the verb of its path and method. */

import { notFound, StatusError } from '@hangar/api';
import type { Answer } from '../http/message.ts';
import { PageNotFound } from '../objects/page-not-found.ts';
import type { ResourceRequest, Verb } from '../request/info.ts';
import { subresourceOf } from '../resources/resource.ts';
import { noSuchResource, notAllowed } from '../resources/unknown.ts';
import { subresourceHandler } from '../subresources/index.ts';
import { groupResource } from './call.ts';
import type { Call } from './call.ts';
import { verbHandler } from './index.ts';

/** The path of a namespace has its name also as its namespace. */
const isNamespaceItself = ({ group, resource, namespace, name }: ResourceRequest): boolean =>
  group === '' && resource === 'namespaces' && namespace === name;

/** Proxies also serve OPTIONS, which has no verb: all their methods have the same handler. */
const verbOf = ({ info, request }: Call): Verb =>
  info.subresource === 'proxy' && request.method === 'OPTIONS' ? 'get' : info.verb;

/** Throws if no handler matches. */
export function dispatch(call: Call): Promise<Answer> {
  const { info, resource } = call;
  // A namespaced resource can only be listed and watched across all namespaces.
  if (resource.namespaced && info.namespace === '' && info.verb !== 'list' && info.verb !== 'watch') {
    if (!resource.struct) throw new PageNotFound();
    throw info.name === '' ? notAllowed(resource, info.verb) : noSuchResource();
  }
  if (!resource.namespaced && info.namespace !== '' && !isNamespaceItself(info)) {
    throw resource.struct ? noSuchResource() : new PageNotFound();
  }
  if (/[^/]/.test(info.rest) && info.subresource !== 'proxy') throw noSuchResource();
  if (info.subresource !== '') {
    const subresource = subresourceOf(resource, info.subresource);
    const handler = subresource && subresourceHandler(resource, subresource.name, verbOf(call));
    if (!subresource) throw resource.struct ? noSuchResource() : notFound(groupResource(call), info.name);
    if (!handler) throw notAllowed(resource, info.verb);
    return handler(call);
  }
  if (resource.isTerminating && info.verb === 'create') {
    throw new StatusError('MethodNotAllowed', 'create not allowed while custom resource definition is terminating', {
      details: { group: resource.group, kind: resource.name },
    });
  }
  const handler = verbHandler(resource, info.verb, info.name !== '');
  if (!handler) throw notAllowed(resource, info.verb);
  return handler(call);
}
