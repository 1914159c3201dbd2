/** The serving certificate of the kubelet API: requested from the control plane, as a kubelet with `serverTLSBootstrap` does. */

import { createHash } from 'node:crypto';
import type { Client } from '@hangar/client';
import { CertificateSigningRequest } from '@hangar/client/kinds/certificates-v1';
import { sleep } from '@hangar/core';
import type { Clock, Logger } from '@hangar/core';
import { newCertificateRequest } from '@hangar/pki';
import type { KeyPair } from '@hangar/pki';

export interface ServingCertificateOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Logger;
  readonly nodeName: string;
  readonly address: string;
  readonly signal: AbortSignal;
}

const signerName = 'kubernetes.io/kubelet-serving';
const pollMs = 500;

/**
 * Resolves when the control plane has signed the request. The runtime approves its own request, if it has the right to; otherwise an
 * approver or `kubectl certificate approve` must. Rejects when the request is denied or the signal is aborted.
 */
export async function requestServingCertificate(options: ServingCertificateOptions): Promise<KeyPair> {
  const { client, clock, log, nodeName, address, signal } = options;
  const { key, pem } = newCertificateRequest(`system:node:${nodeName}`, ['system:nodes'], {
    dnsNames: [nodeName],
    ipAddresses: [Buffer.from(address.split('.').map(Number))],
  });
  const name = `node-csr-${createHash('sha256').update(pem).digest('hex').slice(0, 20)}`;
  await client.create(
    CertificateSigningRequest,
    {
      metadata: { name },
      spec: {
        request: Buffer.from(pem).toString('base64'),
        signerName,
        usages: ['digital signature', 'server auth'],
      },
    },
    { signal },
  );
  await approve(client, name, signal).catch((error: unknown) =>
    log.info('the serving certificate waits for an approval', { request: name, reason: (error as Error).message }),
  );
  for (;;) {
    const { status } = await client.get(CertificateSigningRequest, { name }, { signal });
    const denied = status?.conditions?.find(({ type }) => type === 'Denied' || type === 'Failed');
    if (denied) throw new Error(`CertificateSigningRequest ${JSON.stringify(name)}: ${denied.type}: ${denied.message}`);
    if (status?.certificate) {
      const certificate = Buffer.from(status.certificate, 'base64').toString();
      return { certificate, key: key.export({ type: 'pkcs8', format: 'pem' }).toString() };
    }
    await sleep(clock, pollMs, signal);
  }
}

async function approve(client: Client, name: string, signal: AbortSignal): Promise<void> {
  const request = await client.get(CertificateSigningRequest, { name }, { signal });
  const message = 'This CSR was approved by the process runtime that created it.';
  const condition = { type: 'Approved', status: 'True' as const, reason: 'ProcessRuntimeApprove', message };
  const conditions = [...(request.status?.conditions ?? []), condition];
  await client
    .subresource('approval')
    .update(CertificateSigningRequest, { ...request, status: { ...request.status, conditions } }, { signal });
}
