/** Derives the tenant of a Hangar from the path of an address, with any host. */

/** Undefined: the path names no tenant, as that of a kube-apiserver, or of a tenant with a host name. */
export function tenantAt(address: string): string | undefined {
  const { pathname = '' } = URL.parse(address) ?? {};
  return /\/clusters\/([^/]+)\/control-plane\/*$/.exec(pathname)?.[1];
}
