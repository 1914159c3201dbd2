/** The administrator of a control plane, by its kubeconfig: over TLS in production, with the same credentials in process here. */

import { configOfKubeconfig, InProcessTransport, RestClient } from '@hangar/client';
import type { Client } from '@hangar/client';
import { systemClock } from '@hangar/core';
import type { Clock } from '@hangar/core';
import { X509Certificate } from 'node:crypto';
import { textOf } from '../control-plane/kept-secret.ts';
import type { SecretObject } from '../control-plane/kept-secret.ts';
import { tenantPath } from '../host/index.ts';
import type { TestPlatform } from './platform.ts';

export async function adminOf(
  { fleet }: TestPlatform,
  secret: SecretObject,
  path: string,
  key = 'kubeconfig',
  clock: Clock = systemClock,
): Promise<Client> {
  const { credentials } = await configOfKubeconfig(textOf(secret, key));
  const headers = await credentials!.headers();
  const pair = await credentials!.clientCertificate?.();
  // As the port would hand it on: a certificate that the management plane's authority has not issued.
  const unverified = pair && { unverified: { der: () => new X509Certificate(pair.certificate).raw } };
  const peer = { address: '127.0.0.1', certificate: undefined, ...unverified };
  const transport = new InProcessTransport({ handler: fleet.handler, peer, clock });
  return new RestClient({
    host: '',
    request: (request) =>
      transport.request({
        ...request,
        target: tenantPath(path) + request.target,
        headers: { ...request.headers, ...headers },
      }),
    close: () => transport.close(),
  });
}
