/**
 * ControlPlanes with mode Virtual as a target of backups. An export is that of the server, of one revision. A restore into a new control
 * plane creates the tenant read-only, reads it again for the summary, and then creates the ControlPlane that adopts it. A restore in place
 * replaces the data of the tenant; its summary is that of the bytes that the server verified.
 */

import { rangeExport } from '@hangar/backup';
import { TargetError } from '@hangar/backup-operator';
import type {
  BackupTarget,
  ContentSummary,
  Exported,
  RestoreOptions,
  RestoreProgress,
  TargetCall,
  TargetName,
} from '@hangar/backup-operator';
import { find } from '@hangar/client';
import type { Client } from '@hangar/client';
import { hasCode } from '@hangar/core';
import { clusterPathOf, ControlPlane, group } from '../api/index.ts';
import { Tenant } from '../host/index.ts';
import { summaryOf, SummarizedExport } from './export-summary.ts';
import { adoptTenant, exportTenant, restoreIdAnnotation, restoreTenant } from './tenant-transfer.ts';

export interface VirtualTargetOptions {
  /** Client of the management plane, where ControlPlanes are. */
  readonly management: Client;
  /** Client of the Hangar whose tenants virtual control planes are. */
  readonly host: Client;
}

/** On a ControlPlane: the restore that created it, and its summary as JSON. */
export const restoredByAnnotation = `${group}/restored-by`;
export const restoredSummaryAnnotation = `${group}/restored-summary`;

export const virtualTarget = (options: VirtualTargetOptions): BackupTarget => new VirtualTarget(options);

class VirtualTarget implements BackupTarget {
  readonly kind = 'ControlPlane';
  readonly isNamespaced = false;
  readonly #management: Client;
  readonly #host: Client;

  constructor({ management, host }: VirtualTargetOptions) {
    this.#management = management;
    this.#host = host;
  }

  async list(selector: Readonly<Record<string, string>>, { signal }: TargetCall): Promise<readonly TargetName[]> {
    const names: TargetName[] = [];
    for await (const one of this.#management.listAll(ControlPlane, { labelSelector: selector, signal })) {
      if (isVirtual(one)) names.push({ name: one.metadata.name! });
    }
    return names;
  }

  async export(name: TargetName, options: TargetCall & { readonly includesKeys: boolean }): Promise<Exported> {
    const path = await this.#pathOf(name, options);
    return asTarget(name, async () => {
      const summarized = await SummarizedExport.open(await exportTenant(this.#host, { path, ...options }));
      const { version, hasKeys } = summarized.about;
      return {
        payload: rangeExport,
        mode: 'Virtual',
        versions: { hangar: version },
        hasKeys,
        content: summarized.content(),
        summary: () => summarized.summary(),
      };
    });
  }

  async summarize(name: TargetName, { signal }: TargetCall): Promise<ContentSummary> {
    const path = await this.#pathOf(name, { signal });
    return asTarget(name, () => this.#summaryOf(path, signal));
  }

  async create({ name }: TargetName, options: RestoreOptions): Promise<RestoreProgress> {
    const { uid, signal, labels, className } = options;
    const object = await find(this.#management, ControlPlane, { name }, { signal });
    if (object) return { state: 'Complete', summary: earlierSummary(object, uid) };
    return asTarget({ name }, async () => {
      if (!(await this.#isRestored(name, uid, signal))) {
        const { content } = await opened(options);
        const restoring = { path: name, upload: content, restoreId: uid, isReadOnly: true, signal };
        await restoreTenant(this.#host, restoring).catch((error: unknown) => {
          // Retained data of a deleted control plane.
          if (hasCode(error, 'Conflict')) throw new TargetError('AlreadyExists', (error as Error).message);
          throw error;
        });
      }
      const summary = await this.#summaryOf(name, signal);
      const annotations = { [restoredByAnnotation]: uid, [restoredSummaryAnnotation]: JSON.stringify(summary) };
      const clients = { management: this.#management, host: this.#host };
      await adoptTenant(clients, { name, className, labels, annotations, signal });
      return { state: 'Complete', summary };
    });
  }

  async replace(name: TargetName, options: RestoreOptions): Promise<RestoreProgress> {
    const { uid, signal } = options;
    const path = await this.#pathOf(name, { signal });
    return asTarget(name, async () => {
      const summarized = await SummarizedExport.open((await opened(options)).content);
      let isRead = false;
      async function* upload(): AsyncGenerator<Uint8Array, void, void> {
        yield* summarized.content();
        isRead = true;
      }
      await restoreTenant(this.#host, { path, upload: upload(), restoreId: uid, replaces: true, signal });
      // The server does not read the backup again if an earlier call completed the restore.
      const summary = isRead ? await summarized.summary() : await summaryOf((await opened(options)).content);
      return { state: 'Complete', summary };
    });
  }

  async delete({ name }: TargetName, { signal }: TargetCall): Promise<void> {
    const key = { name };
    const destroyed = { type: 'merge', body: { spec: { deletionPolicy: 'Destroy' } } } as const;
    const object = await find(this.#management, ControlPlane, key, { signal });
    if (object) {
      if (object.metadata.annotations?.[restoredByAnnotation] === undefined) throw notRestored('ControlPlane', name);
      await this.#management.patch(ControlPlane, key, destroyed, { signal });
      await this.#management.delete(ControlPlane, key, { signal, preconditions: { uid: object.metadata.uid! } });
      return;
    }
    // An interrupted restore may have left a tenant without a ControlPlane.
    const tenant = await find(this.#host, Tenant, key, { signal });
    if (!tenant || tenant.metadata.deletionTimestamp !== undefined) return;
    if (tenant.metadata.annotations?.[restoreIdAnnotation] === undefined) throw notRestored('Tenant', name);
    await this.#host.patch(Tenant, key, destroyed, { signal });
    await this.#host.delete(Tenant, key, { signal, preconditions: { uid: tenant.metadata.uid! } });
  }

  async #summaryOf(path: string, signal: AbortSignal): Promise<ContentSummary> {
    return summaryOf(await exportTenant(this.#host, { path, signal }));
  }

  /** Reports whether an earlier call restored the tenant. */
  async #isRestored(name: string, uid: string, signal: AbortSignal): Promise<boolean> {
    const tenant = await find(this.#host, Tenant, { name }, { signal });
    return tenant?.metadata.annotations?.[restoreIdAnnotation] === uid;
  }

  async #pathOf({ name }: TargetName, { signal }: TargetCall): Promise<string> {
    const object = await find(this.#management, ControlPlane, { name }, { signal });
    if (!object) throw new TargetError('NotFound', `ControlPlane ${JSON.stringify(name)} does not exist`);
    if (!isVirtual(object)) {
      throw new TargetError(
        'Refused',
        `ControlPlane ${JSON.stringify(name)} has mode Dedicated, and this operator does not run hosted control planes`,
      );
    }
    return clusterPathOf(object);
  }
}

const isVirtual = ({ spec }: ControlPlane): boolean => (spec?.mode ?? 'Virtual') === 'Virtual';

async function opened({ open }: RestoreOptions): Promise<{ readonly content: AsyncIterable<Uint8Array> }> {
  const { payload, content } = await open();
  if (payload === rangeExport) return { content };
  await content.return();
  throw new TargetError('Refused', `the backup contains ${JSON.stringify(payload)}, not a virtual control plane`);
}

/** Throws `AlreadyExists` if another restore, or none, created the control plane. */
export function earlierSummary({ metadata }: ControlPlane, uid: string): ContentSummary {
  const { [restoredByAnnotation]: by, [restoredSummaryAnnotation]: summary } = metadata.annotations ?? {};
  if (by === uid && summary !== undefined) return JSON.parse(summary) as ContentSummary;
  throw new TargetError('AlreadyExists', `ControlPlane ${JSON.stringify(metadata.name)} already exists`);
}

const notRestored = (kind: string, name: string): TargetError =>
  new TargetError('Refused', `${kind} ${JSON.stringify(name)} was not created by a restore, and is not deleted`);

const codes = {
  NotFound: 'NotFound',
  AlreadyExists: 'AlreadyExists',
  Conflict: 'NotReady',
  ServiceUnavailable: 'NotReady',
  TooManyRequests: 'NotReady',
  BadRequest: 'Refused',
  Forbidden: 'Refused',
} as const;

/** Converts refusals of the server. */
async function asTarget<T>({ name }: TargetName, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (error instanceof TargetError) throw error;
    for (const [code, meaning] of Object.entries(codes)) {
      if (!hasCode(error, code)) continue;
      const message = `ControlPlane ${JSON.stringify(name)}: ${(error as Error).message}`;
      throw new TargetError(meaning, message, { cause: error });
    }
    throw error;
  }
}
