/**
 * Parses the request info from method and path:
 *
 *   /api/v1/namespaces/default/pods/web/status     core, v1, pods, default, web, status
 *   /apis/apps/v1/deployments                      apps, v1, deployments in all namespaces
 *   /api/v1/namespaces/default                     the namespace itself
 *   /api/v1/watch/…                                the old form of a watch
 *
 * All other paths are non-resource requests.
 */

import { badRequest } from '@hangar/api';
import type { RequestSelectors } from './selectors.ts';

export type Verb = 'create' | 'get' | 'list' | 'watch' | 'update' | 'patch' | 'delete' | 'deletecollection';

export interface ResourceRequest {
  readonly isResource: true;
  readonly verb: Verb;
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  /** Empty: cluster-scoped, or all namespaces. */
  readonly namespace: string;
  /** Empty: the collection. */
  readonly name: string;
  readonly subresource: string;
  /** Path after the subresource, for proxies. */
  readonly rest: string;
  /** For authorizers; absent: no selectors. */
  readonly selectors?: RequestSelectors;
}

export interface OtherRequest {
  readonly isResource: false;
  readonly verb: string;
  readonly path: string;
}

export type RequestInfo = ResourceRequest | OtherRequest;

/** Subresources of a namespace; any other word there is a resource in it. */
const namespaceSubresources = new Set(['status', 'finalize']);

export function requestInfo(method: string, path: string, isWatch: boolean): RequestInfo {
  const segments = path.split('/');
  // '', 'api', 'v1', …  or  '', 'apis', group, version, …
  let at: number;
  let group = '';
  if (segments[1] === 'api' && segments.length > 3) at = 2;
  else if (segments[1] === 'apis' && segments.length > 4) {
    group = segments[2]!;
    at = 3;
  } else return { isResource: false, verb: method.toLowerCase(), path };
  const version = segments[at++]!;
  let isOldWatch = false;
  if (segments[at] === 'watch' && segments.length > at + 1) {
    isOldWatch = true;
    at++;
  }
  let namespace = '';
  if (segments[at] === 'namespaces' && segments.length > at + 2 && segments[at + 2] !== '') {
    if (!namespaceSubresources.has(segments[at + 2]!)) {
      namespace = decoded(segments[at + 1]!);
      at += 2;
    }
  }
  const resource = segments[at] ?? '';
  if (resource === '') return { isResource: false, verb: method.toLowerCase(), path };
  const isNamespaces = group === '' && resource === 'namespaces';
  const name = decoded(segments[at + 1] ?? '');
  const subresource = decoded(segments[at + 2] ?? '');
  const rest = segments.slice(at + 3).join('/');
  return {
    isResource: true,
    verb: isOldWatch ? oldWatchVerb(method) : verbOf(method, name, isWatch),
    group,
    version,
    resource,
    // A namespace belongs to itself: policies of the namespace apply to it.
    namespace: isNamespaces && namespace === '' ? name : namespace,
    name,
    subresource,
    rest,
  };
}

function verbOf(method: string, name: string, isWatch: boolean): Verb {
  switch (method) {
    case 'GET':
    case 'HEAD':
      // A named object is read, even if the query requests a watch.
      if (name !== '') return 'get';
      return isWatch ? 'watch' : 'list';
    case 'POST':
      return 'create';
    case 'PUT':
      return 'update';
    case 'PATCH':
      return 'patch';
    case 'DELETE':
      return name === '' ? 'deletecollection' : 'delete';
    default:
      return none;
  }
}

const oldWatchVerb = (method: string): Verb => (method === 'GET' || method === 'HEAD' ? 'watch' : none);

/** A verb that is never allowed or served: HTTP/2 accepts any word as a method, including the names of verbs. */
const none = '' as Verb;

function decoded(segment: string): string {
  if (!segment.includes('%')) return segment;
  try {
    return decodeURIComponent(segment);
  } catch (error) {
    throw badRequest(`invalid URL escape in the path: ${segment}`, error);
  }
}
