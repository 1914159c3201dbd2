/** The specs of `specs.txt`, with those that only wait, and those that must run alone. */

import { readFileSync } from 'node:fs';

export interface Spec {
  readonly name: string;
  /** Measured duration, for batches and their time limits. */
  readonly seconds: number;
  /** It waits without work: for five minutes of history to be compacted, or for a full resync. */
  readonly isWaiting: boolean;
  /** It reads the whole server, or changes it for all clients. */
  readonly isAlone: boolean;
}

/** A longer spec is waiting, not working. */
const workSecondsMax = 120;

export function parseSpecs(text: string): Spec[] {
  return text.split('\n').flatMap((line) => {
    const match = /^([\d.]+)\t(.+)$/.exec(line);
    if (!match) return [];
    const [, seconds, name] = match as unknown as [string, string, string];
    return [
      {
        name,
        seconds: Number(seconds),
        isWaiting: Number(seconds) > workSecondsMax,
        isAlone: name.includes('[Serial]') || /\] (Aggregated)?Discovery should/.test(name),
      },
    ];
  });
}

export const allSpecs = (): Spec[] => parseSpecs(readFileSync(new URL('specs.txt', import.meta.url), 'utf8'));
