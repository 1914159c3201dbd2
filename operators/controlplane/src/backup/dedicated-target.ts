/**
 * ControlPlanes with mode Dedicated as a target of backups: the backups of their HostedControlPlanes, by the name of the ControlPlane. A
 * restore into a new control plane creates the management namespace and the HostedControlPlane in it; when it is complete, both are recorded
 * as retained data, and the new ControlPlane adopts them.
 */

import { TargetError } from '@hangar/backup-operator';
import type { BackupTarget, ContentSummary, Exported, RestoreOptions, RestoreProgress } from '@hangar/backup-operator';
import { find } from '@hangar/client';
import type { Client } from '@hangar/client';
import { Namespace } from '@hangar/client/kinds/core-v1';
import { annotations, ControlPlane, labels, labelValue, managementNamespace } from '../api/index.ts';
import { HostedControlPlane, standaloneAnnotation } from '../dedicated/hosted-control-plane.ts';
import { writeRetainedRecord } from '../dedicated/retained.ts';
import { restoredByAnnotation, restoredSummaryAnnotation } from './virtual-target.ts';

export interface DedicatedTargetOptions {
  /** Client of the management plane. */
  readonly management: Client;
  /** The target of HostedControlPlanes. */
  readonly hosted: BackupTarget;
}

export class DedicatedTarget {
  readonly #management: Client;
  readonly #hosted: BackupTarget;

  constructor({ management, hosted }: DedicatedTargetOptions) {
    this.#management = management;
    this.#hosted = hosted;
  }

  export(name: string, options: Parameters<BackupTarget['export']>[1]): Promise<Exported> {
    return this.#hosted.export(hostedOf(name), options);
  }

  summarize(name: string, options: { readonly signal: AbortSignal }): Promise<ContentSummary> {
    return this.#hosted.summarize(hostedOf(name), options);
  }

  replace(name: string, options: RestoreOptions): Promise<RestoreProgress> {
    return this.#hosted.replace(hostedOf(name), options);
  }

  /** No ControlPlane of the name exists. */
  async create(name: string, options: RestoreOptions): Promise<RestoreProgress> {
    const { className: _, ...rest } = options;
    const namespace = await this.#namespace(name, options);
    const marked = { ...options.labels, [labels.name]: labelValue(name) };
    const progress = await this.#hosted.create(hostedOf(name), { ...rest, labels: marked });
    const hosted = await this.#management.get(HostedControlPlane, hostedOf(name), options);
    const { uid, annotations: noted } = hosted.metadata;
    const since = noted?.[annotations.retained];
    const isComplete = progress.state === 'Complete';
    if (noted?.[standaloneAnnotation] !== 'true' || (isComplete && since === undefined)) {
      const changes = {
        [standaloneAnnotation]: 'true',
        ...(isComplete ? { [annotations.retained]: hosted.metadata.creationTimestamp ?? '' } : {}),
      };
      const body = { metadata: { uid, annotations: changes } };
      await this.#management.patch(HostedControlPlane, hostedOf(name), { type: 'merge', body }, options);
    }
    if (!isComplete) return progress;
    const record = {
      namespaceUid: namespace.metadata.uid!,
      hostedUid: uid!,
      since: hosted.metadata.creationTimestamp ?? '',
      version: hosted.spec?.version ?? '',
    };
    await writeRetainedRecord(this.#management, { name, record, signal: options.signal });
    await this.#controlPlane(name, progress.summary, options);
    return progress;
  }

  /** Deletes what an interrupted restore left: there is no ControlPlane yet. */
  async delete(name: string, { signal }: { readonly signal: AbortSignal }): Promise<void> {
    const { namespace } = hostedOf(name);
    const there = await find(this.#management, Namespace, { name: namespace }, { signal });
    if (there?.metadata.annotations?.[restoredByAnnotation] === undefined) return;
    await this.#hosted.delete(hostedOf(name), { signal });
    if (there.metadata.deletionTimestamp !== undefined) return;
    const preconditions = { uid: there.metadata.uid! };
    await this.#management.delete(Namespace, { name: namespace }, { preconditions, signal });
  }

  /** Of this restore. Throws `AlreadyExists` if it has another origin, for example retained data. */
  async #namespace(name: string, { uid, signal }: RestoreOptions): Promise<Namespace> {
    const namespace = managementNamespace(name);
    const there = await find(this.#management, Namespace, { name: namespace }, { signal });
    if (!there) {
      const metadata = {
        name: namespace,
        labels: { [labels.name]: labelValue(name) },
        annotations: { [annotations.mode]: 'Dedicated', [restoredByAnnotation]: uid },
      };
      return this.#management.create(Namespace, { metadata }, { signal });
    }
    if (there.metadata.annotations?.[restoredByAnnotation] === uid) return there;
    const message = `namespace ${JSON.stringify(namespace)} exists: restore under another name, or remove the data in it (hangar purge ${name})`;
    throw new TargetError('AlreadyExists', message);
  }

  async #controlPlane(name: string, summary: ContentSummary, options: RestoreOptions): Promise<void> {
    const { uid, className, labels: given, signal } = options;
    const noted = { [restoredByAnnotation]: uid, [restoredSummaryAnnotation]: JSON.stringify(summary) };
    const metadata = { name, annotations: noted, ...(given && { labels: { ...given } }) };
    const spec = { mode: 'Dedicated' as const, ...(className === undefined ? {} : { classRef: { name: className } }) };
    await this.#management.create(ControlPlane, { metadata, spec }, { signal });
  }
}

const hostedOf = (name: string) => ({ namespace: managementNamespace(name), name });
