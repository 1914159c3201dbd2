/** Which tenant of a Hangar is at an address: its path says so, at whatever host. */

/** Undefined: it says nothing, as that of a kube-apiserver, or of a tenant that has a host name. */
export function tenantAt(address: string): string | undefined {
  const { pathname = '' } = URL.parse(address) ?? {};
  return /\/clusters\/([^/]+)\/control-plane\/*$/.exec(pathname)?.[1];
}
