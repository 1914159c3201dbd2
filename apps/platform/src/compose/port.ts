/** The port: TLS with certificates that are renewed, for the server and for tenants with host names. */

import { systemClock, systemRandom } from '@hangar/core';
import { advertisedTenantAuthority, listen, servingCertificates } from '@hangar/server';
import type { Listener } from '@hangar/server';
import type { ControlPlanes } from './control-planes.ts';
import type { Foundation } from './foundation.ts';
import { logged } from './gate.ts';
import { followServing } from './serving.ts';

/** Maximum duration of webhooks: requests in progress at shutdown are answered. */
const requestLastsMs = 30_000;

/** Rejects when the address is not available. The caller closes it. */
export async function openPort(
  { options, log, identity, trusted, files }: Foundation,
  { tenancy, handler, fairQueue }: Pick<ControlPlanes, 'tenancy' | 'handler' | 'fairQueue'>,
): Promise<Listener> {
  const { pair } = identity;
  const hostCertificates = servingCertificates({
    authority: () => identity.credentials.authority,
    clock: systemClock,
    random: systemRandom,
  });
  const listener = await listen({
    host: options.host,
    port: options.port,
    key: pair.key,
    certificate: pair.certificate,
    clientCas: trusted.clientCas,
    advertisedCas: advertisedTenantAuthority,
    serverCertificate: (name) => (tenancy.tenants.findByHost(name) ? hostCertificates(name) : undefined),
    clock: systemClock,
    handler: logged(handler, log),
    intake: fairQueue,
    closeGraceMs: requestLastsMs,
    onError: (error) => log.error('a connection failed', { error }),
  });
  followServing({ listener, pair, trusted, clientCaFile: options.serving.clientCaFile, files });
  return listener;
}
