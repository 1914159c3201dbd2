/** Secrets of which namespaces may be read. */

import type { ObjectKey } from '@hangar/client';
import type { Candidate } from './compose.ts';

/** `scope` undefined: all of them. */
export function inScope(
  secret: ObjectKey | undefined,
  scope: string | undefined,
): Pick<Candidate, 'secret' | 'outOfScope'> {
  if (secret === undefined || scope === undefined || secret.namespace === scope) return { secret };
  return { secret: undefined, outOfScope: secret };
}

/** Shared by all that have none. */
const none: Readonly<Record<string, string>> = Object.freeze({});

export const labelsOf = (labels: Readonly<Record<string, string>> | undefined): Readonly<Record<string, string>> =>
  labels ?? none;
