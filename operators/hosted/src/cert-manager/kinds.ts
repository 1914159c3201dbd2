/** The kinds of cert-manager, with the fields that are used here. */

import { defineKind } from '@hangar/client';
import type { ApiObject, Kind } from '@hangar/client';
import type { Condition } from '@hangar/runtime';

export const certManagerGroup = 'cert-manager.io';
const apiVersion = `${certManagerGroup}/v1`;

/** On Secrets: the Certificate that they belong to. */
export const certificateNameAnnotation = `${certManagerGroup}/certificate-name`;

export interface Issuer extends ApiObject {
  spec: { readonly ca: { readonly secretName: string } };
}

export const Issuer: Kind<Issuer> = defineKind({ apiVersion, kind: 'Issuer', plural: 'issuers', isNamespaced: true });

export interface Certificate extends ApiObject {
  spec: {
    readonly secretName: string;
    readonly secretTemplate?: { readonly labels?: Readonly<Record<string, string>> };
    readonly commonName: string;
    readonly subject?: { readonly organizations: readonly string[] };
    readonly dnsNames?: readonly string[];
    readonly ipAddresses?: readonly string[];
    readonly usages: readonly string[];
    readonly duration: string;
    readonly renewBeforePercentage: number;
    readonly revisionHistoryLimit: number;
    readonly privateKey: {
      readonly algorithm: 'ECDSA';
      readonly size: 256;
      readonly encoding: 'PKCS8';
      readonly rotationPolicy: 'Always';
    };
    readonly issuerRef: { readonly group: string; readonly kind: 'Issuer'; readonly name: string };
  };
  status?: { readonly conditions?: readonly (Condition & { readonly observedGeneration?: number })[] };
}

export const Certificate: Kind<Certificate> = defineKind({
  apiVersion,
  kind: 'Certificate',
  plural: 'certificates',
  isNamespaced: true,
});
