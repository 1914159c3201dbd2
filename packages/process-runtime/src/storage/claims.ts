/**
 * PersistentVolumeClaims of the StorageClass of the runtime. Each claim gets a folder and a PersistentVolume of this node, and the runtime
 * binds both. A claim is provisioned when the scheduler selects this node for it, or when a pod of this node uses it; with immediate binding,
 * when it is created.
 */

import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { compareQuantities } from '@hangar/api/values';
import type { Client } from '@hangar/client';
import { find } from '@hangar/client';
import { PersistentVolume, PersistentVolumeClaim } from '@hangar/client/kinds/core-v1';
import { StorageClass } from '@hangar/client/kinds/storage-v1';
import { hasCode } from '@hangar/core';
import type { Logger } from '@hangar/core';
import { ProcessRuntimeError } from '../errors.ts';

export const storageClassName = 'hangar-process';
export const provisioner = 'hangar.dev/process';
const selectedNode = 'volume.kubernetes.io/selected-node';
const provisionedBy = 'pv.kubernetes.io/provisioned-by';
const bindCompleted = 'pv.kubernetes.io/bind-completed';
const boundByController = 'pv.kubernetes.io/bound-by-controller';

export interface ClaimsOptions {
  readonly client: Client;
  readonly log: Logger;
  readonly nodeName: string;
  /** Parent of the folders of claims. */
  readonly folder: string;
  readonly binding: ClaimBinding;
}

/**
 * `Immediate` is only correct while the runtime is the only node for its pods: the scheduler cannot choose another one. It saves the time
 * in which the scheduler waits for claims, which it polls every second.
 */
export type ClaimBinding = 'Immediate' | 'WaitForFirstConsumer';

export class Claims {
  readonly #options: ClaimsOptions;
  readonly #provisioning = new Map<string, Promise<void>>();

  constructor(options: ClaimsOptions) {
    this.#options = options;
  }

  /** Creates the StorageClass. Its binding mode is immutable, so a class with another mode is replaced. */
  async createStorageClass(): Promise<void> {
    const { client, binding } = this.#options;
    const found = await find(client, StorageClass, { name: storageClassName });
    if (found && found.provisioner !== provisioner) return;
    if (found?.volumeBindingMode === binding) return this.#allowExpansion(found);
    if (found) await client.delete(StorageClass, { name: storageClassName });
    const { labels, annotations } = found?.metadata ?? {};
    try {
      await client.create(StorageClass, {
        metadata: { name: storageClassName, ...(labels && { labels }), ...(annotations && { annotations }) },
        provisioner,
        reclaimPolicy: 'Delete',
        volumeBindingMode: binding,
        allowVolumeExpansion: true,
      });
    } catch (error) {
      if (!hasCode(error, 'AlreadyExists')) throw error;
    }
  }

  /** A class of an earlier release does not allow it. */
  async #allowExpansion({ allowVolumeExpansion }: StorageClass): Promise<void> {
    if (allowVolumeExpansion) return;
    const body = { allowVolumeExpansion: true };
    await this.#options.client.patch(StorageClass, { name: storageClassName }, { type: 'merge', body });
  }

  /** Provisions a claim that waits for this node, and grows one that requests more. */
  async reconcile(claim: PersistentVolumeClaim): Promise<void> {
    const { nodeName, binding } = this.#options;
    if (claim.spec?.storageClassName !== storageClassName || claim.metadata.deletionTimestamp !== undefined) return;
    const isWanted = binding === 'Immediate' || claim.metadata.annotations?.[selectedNode] === nodeName;
    if (isBound(claim)) await this.#grow(claim);
    else if (isWanted) await this.#provision(claim);
  }

  /** A folder has no size, so only the objects change. */
  async #grow({ metadata, spec, status }: PersistentVolumeClaim): Promise<void> {
    const { client, nodeName, log } = this.#options;
    const [wanted, actual] = [spec?.resources?.requests?.['storage'], status?.capacity?.['storage']];
    if (wanted === undefined || actual === undefined || compareQuantities(wanted, actual) <= 0) return;
    const volume = await find(client, PersistentVolume, { name: spec!.volumeName! });
    if (!volume || nodeOf(volume) !== nodeName) return;
    const capacity = { storage: wanted };
    await client.patch(
      PersistentVolume,
      { name: volume.metadata.name! },
      { type: 'merge', body: { spec: { capacity } } },
    );
    const { namespace, name = '', uid } = metadata;
    const body = { metadata: { uid }, status: { capacity, conditions: null } };
    await client.status.patch(PersistentVolumeClaim, { namespace, name }, { type: 'merge', body });
    log.info('grew a claim', { claim: `${namespace}/${name}`, capacity: wanted });
  }

  /** Deletes the folder and the PersistentVolume of a deleted claim. */
  async reclaim(volume: PersistentVolume): Promise<void> {
    const { client, nodeName, log } = this.#options;
    const { metadata, spec } = volume;
    if (metadata.annotations?.[provisionedBy] !== provisioner || nodeOf(volume) !== nodeName) return;
    const { namespace, name = '', uid } = spec?.claimRef ?? {};
    const claim = await find(client, PersistentVolumeClaim, { namespace, name });
    if (claim && claim.metadata.uid === uid) return;
    if (spec?.persistentVolumeReclaimPolicy !== 'Delete') return;
    const folder = spec.hostPath?.path ?? spec.local?.path ?? '';
    // Only folders that the runtime created are removed.
    if (folder.startsWith(`${this.#options.folder}/`)) await rm(folder, { recursive: true, force: true });
    const key = { name: metadata.name! };
    if (volume.status?.phase !== 'Released') {
      // The protection of a volume ends when it is no longer bound.
      await client.status.patch(PersistentVolume, key, { type: 'merge', body: { status: { phase: 'Released' } } });
    }
    if (metadata.deletionTimestamp !== undefined) return;
    try {
      await client.delete(PersistentVolume, key);
    } catch (error) {
      // The event of the new phase was handled first.
      if (!hasCode(error, 'NotFound')) throw error;
    }
    log.info('deleted the folder of a released claim', { volume: metadata.name, claim: `${namespace}/${name}` });
  }

  /** Returns the folder of a claim that a pod of this node uses. Rejects with `FailedMount` while it cannot be used. */
  async folderOf(namespace: string, name: string): Promise<string> {
    const { client } = this.#options;
    let claim = await find(client, PersistentVolumeClaim, { namespace, name });
    if (claim && !isBound(claim) && claim.spec?.storageClassName === storageClassName) {
      await this.#provision(claim);
      claim = await find(client, PersistentVolumeClaim, { namespace, name });
    }
    if (!claim) throw failed(`persistentvolumeclaim ${JSON.stringify(name)} not found`);
    if (!isBound(claim)) throw failed(`PVC ${namespace}/${name} is not bound`);
    const volume = await client.get(PersistentVolume, { name: claim.spec!.volumeName! });
    const path = volume.spec?.hostPath?.path ?? volume.spec?.local?.path;
    if (path === undefined) {
      throw failed(`PersistentVolume ${JSON.stringify(volume.metadata.name)} must have the type hostPath or local`);
    }
    await mkdir(path, { recursive: true, mode: 0o755 });
    return path;
  }

  #provision(claim: PersistentVolumeClaim): Promise<void> {
    const uid = claim.metadata.uid!;
    let provisioning = this.#provisioning.get(uid);
    if (!provisioning) {
      provisioning = this.#provisionOnce(claim).finally(() => this.#provisioning.delete(uid));
      this.#provisioning.set(uid, provisioning);
    }
    return provisioning;
  }

  async #provisionOnce(claim: PersistentVolumeClaim): Promise<void> {
    const { client, folder, nodeName, log } = this.#options;
    const { namespace, name, uid } = claim.metadata;
    const volumeName = claim.spec?.volumeName || `pvc-${uid}`;
    const path = join(folder, `${namespace}_${name}_${uid}`);
    await mkdir(path, { recursive: true, mode: 0o755 });
    const capacity = { storage: claim.spec?.resources?.requests?.['storage'] ?? '1Gi' };
    const accessModes = claim.spec?.accessModes ?? ['ReadWriteOnce'];
    try {
      await client.create(PersistentVolume, {
        metadata: { name: volumeName, annotations: { [provisionedBy]: provisioner, [boundByController]: 'yes' } },
        spec: {
          capacity,
          accessModes,
          persistentVolumeReclaimPolicy: 'Delete',
          storageClassName,
          volumeMode: 'Filesystem',
          hostPath: { path, type: 'DirectoryOrCreate' },
          claimRef: { apiVersion: 'v1', kind: 'PersistentVolumeClaim', namespace: namespace!, name: name!, uid: uid! },
          nodeAffinity: {
            required: {
              nodeSelectorTerms: [
                { matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: [nodeName] }] },
              ],
            },
          },
        },
      });
      log.info('provisioned a claim', { claim: `${namespace}/${name}`, volume: volumeName });
    } catch (error) {
      if (!hasCode(error, 'AlreadyExists')) throw error;
    }
    await this.#bind(claim, volumeName, { capacity, accessModes });
  }

  /** The volume binder of kube-controller-manager does the same; writes of both have the same result. */
  async #bind(
    claim: PersistentVolumeClaim,
    volumeName: string,
    status: { capacity: Record<string, string>; accessModes: readonly string[] },
  ): Promise<void> {
    const { client } = this.#options;
    const { namespace, name, uid } = claim.metadata;
    const key = { namespace, name: name! };
    const annotations = { [bindCompleted]: 'yes', [boundByController]: 'yes' };
    await client.patch(PersistentVolumeClaim, key, {
      type: 'merge',
      body: { metadata: { uid, annotations }, spec: { volumeName } },
    });
    await client.status.patch(PersistentVolumeClaim, key, {
      type: 'merge',
      body: { metadata: { uid }, status: { phase: 'Bound', ...status } },
    });
    await client.status.patch(
      PersistentVolume,
      { name: volumeName },
      { type: 'merge', body: { status: { phase: 'Bound' } } },
    );
  }
}

const isBound = ({ spec, status }: PersistentVolumeClaim): boolean =>
  (spec?.volumeName ?? '') !== '' && status?.phase === 'Bound';

const nodeOf = ({ spec }: PersistentVolume): string | undefined =>
  spec?.nodeAffinity?.required?.nodeSelectorTerms
    ?.flatMap(({ matchExpressions = [] }) => matchExpressions)
    .find(({ key }) => key === 'kubernetes.io/hostname')?.values?.[0];

const failed = (message: string): ProcessRuntimeError => new ProcessRuntimeError('FailedMount', message);
