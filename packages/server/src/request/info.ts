/**
 * What a request is about, read from its method and path alone:
 *
 *   /api/v1/namespaces/default/pods/web/status     core, v1, pods, default, web, status
 *   /apis/apps/v1/deployments                      apps, v1, deployments in all namespaces
 *   /api/v1/namespaces/default                     the namespace itself
 *   /api/v1/watch/…                                the old form of a watch
 *
 * Anything else is not about a resource.
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
  /** Empty: of the cluster, or of all namespaces. */
  readonly namespace: string;
  /** Empty: of the collection. */
  readonly name: string;
  readonly subresource: string;
  /** What follows the subresource, for proxies. */
  readonly rest: string;
  /** For authorizers; absent: everything is selected. */
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
    // A namespace is in itself: policies for it are those of its namespace.
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
      // An object that is named is read, whatever the query says.
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

/** Nobody may do it and nothing serves it: HTTP/2 brings any word as a method, those of verbs too. */
const none = '' as Verb;

function decoded(segment: string): string {
  if (!segment.includes('%')) return segment;
  try {
    return decodeURIComponent(segment);
  } catch (error) {
    throw badRequest(`invalid URL escape in the path: ${segment}`, error);
  }
}
