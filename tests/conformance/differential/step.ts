/**
 * One request of a sequence, the same for every server. Values that servers choose are written as a name in braces, in paths, queries and
 * bodies alike, and filled in from the answers of each of them:
 *
 *   {ns}    the sequence's own namespace, which also prefixes the names of cluster-scoped objects
 *   {rv}    the last resourceVersion that was seen of `object`; {rv0} the first one
 *   {uid}   its uid
 */

import type { JsonObject } from '@hangar/api';

export interface Step {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Path of the object of the request; key of the recorded versions. */
  readonly object: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly body?: Body;
  readonly contentType?: string;
  readonly accept?: string;
}

export type Body =
  | { readonly type: 'json'; readonly value: unknown }
  /** The object as the server returns it now, with this merge patch applied: how most clients update. */
  | { readonly type: 'live'; readonly change: JsonObject }
  | { readonly type: 'text'; readonly text: string };

export function describeStep({ method, path, query, body, contentType, accept }: Step): string {
  const parameters = new URLSearchParams(query).toString();
  const target = parameters === '' ? path : `${path}?${parameters}`;
  const types = [contentType && `as ${contentType}`, accept && `accept ${accept}`].filter(Boolean).join(', ');
  return `${method} ${target}${types === '' ? '' : ` (${types})`}${body ? `\n    ${describeBody(body)}` : ''}`;
}

function describeBody(body: Body): string {
  switch (body.type) {
    case 'json':
      return JSON.stringify(body.value);
    case 'live':
      return `what GET answers, merged with ${JSON.stringify(body.change)}`;
    case 'text':
      return body.text;
  }
}
