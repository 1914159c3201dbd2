/** Requests that export and restore tenants, and the ControlPlane that adopts a restored tenant. Used by the target of backups and by `hangar restore`. */

import { refusalOf } from '@hangar/client';
import type { Client } from '@hangar/client';
import { ControlPlane } from '../api/index.ts';
import { adoptByAnnotation } from '../control-plane/claim.ts';
import { Tenant } from '../host/index.ts';

/** On a Tenant: the ID of the restore that created it. The server sets it. */
export const restoreIdAnnotation = 'tenancy.hangar.dev/restore-id';

export interface ExportTenantOptions {
  readonly path: string;
  readonly includesKeys?: boolean | undefined;
  readonly signal: AbortSignal;
}

/** Opens the export of a tenant. Leaving the stream ends the request. */
export async function exportTenant(host: Client, options: ExportTenantOptions): Promise<AsyncIterable<Uint8Array>> {
  const { path, includesKeys = false, signal } = options;
  const target = tenantTarget(path, 'backup', includesKeys ? { includeKeys: 'true' } : {});
  const answer = await host.raw({ method: 'POST', target, signal, isLong: true });
  if (answer.status >= 300) throw await refusalOf(answer);
  return answer.stream();
}

export interface RestoreTenantOptions {
  readonly path: string;
  /** The export. Read once. */
  readonly upload: AsyncIterable<Uint8Array>;
  /** A repeated request with the same ID does nothing. */
  readonly restoreId?: string | undefined;
  /** Replaces the data of an existing tenant. Absent: the tenant is created. */
  readonly replaces?: boolean | undefined;
  /** The new tenant is read-only. */
  readonly isReadOnly?: boolean | undefined;
  readonly signal: AbortSignal;
}

/** Rejects with the refusal of the server: `AlreadyExists` or `Conflict` if the path is in use. */
export async function restoreTenant(host: Client, options: RestoreTenantOptions): Promise<void> {
  const { path, upload, restoreId, replaces = false, isReadOnly = false, signal } = options;
  const target = tenantTarget(path, 'restore', {
    ...(replaces && { replace: 'true' }),
    ...(restoreId !== undefined && { restoreId }),
    ...(isReadOnly && { suspension: 'ReadOnly' }),
  });
  const headers = { 'content-type': 'application/octet-stream', accept: 'application/json' };
  const answer = await host.raw({ method: 'POST', target, headers, upload, signal, isLong: true });
  if (answer.status >= 300) throw await refusalOf(answer);
  await answer.body();
}

export interface AdoptTenantOptions {
  /** Name of the ControlPlane, and of the tenant. */
  readonly name: string;
  readonly className?: string | undefined;
  readonly labels?: Readonly<Record<string, string>> | undefined;
  /** Of the ControlPlane. */
  readonly annotations?: Readonly<Record<string, string>> | undefined;
  readonly signal: AbortSignal;
}

/**
 * Creates the ControlPlane of a restored tenant, and ends the suspension of the tenant. Annotates the tenant first: without the annotation,
 * an operator that sees the ControlPlane would find a tenant with another owner.
 */
export async function adoptTenant(
  { management, host }: { readonly management: Client; readonly host: Client },
  { name, className, labels, annotations, signal }: AdoptTenantOptions,
): Promise<void> {
  const body = { metadata: { annotations: { [adoptByAnnotation]: name } }, spec: { suspension: null } };
  await host.patch(Tenant, { name }, { type: 'merge', body }, { signal });
  const spec = className === undefined ? {} : { classRef: { name: className } };
  await management.create(
    ControlPlane,
    { metadata: { name, ...(labels && { labels }), ...(annotations && { annotations }) }, spec },
    { signal },
  );
}

const tenantTarget = (path: string, subresource: string, query: Readonly<Record<string, string>>): string => {
  const parameters = new URLSearchParams(query).toString();
  const target = `/apis/${Tenant.apiVersion}/${Tenant.plural}/${encodeURIComponent(path)}/${subresource}`;
  return parameters === '' ? target : `${target}?${parameters}`;
};
