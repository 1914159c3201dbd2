/** Users whom others know: of OpenID Connect issuers, and of a webhook for tokens. Loaded where there are any. */

export { OidcAuthenticator } from './authenticator.ts';
export { AuthenticationConfigurationError, readAuthenticationConfiguration } from './configuration.ts';
export type { AuthenticationConfiguration } from './configuration.ts';
export type { Fetch } from './issuer-keys.ts';
export { TokenWebhook } from '../token-webhook/token-webhook.ts';
