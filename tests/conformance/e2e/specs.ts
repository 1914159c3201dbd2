/** The specs of `specs.txt`: which there are, which only wait, and which must run alone. */

import { readFileSync } from 'node:fs';

export interface Spec {
  readonly name: string;
  /** How long it takes on the real control plane. */
  readonly seconds: number;
  /** Its time goes by without work: it waits for five minutes of history to be compacted, or for a full resync. */
  readonly isWaiting: boolean;
  /** It looks at the whole server, or changes it for everybody. */
  readonly isAlone: boolean;
}

/** Longer than this and it is waiting, not working. */
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
