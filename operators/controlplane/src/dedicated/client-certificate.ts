/**
 * A client certificate of a control plane, through its CertificateSigningRequests: requested and approved by an administrator, signed by the
 * controllers of the control plane with its current CA.
 */

import type { Client, ClientCertificate } from '@hangar/client';
import { CertificateSigningRequest } from '@hangar/client/kinds/certificates-v1';
import { CodedError } from '@hangar/core';
import type { Clock } from '@hangar/core';
import { newCertificateRequest } from '@hangar/pki';
import type { WantedPair } from '../host/index.ts';

const signerName = 'kubernetes.io/kube-apiserver-client';
/** The controller manager signs at once. If it does not run, the pass is retried with back-off. */
const signedWithinMs = 20_000;
const nameLengthMax = 63;

export interface CertificateRequestOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** The requester, for the message of the approval. */
  readonly by?: string;
}

/** Rejects with `CertificateNotIssued` if the request is denied, or not signed in time. */
export async function requestedCertificate(
  client: Client,
  { user, groups, expirationSeconds }: WantedPair,
  { clock, signal, by = 'the operator of control planes' }: CertificateRequestOptions,
): Promise<ClientCertificate> {
  const { key, pem } = newCertificateRequest(user, groups);
  const request = Buffer.from(pem).toString('base64');
  const spec = { request, signerName, expirationSeconds, usages: ['client auth' as const] };
  const created = await client.create(
    CertificateSigningRequest,
    { metadata: { generateName: `${nameOf(user)}-` }, spec },
    { signal },
  );
  const name = created.metadata.name!;
  const condition = {
    type: 'Approved',
    status: 'True' as const,
    message: `requested by ${by}`,
  };
  await client
    .subresource('approval')
    .update(CertificateSigningRequest, { ...created, status: { conditions: [condition] } }, { signal });
  const late = new AbortController();
  const timer = clock.after(signedWithinMs, () => late.abort());
  const certificate = await signed(client, name, AbortSignal.any([signal, late.signal])).finally(() => timer.cancel());
  // The controller manager would delete it after an hour.
  await client.delete(CertificateSigningRequest, { name }, { signal });
  return { certificate, key: key.export({ type: 'pkcs8', format: 'pem' }).toString() };
}

/** Returns a part of an object name: user names may be addresses, or have colons. */
const nameOf = (user: string): string =>
  user
    .toLowerCase()
    .slice(0, nameLengthMax)
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '') || 'user';

async function signed(client: Client, name: string, signal: AbortSignal): Promise<string> {
  const one = { fieldSelector: `metadata.name=${name}`, signal };
  const stop = new CodedError(
    'CertificateNotIssued',
    `CertificateSigningRequest "${name}" of the control plane was not signed: check its kube-controller-manager`,
  );
  try {
    const { items, resourceVersion } = await client.list(CertificateSigningRequest, one);
    const first = items[0] && certificateIn(items[0]);
    if (first) return first;
    for await (const event of client.watch(CertificateSigningRequest, { ...one, resourceVersion })) {
      if (event.type === 'BOOKMARK') continue;
      if (event.type === 'DELETED') break;
      const certificate = certificateIn(event.object);
      if (certificate) return certificate;
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  throw stop;
}

const certificateIn = ({ status }: CertificateSigningRequest): string | undefined =>
  status?.certificate ? Buffer.from(status.certificate, 'base64').toString() : undefined;
