/** Finds the listener of a Gateway that API servers can use, and derives the host name of a control plane from it. */

import type { ControlPlaneEndpoint, GatewayReference } from '../api/index.ts';
import type { Fault } from '../fault.ts';
import type { Gateway, Listener } from './kinds.ts';

const wildcard = '*.';

/** The API server terminates TLS, and each control plane has its own host name below the wildcard. */
export const usableListener = ({ spec }: Gateway): Listener | undefined =>
  spec?.listeners?.find(
    ({ protocol, hostname, tls }) =>
      protocol === 'TLS' && tls?.mode === 'Passthrough' && hostname?.startsWith(wildcard),
  );

/**
 * Returns the endpoint: `<name>.<namespace>.<domain of the wildcard>` at the port of the listener. Returns a fault if the Gateway has no
 * usable listener, or if the name is too long.
 */
export function gatewayEndpoint(
  { name, namespace }: { readonly name: string; readonly namespace: string },
  reference: GatewayReference,
  gateway: Gateway | undefined,
): ControlPlaneEndpoint | Fault {
  const quoted = `Gateway ${JSON.stringify(`${reference.namespace}/${reference.name}`)}`;
  if (!gateway) return { reason: 'GatewayNotFound', message: `${quoted} does not exist` };
  const listener = usableListener(gateway);
  if (!listener) {
    const message = `${quoted} has no listener with protocol TLS, mode Passthrough and a wildcard hostname such as *.example.com`;
    return { reason: 'GatewayListenerMissing', message };
  }
  const host = `${name}.${namespace}.${listener.hostname!.slice(wildcard.length)}`;
  if (host.length > 253)
    return { reason: 'NameTooLong', message: `the host name ${host} is longer than 253 characters` };
  return { host, port: listener.port ?? 443 };
}
