/** Public paths for health and version: every client that can reach the port may read them. */

/** `/livez`, and `/livez/etcd` for one of its checks. */
export const healthPaths = /^\/(livez|readyz|healthz)(?:\/(.*))?$/;

export const isPublicPath = (path: string): boolean => healthPaths.test(path) || path === '/version';
