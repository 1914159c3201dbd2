/** Issuer of a tenant's tokens: the address of its control plane, which the platform may change. */

/**
 * Reports whether this is or was an issuer of the tenant. The caller must verify the token with the tenant's own key: a tenant of the same
 * path on another server has another key.
 */
export const isIssuerOf = (path: string, issuer: unknown): boolean =>
  typeof issuer === 'string' && issuer.startsWith('https://') && issuer.endsWith(`/clusters/${path}/control-plane`);
