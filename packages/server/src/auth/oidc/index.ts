/** External users: OpenID Connect issuers and a token webhook. Loaded only if configured. */

export { OidcAuthenticator } from './authenticator.ts';
export { AuthenticationConfigurationError, readAuthenticationConfiguration, readIssuers } from './configuration.ts';
export type { AuthenticationConfiguration } from './configuration.ts';
export type { Fetch } from './issuer-keys.ts';
export { TokenWebhook } from '../token-webhook/token-webhook.ts';
