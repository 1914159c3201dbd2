/**
 * A token in a file that somebody renews, as kubelet does for pods. What is used is at most a minute old; while the file cannot be
 * read, the last token is used on, as client-go does: it may well be good still.
 */

import { readFile } from 'node:fs/promises';
import { asError, orAborted, systemClock } from '@hangar/core';
import type { Clock } from '@hangar/core';
import { ClientError } from '../errors.ts';
import type { Credentials } from './cluster-config.ts';
import { bearer, digest, isToken } from './credentials-material.ts';

const rereadAfterMs = 60_000;
/** After a 401, and after a read that failed. */
const rereadAtOnceMs = 1_000;
const tokenBytesMax = 1024 * 1024;

export interface TokenFileOptions {
  /** What is used until the file could be read for the first time. */
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
    // Of many requests that are refused at the same time, the first one reads.
    if (this.#clock.monotonicMs() - this.#readAtMs < rereadAtOnceMs) return true;
    return orAborted(this.#read(), signal);
  }

  /** Whether there is another token now. */
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
