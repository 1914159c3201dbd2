/**
 * The objects of cert-manager for the certificates of a control plane: an Issuer for each authority, and a Certificate for each Secret.
 * cert-manager does not issue certificates again when the authority of an Issuer changes, but when a Certificate refers to another
 * Issuer. So the name of an Issuer has a digest of the authority.
 */

import { X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { clusterNameLabel } from '../api/index.ts';
import { digestOf } from '../pki/secrets.ts';
import { previousName } from '../pki/signer.ts';
import type { Signer } from '../pki/signer.ts';
import { authorityNames, rendered } from '../render/index.ts';
import type { CertificateWish, Plane, Rendered } from '../render/index.ts';
import { Certificate, certManagerGroup, Issuer } from './kinds.ts';

const hourMs = 3_600_000;
const defaultDays = 365;
/** The built-in issuer renews certificates after the same part of their lifetime. */
const renewBeforePercentage = 33;

const usages: Readonly<Record<CertificateWish['usage'], readonly string[]>> = {
  server: ['digital signature', 'server auth'],
  client: ['digital signature', 'client auth'],
  peer: ['digital signature', 'server auth', 'client auth'],
};

type AuthorityName = CertificateWish['authority'];

export const issuerName = (plane: Plane, of: AuthorityName, { certificate, chain }: Signer): string =>
  `${authorityNames(plane)[of]}-${digestOf([certificate, chain]).slice(0, 8)}`;

const metadataOf = ({ name: cluster, namespace, owner }: Plane, name: string) => ({
  namespace,
  name,
  labels: { [clusterNameLabel]: cluster },
  ownerReferences: [owner],
});

/** During a rotation, the Secret of the previous authority has the cross certificate, which belongs into the chain. */
export function issuerObject(plane: Plane, of: AuthorityName, signer: Signer): Rendered {
  const name = authorityNames(plane)[of];
  const secretName = signer.chain === '' ? name : previousName(name);
  return rendered(Issuer, { metadata: metadataOf(plane, issuerName(plane, of, signer)), spec: { ca: { secretName } } });
}

export function certificateObject(plane: Plane, wish: CertificateWish, signer: Signer): Rendered {
  const { secret, commonName, organizations, usage, hosts = [], days = defaultDays } = wish;
  const { validFrom, validTo } = new X509Certificate(signer.certificate);
  const authorityHours = Math.floor((Date.parse(validTo) - Date.parse(validFrom)) / hourMs);
  const [ipAddresses, dnsNames] = [hosts.filter((host) => isIP(host) > 0), hosts.filter((host) => isIP(host) === 0)];
  return rendered(Certificate, {
    metadata: metadataOf(plane, secret),
    spec: {
      secretName: secret,
      secretTemplate: { labels: { [clusterNameLabel]: plane.name } },
      commonName,
      ...(organizations ? { subject: { organizations } } : {}),
      ...(dnsNames.length > 0 ? { dnsNames } : {}),
      ...(ipAddresses.length > 0 ? { ipAddresses } : {}),
      usages: usages[usage],
      duration: `${Math.min(days * 24, authorityHours)}h`,
      renewBeforePercentage,
      revisionHistoryLimit: 1,
      privateKey: { algorithm: 'ECDSA', size: 256, encoding: 'PKCS8', rotationPolicy: 'Always' },
      issuerRef: { group: certManagerGroup, kind: 'Issuer', name: issuerName(plane, wish.authority, signer) },
    },
  });
}
