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
  const { refusalOf } = await import('@hangar/client');
  throw await refusalOf(answer);
}
