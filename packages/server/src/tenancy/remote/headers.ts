/**
 * Headers of requests that are passed on to the API server of a tenant. Only listed headers are passed on, so a client cannot send the
 * headers by which a front proxy names the user. Impersonation is decided by the other API server, for the authenticated user.
 */

import type { OutgoingHttpHeaders } from 'node:http';
import { identityHeaders, namesIn, plainHeaders } from '../../aggregation/headers.ts';
import { anonymous } from '../../auth/user.ts';
import type { ServerRequest } from '../../http/message.ts';
import type { PassedCredentials } from './credentials.ts';

const isImpersonation = (name: string): boolean => name.startsWith('impersonate-');

/** `self`: name of this server in `Via`. */
export function passedHeaders(
  request: ServerRequest,
  { user, token }: PassedCredentials,
  self: string,
): OutgoingHttpHeaders {
  const headers: OutgoingHttpHeaders = plainHeaders(request);
  const listed = namesIn(request.header('connection'));
  for (const name of request.headerNames()) {
    if (isImpersonation(name) && !listed.has(name)) headers[name] = [...request.headerValues(name)];
  }
  headers['x-forwarded-for'] = [...request.headerValues('x-forwarded-for'), request.peer.address].join(', ');
  headers['via'] = [...request.headerValues('via'), `1.1 ${self}`].join(', ');
  if (token !== undefined) return { ...headers, authorization: `Bearer ${token}` };
  return user === anonymous ? headers : { ...headers, ...identityHeaders(user) };
}
