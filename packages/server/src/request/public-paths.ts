/** Paths that tell nothing but how the server is, and what: whoever may reach the port may ask for them. */

/** `/livez`, and `/livez/etcd` for one of its checks. */
export const healthPaths = /^\/(livez|readyz|healthz)(?:\/(.*))?$/;

export const isPublicPath = (path: string): boolean => healthPaths.test(path) || path === '/version';
