/** Finds the listener of a Gateway that API servers can use, and derives the host name of a control plane from it. */

import type { ControlPlaneEndpoint, GatewayReference } from '../api/index.ts';
import type { Fault } from '../fault.ts';
import { hostFault } from '../front-door/hosts.ts';
import type { Gateway, Listener } from './kinds.ts';

const wildcard = '*.';

/** The API server terminates TLS, and each control plane has its own host name below the wildcard. */
export function usableListener({ spec }: Gateway, host?: string): Listener | undefined {
  const usable = (spec?.listeners ?? []).filter(
    ({ protocol, hostname, tls }) =>
      protocol === 'TLS' && tls?.mode === 'Passthrough' && hostname?.startsWith(wildcard),
  );
  return usable.find(({ hostname }) => host?.endsWith(hostname!.slice(1))) ?? usable[0];
}

/**
 * Returns the endpoint: the host of the reference, or `<name>.<namespace>.<domain of the wildcard>`, at the port of the listener. Returns a
 * fault if the Gateway has no usable listener, or if the namespace may not have the name. Of several control planes with one name, the
 * Gateway routes to the one with the oldest route.
 */
export function gatewayEndpoint(
  { name, namespace }: { readonly name: string; readonly namespace: string },
  reference: GatewayReference,
  gateway: Gateway | undefined,
): ControlPlaneEndpoint | Fault {
  const quoted = `Gateway ${JSON.stringify(`${reference.namespace}/${reference.name}`)}`;
  if (!gateway) return { reason: 'GatewayNotFound', message: `${quoted} does not exist` };
  const listener = usableListener(gateway, reference.host);
  if (!listener) {
    const message = `${quoted} has no listener with protocol TLS, mode Passthrough and a wildcard hostname such as *.example.com`;
    return { reason: 'GatewayListenerMissing', message };
  }
  const domain = listener.hostname!.slice(wildcard.length);
  const { host = `${name}.${namespace}.${domain}` } = reference;
  if (host.length > 253)
    return { reason: 'NameTooLong', message: `the host name ${host} is longer than 253 characters` };
  const fault = reference.host === undefined ? undefined : hostFault(host, namespace, { domains: [domain] });
  return fault ?? { host, port: listener.port ?? 443 };
}
