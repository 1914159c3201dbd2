/** Reads the version that a server reports at `/version`. */

import type { Client } from '@hangar/client';
import { failed } from '../../errors.ts';

export interface ServerVersion {
  readonly gitVersion: string;
  readonly [field: string]: unknown;
}

export async function serverVersion(client: Client, signal: AbortSignal): Promise<ServerVersion> {
  const answer = await client.raw({
    method: 'GET',
    target: '/version',
    headers: { accept: 'application/json' },
    signal,
  });
  const text = (await answer.body()).toString();
  let value: Partial<ServerVersion> | undefined;
  try {
    value = JSON.parse(text) as Partial<ServerVersion>;
  } catch {
    value = undefined;
  }
  if (answer.status !== 200 || typeof value?.gitVersion !== 'string') {
    throw failed(`the server answered ${answer.status} without a version`);
  }
  return value as ServerVersion;
}
