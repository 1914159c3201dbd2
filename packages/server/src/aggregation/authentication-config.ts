/**
 * Maintains the ConfigMap `extension-apiserver-authentication` in kube-system, from which every aggregated API server reads the CA of
 * client certificates, the CA of front proxies, and the names of the identity headers. As in kube-apiserver, certificates published by
 * other replicas are kept beside our own until they expire.
 */

import { X509Certificate } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { KubeObject } from '@hangar/api';
import { asError } from '@hangar/core';
import type { Clock, Timer } from '@hangar/core';
import { absent } from '@hangar/store';
import { make } from '../bootstrap/make.ts';
import { objectKey } from '../control-plane.ts';
import type { ControlPlane } from '../control-plane.ts';
import { identityHeaderNames } from './headers.ts';

export interface PublishedAuthentication {
  /** CA of client certificates; PEM. */
  readonly clientCa: string;
  /** CA of front proxies; PEM. */
  readonly frontProxyCa: string;
  /** Common names of front proxies; empty: any certificate of that CA. */
  readonly allowedNames: readonly string[];
}

const namespace = 'kube-system';
const name = 'extension-apiserver-authentication';
/** Interval of the check that the ConfigMap was not changed or deleted. */
const againMs = 60_000;
const attemptsMax = 5;

export class AuthenticationPublisher {
  readonly #plane: ControlPlane;
  readonly #published: () => PublishedAuthentication;
  readonly #onError: (error: Error) => void;
  #timer: Timer | undefined;
  #isClosed = false;

  constructor(plane: ControlPlane, published: () => PublishedAuthentication, onError: (error: Error) => void) {
    this.#plane = plane;
    this.#published = published;
    this.#onError = onError;
  }

  /** Resolves when the ConfigMap exists. It is maintained until `close`. */
  async start(): Promise<void> {
    await publishAuthentication(this.#plane, this.#published());
    this.#again();
  }

  close(): void {
    this.#isClosed = true;
    this.#timer?.cancel();
  }

  #again(): void {
    if (this.#isClosed) return;
    this.#timer = this.#plane.clock.after(againMs, () => {
      publishAuthentication(this.#plane, this.#published())
        .catch((error: unknown) => this.#onError(asError(error)))
        .finally(() => this.#again());
    });
  }
}

export async function publishAuthentication(plane: ControlPlane, published: PublishedAuthentication): Promise<void> {
  const resource = plane.catalogue.find({ group: '', version: 'v1', resource: 'configmaps' })!;
  const key = objectKey(plane, resource, namespace, name);
  for (let attempt = 0; attempt < attemptsMax; attempt++) {
    const { entry } = await plane.store.get(key);
    const live = entry && resource.stored.object(entry);
    const data = merged((live?.['data'] ?? {}) as Data, published, plane.clock);
    if (live && isDeepStrictEqual(live['data'], data)) return;
    const declared: KubeObject = { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name, namespace }, data };
    const value = resource.stored.encode(live ? { ...live, data } : make(plane, resource, declared));
    const expected = entry?.modRevision ?? absent;
    if ((await plane.store.commit([{ type: 'put', key, value, expected }])).committed) return;
  }
}

type Data = Readonly<Record<string, string>>;

/** Data that is published when the ConfigMap has none. */
export const publishedData = ({ clientCa, frontProxyCa, allowedNames }: PublishedAuthentication): Data => ({
  'client-ca-file': clientCa,
  'requestheader-client-ca-file': frontProxyCa,
  'requestheader-allowed-names': JSON.stringify(allowedNames),
  'requestheader-extra-headers-prefix': JSON.stringify([identityHeaderNames.extraPrefix]),
  'requestheader-group-headers': JSON.stringify([identityHeaderNames.group]),
  'requestheader-uid-headers': JSON.stringify([identityHeaderNames.uid]),
  'requestheader-username-headers': JSON.stringify([identityHeaderNames.user]),
});

function merged(known: Data, { clientCa, frontProxyCa, allowedNames }: PublishedAuthentication, clock: Clock): Data {
  const names = (field: string, own: readonly string[]): string =>
    JSON.stringify([...new Set([...own, ...namesIn(known[field])])]);
  const authorities = (field: string, own: string): string => mergedCertificates(own, known[field] ?? '', clock);
  const { user, uid, group, extraPrefix } = identityHeaderNames;
  return {
    'client-ca-file': authorities('client-ca-file', clientCa),
    'requestheader-allowed-names': names('requestheader-allowed-names', allowedNames),
    'requestheader-client-ca-file': authorities('requestheader-client-ca-file', frontProxyCa),
    'requestheader-extra-headers-prefix': names('requestheader-extra-headers-prefix', [extraPrefix]),
    'requestheader-group-headers': names('requestheader-group-headers', [group]),
    'requestheader-uid-headers': names('requestheader-uid-headers', [uid]),
    'requestheader-username-headers': names('requestheader-username-headers', [user]),
  };
}

function namesIn(text: string | undefined): string[] {
  try {
    const value: unknown = JSON.parse(text ?? '[]');
    return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
  } catch {
    return [];
  }
}

const certificate = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** Merges both bundles without duplicates, our own certificates first. */
function mergedCertificates(own: string, known: string, clock: Clock): string {
  const all = new Map<string, string>();
  for (const pem of `${own}\n${known}`.match(certificate) ?? []) {
    try {
      const { fingerprint256, validTo } = new X509Certificate(pem);
      if (Date.parse(validTo) > clock.now() && !all.has(fingerprint256)) all.set(fingerprint256, pem);
    } catch {
      // Entries of other replicas that are not certificates are dropped.
    }
  }
  return [...all.values()].map((pem) => `${pem}\n`).join('');
}
