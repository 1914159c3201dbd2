/** Who a tenant's tokens say that they are of: the address of its control plane, which the platform may change. */

/**
 * Was it, or is it, an issuer of this tenant? Whoever asks must verify the token with the tenant's own key: tokens of another
 * tenant of this path, on whatever server, are of another key.
 */
export const isIssuerOf = (path: string, issuer: unknown): boolean =>
  typeof issuer === 'string' && issuer.startsWith('https://') && issuer.endsWith(`/clusters/${path}/control-plane`);
