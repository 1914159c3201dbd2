/** The authorization of the root control plane. */

import { Authorization, ConfigurationError } from '@hangar/server';
import type { ControlPlane } from '@hangar/server';
import { UsageError } from '@hangar/core/command-line';
import type { AuthorizationSource } from '../options/authorization.ts';

/** Rejects with a UsageError for an invalid configuration. */
export async function authorization(
  plane: ControlPlane,
  source: AuthorizationSource,
  onError: (error: Error) => void,
): Promise<Authorization> {
  try {
    return await Authorization.open(plane, { source, onError });
  } catch (error) {
    const isFile = (error as NodeJS.ErrnoException).code !== undefined;
    if (!(error instanceof ConfigurationError) && !isFile) throw error;
    const flag = 'file' in source ? '--authorization-config' : '--authorization-webhook-config-file';
    throw new UsageError(`${flag}: ${(error as Error).message}`, { cause: error });
  }
}
