/** A CA in a file that is rotated, as kubelet does for pods. The cached content is at most a minute old. */

import { readFile } from 'node:fs/promises';
import { asError } from '@hangar/core';
import type { Clock } from '@hangar/core';
import { ClientError } from '../errors.ts';

const rereadAfterMs = 60_000;

export class AuthorityFile {
  readonly #path: string;
  readonly #clock: Clock;
  #last: { readonly text: string; readonly readAtMs: number } | undefined;

  constructor(path: string, clock: Clock) {
    this.#path = path;
    this.#clock = clock;
  }

  /** Returns the last content that could be read while the file cannot be read: it may be in the middle of a rotation. */
  async read(): Promise<string> {
    const nowMs = this.#clock.monotonicMs();
    if (this.#last !== undefined && nowMs - this.#last.readAtMs < rereadAfterMs) return this.#last.text;
    try {
      const text = await readFile(this.#path, 'utf8');
      if (!text.includes('-----BEGIN')) throw new Error('is not PEM');
      this.#last = { text, readAtMs: nowMs };
    } catch (cause) {
      if (this.#last === undefined) {
        throw new ClientError('InvalidKubeconfig', `${this.#path}: ${asError(cause).message}`, { cause });
      }
    }
    return this.#last!.text;
  }
}
