/**
 * A client certificate in files that are rotated: every new connection uses the newest pair. The files are written one after the other;
 * while they do not match, the previous pair is used.
 */

import { readFile, stat } from 'node:fs/promises';
import { asError, orAborted } from '@hangar/core';
import { ClientError } from '../errors.ts';
import type { ClientCertificate, Credentials } from './cluster-config.ts';
import { digest, pairProblem } from './credentials-material.ts';

/** Inline in the kubeconfig, or a path. */
export type Pem = { readonly data: string } | { readonly path: string };

const fileBytesMax = 1024 * 1024;

export class CertificateFiles implements Credentials {
  readonly #certificate: Pem;
  readonly #key: Pem;
  readonly fingerprint: string;
  #pair: ClientCertificate | undefined;
  #seen = '';
  #reading: Promise<ClientCertificate> | undefined;

  constructor(certificate: Pem, key: Pem) {
    this.#certificate = certificate;
    this.#key = key;
    this.fingerprint = digest('certificateFiles', JSON.stringify([certificate, key]));
  }

  headers(): Readonly<Record<string, string>> {
    return none;
  }

  clientCertificate(signal?: AbortSignal): Promise<ClientCertificate> {
    this.#reading ??= this.#read().finally(() => (this.#reading = undefined));
    return orAborted(this.#reading, signal);
  }

  /** The server identifies clients by their connection: a new certificate needs a new connection. */
  async refresh(signal?: AbortSignal): Promise<boolean> {
    const before = this.#pair;
    return (await this.clientCertificate(signal)) !== before;
  }

  async #read(): Promise<ClientCertificate> {
    try {
      const seen = `${await stateOf(this.#certificate)} ${await stateOf(this.#key)}`;
      if (this.#pair !== undefined && seen === this.#seen) return this.#pair;
      const pair = { certificate: await textOf(this.#certificate), key: await textOf(this.#key) };
      const problem = pairProblem(pair);
      if (problem !== undefined) {
        throw new ClientError('CredentialsFailed', `${nameOf(this.#certificate)}, ${nameOf(this.#key)}: ${problem}`);
      }
      this.#seen = seen;
      if (this.#pair?.certificate !== pair.certificate || this.#pair.key !== pair.key) this.#pair = pair;
      return this.#pair;
    } catch (error) {
      if (this.#pair !== undefined) return this.#pair;
      throw error;
    }
  }
}

const none: Readonly<Record<string, string>> = {};

const nameOf = (pem: Pem): string => ('path' in pem ? pem.path : 'the kubeconfig');

async function stateOf(pem: Pem): Promise<string> {
  if ('data' in pem) return '';
  const { mtimeMs, ctimeMs, size, ino } = await told(pem.path, stat(pem.path));
  if (size > fileBytesMax) throw new ClientError('CredentialsFailed', `${pem.path}: longer than ${fileBytesMax} bytes`);
  return `${mtimeMs} ${ctimeMs} ${size} ${ino}`;
}

const textOf = (pem: Pem): Promise<string> =>
  'data' in pem ? Promise.resolve(pem.data) : told(pem.path, readFile(pem.path, 'utf8'));

async function told<T>(path: string, reading: Promise<T>): Promise<T> {
  try {
    return await reading;
  } catch (cause) {
    throw new ClientError('CredentialsFailed', `${path}: ${asError(cause).message}`, { cause });
  }
}
