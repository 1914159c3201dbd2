/**
 * The bearer token for metrics and clusters. The file is read for every request that has a token, so that a replaced file takes effect at
 * once.
 */

import { createHash, timingSafeEqual } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { asError } from '@hangar/core';
import type { Logger } from '@hangar/core';
import { ServeError } from './errors.ts';

export class BearerToken {
  readonly #file: string;
  readonly #log: Logger;

  constructor(file: string, log: Logger) {
    this.#file = file;
    this.#log = log;
  }

  /** Rejects with TokenUnusable. */
  async read(): Promise<string> {
    let token: string;
    try {
      token = (await readFile(this.#file, 'utf8')).trim();
    } catch (error) {
      throw new ServeError('TokenUnusable', `failed to read the token: ${asError(error).message}`, { cause: error });
    }
    if (token === '') throw new ServeError('TokenUnusable', `the token file ${this.#file} is empty`);
    return token;
  }

  /** Checks the header `Authorization`. Without a configured token, every request is refused. */
  async admits(authorization: string | undefined): Promise<boolean> {
    const given = /^bearer +(\S+) *$/i.exec(authorization ?? '')?.[1];
    if (given === undefined) return false;
    try {
      // Digests have a fixed length: the duration of the comparison reveals nothing.
      return timingSafeEqual(digest(given), digest(await this.read()));
    } catch (error) {
      this.#log.error('rejecting all bearer tokens', { error: asError(error) });
      return false;
    }
  }
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
