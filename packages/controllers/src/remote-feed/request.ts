/** Opens the feed of the tenants, and converts failed responses. */

import type { Status } from '@hangar/api';
import { ClientError, ReceivedStatusError } from '@hangar/client';
import type { Client, HttpAnswer } from '@hangar/client';

export const feedPath = '/apis/tenancy.hangar.dev/v1alpha1/tenants/*/feed';
const contentType = 'application/x-ndjson';
/** The server sends a line every ten seconds. */
const silenceMs = 30_000;

/** Rejects with the error of the server, or of the connection. */
export async function openFeed(client: Pick<Client, 'raw'>, signal: AbortSignal): Promise<HttpAnswer> {
  const headers = { accept: `${contentType}, application/json` };
  const answer = await client.raw({ method: 'GET', target: feedPath, headers, isLong: true, silenceMs, signal });
  if (answer.status !== 200) {
    throw new ReceivedStatusError(refusalOf(answer.status, (await answer.body()).toString()));
  }
  const type = answer.header('content-type');
  if (type?.split(';', 1)[0] === contentType) return answer;
  throw new ClientError(
    'MalformedAnswer',
    `the content type of the tenant feed must be ${contentType}, not ${type ?? 'absent'}`,
  );
}

/** Returns the Status of the response, or one with the text of a proxy. */
export function refusalOf(code: number, text: string): Status {
  try {
    const status = JSON.parse(text) as Status;
    if (status?.kind === 'Status') return status;
  } catch {
    // Not JSON.
  }
  const message = text.trim().slice(0, 500) || `the server responded with ${code}`;
  return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, code };
}
