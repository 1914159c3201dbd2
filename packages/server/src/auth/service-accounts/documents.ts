/** Documents for verifying the tokens of this server: OpenID Connect discovery and public keys. */

import { StatusError } from '@hangar/api';
import type { Answer } from '../../http/message.ts';
import type { ServiceAccounts } from './service-accounts.ts';

const discoveryPath = '/.well-known/openid-configuration';
const keysPath = '/openid/v1/jwks';

export const issuerPaths = ({ issuers }: ServiceAccounts): string[] =>
  isDiscoverable(issuers[0]!) ? [discoveryPath, keysPath] : [];

const ofIssuer = /^(\/\.well-known\/openid-configuration|\/openid\/v1\/jwks)(\/.*)?$/;

/**
 * Returns undefined if the path is unknown or discovery is off: it requires an issuer with an https URL. Throws the error response of such
 * a path.
 */
export function issuerDocument(
  { path, accept }: { readonly path: string; readonly accept: string | undefined },
  accounts: ServiceAccounts,
  address: string,
): Answer | undefined {
  const [, known, rest] = ofIssuer.exec(path) ?? [];
  if (known === undefined || !isDiscoverable(accounts.issuers[0]!)) return undefined;
  if (rest !== undefined) {
    throw new StatusError('NotFound', 'the server could not find the requested resource', { details: {} });
  }
  const contentType = known === keysPath ? 'application/jwk-set+json' : 'application/json';
  if (!isAccepted(contentType, accept)) {
    const message = `406: Not Acceptable\n\nAvailable representations: ${contentType}`;
    throw new StatusError('NotAcceptable', message, { details: {} });
  }
  if (known === keysPath) return document(contentType, accounts.keys.jwks);
  return document(contentType, {
    issuer: accounts.issuers[0],
    jwks_uri: accounts.jwksUri ?? `https://${address}${keysPath}`,
    response_types_supported: ['id_token'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: accounts.keys.algorithms,
  });
}

function isDiscoverable(issuer: string): boolean {
  const url = URL.parse(issuer);
  return url?.protocol === 'https:' && url.search === '' && url.hash === '';
}

const isAccepted = (contentType: string, accept: string | undefined): boolean =>
  !accept || accept.split(',').some((one) => ['*/*', contentType].includes(one.split(';')[0]!.trim()));

const document = (contentType: string, value: object): Answer => ({
  status: 200,
  headers: { 'content-type': contentType, 'cache-control': 'public, max-age=3600' },
  body: Buffer.from(JSON.stringify(value)),
});
