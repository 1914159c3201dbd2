/** A client certificate of a control plane for one of its users, signed through its CertificateSigningRequests in both modes. */

import type { Client } from '@hangar/client';
import { hasCode } from '@hangar/core';
import { failed } from '../errors.ts';
import type { Access } from '../kubeconfig/access.ts';
import type { ControlPlaneObject } from '../kinds.ts';
import type { Session } from '../session.ts';
import { quoted } from '../terminal/plain-text.ts';
import { planeClient } from './plane-client.ts';

export interface WantedUser {
  readonly user: string;
  readonly groups: readonly string[];
  readonly expirationSeconds: number;
}

/** PEM. */
export interface UserCertificate {
  readonly certificate: string;
  readonly key: string;
}

export interface UserCertificateOptions {
  /** Of the management plane. */
  readonly client: Client;
  readonly plane: ControlPlaneObject;
  readonly wanted: WantedUser;
}

/** Rejects with `Failed` if the certificate is not issued. */
export async function userCertificate(
  session: Session,
  { client, plane, wanted }: UserCertificateOptions,
): Promise<UserCertificate> {
  const { requestedCertificate } = await import('@hangar/controlplane-operator/client-certificate');
  const inside = await planeClient(session, client, plane);
  const { clock, signal } = session;
  try {
    return await requestedCertificate(inside, wanted, { clock, signal, by: 'the administrator with hangar' });
  } catch (error) {
    if (!hasCode(error, 'CertificateNotIssued') && !hasCode(error, 'Forbidden')) throw error;
    const where = `control plane ${quoted(plane.metadata.name!)}`;
    const message = `${where} did not issue a certificate for user ${quoted(wanted.user)}: ${error.message}`;
    throw failed(message, { cause: error });
  } finally {
    await inside.close();
  }
}

/** Returns the user entry of a kubeconfig. */
export const certificateEntry = ({ certificate, key }: UserCertificate): Access['user'] => ({
  'client-certificate-data': Buffer.from(certificate).toString('base64'),
  'client-key-data': Buffer.from(key).toString('base64'),
});
