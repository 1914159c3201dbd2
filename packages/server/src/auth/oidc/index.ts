/** oidc: users of OpenID Connect issuers. */

export { OidcAuthenticator } from './authenticator.ts';
export { AuthenticationConfigurationError, readAuthenticationConfiguration } from './configuration.ts';
export type { AuthenticationConfiguration } from './configuration.ts';
export type { Fetch } from './issuer-keys.ts';
