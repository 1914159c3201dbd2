/** Requests to tenants that transfer files instead of objects. */

import type { HttpAnswer } from '@hangar/client';
import { Tenant } from '../../kinds.ts';

export const tenantTarget = (
  path: string,
  subresource: string,
  query: Readonly<Record<string, string>> = {},
): string => {
  const parameters = new URLSearchParams(query).toString();
  const target = `/apis/${Tenant.apiVersion}/${Tenant.plural}/${encodeURIComponent(path)}/${subresource}`;
  return parameters === '' ? target : `${target}?${parameters}`;
};

/** Rejects with the server's refusal. */
export async function insistOnSuccess(answer: HttpAnswer): Promise<void> {
  if (answer.status >= 200 && answer.status < 300) return;
  const { ReceivedStatusError } = await import('@hangar/client');
  const text = (await answer.body()).toString();
  throw new ReceivedStatusError({ code: answer.status, ...refusalIn(text) } as never);
}

function refusalIn(text: string): object {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'Status') return value;
  } catch {
    // The answer of a proxy, which is not a Kubernetes Status.
  }
  return { message: text.trim().slice(0, 500) };
}
