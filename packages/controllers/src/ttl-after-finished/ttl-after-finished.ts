/**
 * Deletes Jobs after their `ttlSecondsAfterFinished`. A job waits in the queue until then, without requests to the server; then it is read
 * again, because its TTL may have changed, and deleted only if its uid is the same. Its dependents are deleted first (foreground), as in
 * kube-controller-manager.
 */

import { find } from '@hangar/client';
import { Job } from '@hangar/client/kinds/batch-v1';
import type { Clock } from '@hangar/core';
import type { Request, Result } from '@hangar/runtime';
import type { Ask, Change, ControllerContext, ControllerWorld, FleetController, ResourceId } from '../contract.ts';
import { unlessOvertaken } from '../shared/refusals.ts';
import { hasText } from '../shared/resources.ts';

export class TtlAfterFinishedController implements FleetController {
  readonly name = 'ttl-after-finished';
  readonly #clock: Clock;

  constructor({ clock }: Pick<ControllerWorld, 'clock'>) {
    this.#clock = clock;
  }

  wants({ group, resource }: ResourceId): boolean {
    return group === 'batch' && resource === 'jobs';
  }

  changed(change: Change, ask: Ask): void {
    const { cluster, namespace, name, type, bytes } = change;
    if (type === 'delete' || !hasText(bytes, '"ttlSecondsAfterFinished"')) return;
    const leftMs = this.#leftMs(change.object() as unknown as Job);
    if (leftMs !== undefined) ask({ cluster, namespace, name }, { afterMs: Math.max(leftMs, 0) });
  }

  async reconcile(request: Request, { client, signal }: ControllerContext): Promise<Result | void> {
    const { namespace, name } = request;
    const job = await find(client, Job, { namespace, name }, { signal });
    const leftMs = job && this.#leftMs(job);
    if (leftMs === undefined) return;
    if (leftMs > 0) return { requeueAfterMs: leftMs };
    const { uid, resourceVersion } = job!.metadata;
    const deletion = client.delete(
      Job,
      { namespace, name },
      { propagationPolicy: 'Foreground', preconditions: { uid: uid!, resourceVersion: resourceVersion! }, signal },
    );
    // Changed concurrently: its TTL may have changed.
    if (!(await unlessOvertaken(deletion))) return { requeue: true };
  }

  /** Returns undefined if it has not finished, has no TTL, or is being deleted. */
  #leftMs({ metadata, spec, status }: Job): number | undefined {
    const ttlSeconds = spec?.ttlSecondsAfterFinished ?? undefined;
    if (ttlSeconds === undefined || (metadata.deletionTimestamp ?? undefined) !== undefined) return undefined;
    const ended = status?.conditions?.find(
      (condition) => (condition.type === 'Complete' || condition.type === 'Failed') && condition.status === 'True',
    );
    const endedMs = Date.parse(ended?.lastTransitionTime ?? '');
    return Number.isNaN(endedMs) ? undefined : endedMs + ttlSeconds * 1_000 - this.#clock.now();
  }
}
