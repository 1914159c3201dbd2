/**
 * Handles tenant credentials that are sent to the root path. `kubectl get --raw` of kubectl 1.32 and older drops the path of the server
 * URL, so requests for documents such as `/metrics` and `/version` reach the management plane, which does not know the user. The answer is
 * 404 with a hint, instead of 401 or of the management plane's own documents. Requests for resources get 401.
 *
 * The answer does not depend on whether a tenant exists: the hint is derived only from the request, and the router uses it only for names
 * and addresses of the server itself.
 */

import { X509Certificate } from 'node:crypto';
import { StatusError } from '@hangar/api';
import { bearerToken } from '../auth/bearer.ts';
import { parseJwt } from '../auth/jwt/jwt.ts';
import type { ServerRequest } from '../http/message.ts';
import { splitTarget } from '../request/query.ts';
import { tenantAuthorityName } from './keys/advertised-authority.ts';
import { routeOf } from './route.ts';

const tenantIssuer = /^https:\/\/[^/]+\/clusters\/[^/]+\/control-plane$/;

/** Returns the answer for a user that the management plane cannot authenticate, or undefined for the usual answer. */
export function misplacedCredential(request: ServerRequest): StatusError | undefined {
  const { path } = splitTarget(request.target);
  if (!isDocument.test(path) || routeOf(request.target) || !isOfTenant(request)) return undefined;
  const shown = path.length > pathMax ? `${path.slice(0, pathMax)}…` : path;
  return new StatusError(
    'NotFound',
    `the management plane serves ${JSON.stringify(shown)}, and it does not accept the credential of a control plane: ` +
      'send the request to /clusters/NAME/control-plane and this path. ' +
      '"kubectl get --raw" of kubectl 1.32 and older drops the path of the server URL: write the whole path',
  );
}

/** Documents that clients request by path. All other requests are refused as for any unknown user. */
const isDocument = /^\/(metrics|version|livez|readyz|healthz|openapi\/v[23])(\/|$)/;
const pathMax = 200;

function isOfTenant(request: ServerRequest): boolean {
  const token = bearerToken(request.header('authorization'));
  if (token !== undefined) {
    const issuer = parseJwt(token)?.claims['iss'];
    return typeof issuer === 'string' && tenantIssuer.test(issuer);
  }
  const { unverified } = request.peer;
  return unverified !== undefined && issuerOf(unverified.der()) === `CN=${tenantAuthorityName}`;
}

function issuerOf(der: Uint8Array): string | undefined {
  try {
    return new X509Certificate(der).issuer;
  } catch {
    return undefined;
  }
}
