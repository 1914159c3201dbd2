/**
 * A token in a file that is rotated, as kubelet does for pods. The cached token is at most a minute old; while the file cannot be read, the
 * last token is used, as in client-go: it may still be valid.
 */

import { readFile } from 'node:fs/promises';
import { asError, orAborted, systemClock } from '@hangar/core';
import type { Clock } from '@hangar/core';
import { ClientError } from '../errors.ts';
import type { Credentials } from './cluster-config.ts';
import { bearer, digest, isToken } from './credentials-material.ts';

const rereadAfterMs = 60_000;
/** Minimum time between reads after a 401 or a failed read. */
const rereadAtOnceMs = 1_000;
const tokenBytesMax = 1024 * 1024;

export interface TokenFileOptions {
  /** Token that is used until the file is read for the first time. */
  readonly token?: string | undefined;
  readonly clock?: Clock | undefined;
}

export class TokenFile implements Credentials {
  readonly #path: string;
  readonly #clock: Clock;
  readonly fingerprint: string;
  #headers: Readonly<Record<string, string>> | undefined;
  #isDueAtMs = 0;
  #readAtMs = -Infinity;
  #reading: Promise<boolean> | undefined;

  constructor(path: string, { token, clock = systemClock }: TokenFileOptions = {}) {
    this.#path = path;
    this.#clock = clock;
    this.#headers = token === undefined ? undefined : bearer(token);
    this.#isDueAtMs = clock.monotonicMs();
    this.fingerprint = digest('tokenFile', path);
  }

  headers(signal?: AbortSignal): Promise<Readonly<Record<string, string>>> | Readonly<Record<string, string>> {
    if (this.#headers !== undefined && this.#clock.monotonicMs() < this.#isDueAtMs) return this.#headers;
    return orAborted(this.#read(), signal).then(() => this.#headers!);
  }

  async refresh(signal?: AbortSignal): Promise<boolean> {
    // Of many requests that are rejected at the same time, only the first one reads the file.
    if (this.#clock.monotonicMs() - this.#readAtMs < rereadAtOnceMs) return true;
    return orAborted(this.#read(), signal);
  }

  /** Reports whether the token changed. */
  #read(): Promise<boolean> {
    this.#reading ??= this.#readOnce().finally(() => (this.#reading = undefined));
    return this.#reading;
  }

  async #readOnce(): Promise<boolean> {
    const before = this.#headers?.['authorization'];
    try {
      const token = await tokenIn(this.#path);
      this.#headers = bearer(token);
      this.#readAtMs = this.#clock.monotonicMs();
      this.#isDueAtMs = this.#readAtMs + rereadAfterMs;
    } catch (error) {
      if (this.#headers === undefined) throw error;
      this.#isDueAtMs = this.#clock.monotonicMs() + rereadAtOnceMs;
    }
    return this.#headers['authorization'] !== before;
  }
}

async function tokenIn(path: string): Promise<string> {
  let text: string;
  try {
    text = (await readFile(path, 'utf8')).trim();
  } catch (cause) {
    throw new ClientError('CredentialsFailed', `tokenFile ${path}: ${asError(cause).message}`, { cause });
  }
  if (text === '') throw new ClientError('CredentialsFailed', `tokenFile ${path}: is empty`);
  if (text.length > tokenBytesMax || !isToken(text)) {
    throw new ClientError('CredentialsFailed', `tokenFile ${path}: does not contain a valid token`);
  }
  return text;
}
