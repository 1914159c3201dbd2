/**
 * Labels of a request, under kube-apiserver's names. Their values come from the served resources and from fixed lists, never from the
 * request, so that clients cannot create series.
 */

import type { RequestInfo, ResourceRequest, Verb } from '../request/info.ts';
import { Query } from '../request/query.ts';
import type { Resource } from '../resources/resource.ts';

/** Subresources that a node, a pod or a service answers. */
export const connections: ReadonlySet<string> = new Set(['attach', 'exec', 'log', 'portforward', 'proxy']);

/** Verbs of kube-apiserver's metrics: methods, except that reads of collections, watches, applies and connections differ. */
export const verbNames = ['GET', 'LIST', 'WATCH', 'POST', 'PUT', 'PATCH', 'APPLY', 'DELETE', 'CONNECT'] as const;
export const scopeNames = ['resource', 'namespace', 'cluster'] as const;
export const dryRunNames = ['', 'All', 'invalid'] as const;

const verbIndexes: ReadonlyMap<Verb, number> = new Map([
  ['get', 0],
  ['list', 1],
  ['watch', 2],
  ['create', 3],
  ['update', 4],
  ['patch', 5],
  ['delete', 7],
  ['deletecollection', 7],
]);
const [patchIndex, applyIndex, connectIndex] = [5, 6, 8];

export const applyType = 'application/apply-patch+yaml';

/** Attributes of a request that select its series. */
export interface RequestAttributes {
  readonly info: RequestInfo | undefined;
  /** The resource that served the request; undefined: none. */
  readonly resource: Resource | undefined;
  readonly status: number;
  /** Query of the target, without the question mark. */
  readonly query: string;
  /** Content type of the request. Only used for patches. */
  readonly contentType?: string | undefined;
}

/**
 * Returns a small index for the verb, the scope and the kind of dry run, which `labelsOfIndex` reverses. Returns -1 if no handler of the
 * resource answered: such requests have the verb `OTHER`.
 */
export function seriesIndex(info: ResourceRequest, resource: Resource, request: RequestAttributes): number {
  const { query, status } = request;
  let verb = verbIndexes.get(info.verb) ?? -1;
  if (info.subresource !== '') {
    if (!resource.subresources.some(({ name }) => name === info.subresource)) return -1;
    if (connections.has(info.subresource)) verb = connectIndex;
  }
  if (verb < 0 || status === 405) return -1;
  if (verb === patchIndex && request.contentType === applyType) verb = applyIndex;
  if (info.namespace === '' && resource.namespaced && info.verb !== 'list' && info.verb !== 'watch') return -1;
  const scope = info.name !== '' || info.verb === 'create' ? 0 : info.namespace !== '' ? 1 : 2;
  const dryRun = query === '' ? 0 : dryRunIndex(query);
  return (verb * scopeNames.length + scope) * dryRunNames.length + dryRun;
}

export interface IndexLabels {
  readonly verb: string;
  readonly scope: string;
  readonly dryRun: string;
}

export function labelsOfIndex(index: number): IndexLabels {
  const scopes = Math.floor(index / dryRunNames.length);
  return {
    verb: verbNames[Math.floor(scopes / scopeNames.length)]!,
    scope: scopeNames[scopes % scopeNames.length]!,
    dryRun: dryRunNames[index % dryRunNames.length]!,
  };
}

function dryRunIndex(query: string): number {
  if (!query.includes('dryRun')) return 0;
  const values = new Query(query).all('dryRun');
  if (values.length === 0) return 0;
  return values.every((one) => one === 'All') ? 1 : 2;
}

export interface DocumentLabels {
  readonly subresource: string;
  readonly component: string;
}

const documents: Readonly<Record<string, DocumentLabels>> = {
  '/healthz': { subresource: '/healthz', component: '' },
  '/livez': { subresource: '/livez', component: '' },
  '/readyz': { subresource: '/readyz', component: '' },
  '/openapi/v3': { subresource: 'openapi/v3', component: '' },
};
const openApiV3: DocumentLabels = { subresource: 'openapi/v3/', component: '' };
const discovery: Readonly<Record<string, DocumentLabels>> = {
  '/api': { subresource: 'api', component: 'apiserver' },
  '/apis': { subresource: 'apis', component: 'apiserver' },
};

/** Returns the labels of a document that kube-apiserver counts; undefined: it does not count the document. */
export function documentLabels(path: string, isAggregatedDiscovery: boolean): DocumentLabels | undefined {
  if (path.startsWith('/openapi/v3/')) return openApiV3;
  if (Object.hasOwn(documents, path)) return documents[path];
  return isAggregatedDiscovery && Object.hasOwn(discovery, path) ? discovery[path] : undefined;
}
