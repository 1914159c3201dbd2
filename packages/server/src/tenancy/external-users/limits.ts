/** Limits of the external users of one tenant. */

export const issuersMax = 16;
/** Of the configuration as JSON: every server keeps the configurations of all tenants in memory. */
export const configurationBytesMax = 64 * 1024;
/** Of a discovery document or a key set. */
export const documentBytesMax = 256 * 1024;
export const fetchTimeoutMs = 5_000;
/** Tenants whose issuers are kept with their keys. */
export const tenantsMax = 1_024;
