/**
 * ControlPlanes of both modes as one target of backups. The mode of the control plane decides when a backup or a restore in place runs; a
 * restore into a new control plane has the mode of the backup.
 *
 *     Virtual      virtual-target.ts     export of the tenant
 *     Dedicated    dedicated-target.ts   snapshot of the etcd of its HostedControlPlane
 */

import { rangeExport } from '@hangar/backup';
import { TargetError } from '@hangar/backup-operator';
import type { BackupTarget, Restorable, RestoreOptions, TargetCall } from '@hangar/backup-operator';
import { find } from '@hangar/client';
import { Namespace } from '@hangar/client/kinds/core-v1';
import { annotations, ControlPlane, managementNamespace } from '../api/index.ts';
import type { ControlPlaneMode } from '../api/index.ts';
import { DedicatedTarget } from './dedicated-target.ts';
import { earlierSummary, virtualTarget } from './virtual-target.ts';
import type { VirtualTargetOptions } from './virtual-target.ts';

export interface ControlPlaneTargetOptions extends VirtualTargetOptions {
  /** The target of HostedControlPlanes. Absent: ControlPlanes with mode Dedicated are refused. */
  readonly hosted?: BackupTarget | undefined;
}

export function controlPlaneTarget({ management, host, hosted }: ControlPlaneTargetOptions): BackupTarget {
  const virtual = virtualTarget({ management, host });
  if (!hosted) return virtual;
  const dedicated = new DedicatedTarget({ management, hosted });

  async function modeOf(name: string, { signal }: TargetCall): Promise<ControlPlaneMode> {
    const object = await find(management, ControlPlane, { name }, { signal });
    if (!object) throw new TargetError('NotFound', `ControlPlane ${JSON.stringify(name)} does not exist`);
    const namespace = await find(management, Namespace, { name: managementNamespace(name) }, { signal });
    const recorded = namespace?.metadata.annotations?.[annotations.mode] === 'Dedicated' ? 'Dedicated' : 'Virtual';
    const fault = modeFault(object, recorded);
    if (fault !== undefined) throw new TargetError('NotReady', `ControlPlane ${JSON.stringify(name)}: ${fault}`);
    return recorded;
  }

  return {
    kind: 'ControlPlane',
    isNamespaced: false,
    async list(selector, { signal }) {
      const names = [];
      for await (const { metadata } of management.listAll(ControlPlane, { labelSelector: selector, signal })) {
        names.push({ name: metadata.name! });
      }
      return names;
    },
    async export({ name }, options) {
      const mode = await modeOf(name, options);
      return mode === 'Virtual' ? virtual.export({ name }, options) : dedicated.export(name, options);
    },
    async summarize({ name }, options) {
      const mode = await modeOf(name, options);
      return mode === 'Virtual' ? virtual.summarize({ name }, options) : dedicated.summarize(name, options);
    },
    async create({ name }, options) {
      const { signal, uid } = options;
      const object = await find(management, ControlPlane, { name }, { signal });
      if (object) return { state: 'Complete', summary: earlierSummary(object, uid) };
      const namespace = await find(management, Namespace, { name: managementNamespace(name) }, { signal });
      const isBegun = namespace?.metadata.annotations?.[annotations.mode] === 'Dedicated';
      if (isBegun || (await modeOfBackup(options)) === 'Dedicated') return dedicated.create(name, options);
      return virtual.create({ name }, options);
    },
    async replace({ name }, options) {
      const mode = await modeOf(name, options);
      const open = async (): Promise<Restorable> => {
        const backup = await options.open();
        const mismatch = modeMismatch(name, mode, modeOfPayload(backup.payload));
        if (mismatch === undefined) return backup;
        await backup.content.return();
        throw new TargetError('Refused', mismatch);
      };
      const checked = { ...options, open };
      return mode === 'Virtual' ? virtual.replace({ name }, checked) : dedicated.replace(name, checked);
    },
    async delete({ name }, options) {
      const object = await find(management, ControlPlane, { name }, options);
      if (!object) await dedicated.delete(name, options);
      await virtual.delete({ name }, options);
    },
  };
}

const modeOfPayload = (payload: string): ControlPlaneMode => (payload === rangeExport ? 'Virtual' : 'Dedicated');

async function modeOfBackup({ open }: RestoreOptions): Promise<ControlPlaneMode> {
  const { payload, content } = await open();
  await content.return();
  return modeOfPayload(payload);
}

/** Returns why the mode of a control plane is not known now. The data is where the recorded mode says. */
export function modeFault({ spec, status }: ControlPlane, recorded: ControlPlaneMode): string | undefined {
  const { migration } = status ?? {};
  if (migration && migration.completedAt === undefined) {
    return `a migration from ${migration.from} to ${migration.to} is in progress: retry when it is complete`;
  }
  const wanted = spec?.mode ?? 'Virtual';
  return wanted === recorded ? undefined : `spec.mode is ${wanted}, but its data has mode ${recorded}`;
}

/** Returns why a backup cannot replace the data of a control plane. */
export const modeMismatch = (name: string, mode: ControlPlaneMode, ofBackup: ControlPlaneMode): string | undefined =>
  mode === ofBackup
    ? undefined
    : `the backup is of a control plane with mode ${ofBackup}, and ControlPlane ${JSON.stringify(name)} has mode ${mode}: restore it into a new control plane`;
