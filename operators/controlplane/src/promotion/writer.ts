/** Writes recommendations and changes of the mode to ControlPlanes, and nothing while they stay the same. */

import type { Client } from '@hangar/client';
import { hasCode } from '@hangar/core';
import type { Clock, Logger } from '@hangar/core';
import { changedFields, findCondition, writeStatus } from '@hangar/runtime';
import type { ClusterEvents } from '@hangar/runtime';
import { annotations, ControlPlane } from '../api/index.ts';
import type { Decision, Recommended } from './decide.ts';
import type { PromotionClass } from './fleet.ts';
import type { History } from './history.ts';
import {
  conditionsWith,
  isStillValid,
  messageOf,
  promotionRecommended,
  reasonOf,
  returnRecommended,
} from './recommendation.ts';
import type { Written } from './recommendation.ts';

export interface PromotionWriterOptions {
  readonly client: Client;
  readonly events: Pick<ClusterEvents, 'event'>;
  readonly clock: Clock;
  readonly log: Logger;
}

export interface WriteContext {
  readonly className: string;
  /** Absent: the control plane is not measured. */
  readonly history: History | undefined;
  readonly signal: AbortSignal;
}

export class PromotionWriter {
  readonly #options: PromotionWriterOptions;
  /** Figures in the conditions that this process wrote, by uid. */
  readonly #written = new Map<string, Written>();

  constructor(options: PromotionWriterOptions) {
    this.#options = options;
  }

  /** Returns whether it changed the mode. Rejects with `Conflict` or `NotFound` if the control plane changed meanwhile. */
  async write(plane: ControlPlane, decision: Decision, context: WriteContext): Promise<boolean> {
    const { action, recommended } = decision;
    if (action !== 'stay') {
      await this.#changeMode(plane, recommended!, context);
      return true;
    }
    await this.#recommend(plane, recommended, context);
    return false;
  }

  /** Removes recommendations from control planes whose class has no promotion. */
  async withdraw(
    planes: Iterable<ControlPlane>,
    classes: readonly PromotionClass[],
    signal: AbortSignal,
  ): Promise<void> {
    const names = new Set(classes.map(({ name }) => name));
    const uids = new Set<string>();
    for (const plane of planes) {
      uids.add(plane.metadata.uid!);
      if (!recommendationOf(plane) || names.has(plane.spec?.classRef?.name ?? '')) continue;
      await this.#writeConditions(plane, undefined, signal).catch((error: unknown) => {
        if (!hasCode(error, 'Conflict') && !hasCode(error, 'NotFound')) throw error;
      });
    }
    for (const uid of this.#written.keys()) if (!uids.has(uid)) this.#written.delete(uid);
  }

  /** Removes the annotation of a promotion that a user or an abort reverted. */
  async clean({ metadata }: ControlPlane, signal: AbortSignal): Promise<void> {
    const { name = '', uid, resourceVersion } = metadata;
    const body = { metadata: { uid, resourceVersion, annotations: { [annotations.promotedFor]: null } } };
    await this.#options.client.patch(ControlPlane, { name }, { type: 'merge', body }, { signal });
  }

  async #changeMode(plane: ControlPlane, recommended: Recommended, { className, signal }: WriteContext): Promise<void> {
    const { client, events, log } = this.#options;
    const { name = '', uid, resourceVersion } = plane.metadata;
    const { to, findings } = recommended;
    const promotedFor = to === 'Dedicated' ? findings[0]!.metric : null;
    // With the resourceVersion: a user who changed the control plane meanwhile comes first.
    const metadata = { uid, resourceVersion, annotations: { [annotations.promotedFor]: promotedFor } };
    const body = { metadata, spec: { mode: to } };
    const changed = await client.patch(ControlPlane, { name }, { type: 'merge', body }, { signal });
    const note = `set spec.mode to ${to} by spec.promotion of ControlPlaneClass "${className}": ${messageOf(recommended)}`;
    log.info('changed the mode of a control plane', { controlPlane: name, mode: to, reason: reasonOf(recommended) });
    events.event(changed, { reason: to === 'Dedicated' ? 'Promoted' : 'Returned', note });
  }

  async #recommend(plane: ControlPlane, recommended: Recommended | undefined, context: WriteContext): Promise<void> {
    const uid = plane.metadata.uid!;
    const condition = recommendationOf(plane);
    if (!recommended) {
      // After a restart, a recommendation of before stays while the window of its threshold passes again.
      if (!condition || isPending(condition.type, context.history)) return;
      this.#written.delete(uid);
      return this.#writeConditions(plane, undefined, context.signal);
    }
    if (condition && isStillValid(this.#written.get(uid), recommended)) return;
    await this.#writeConditions(plane, recommended, context.signal);
    this.#written.set(uid, { reason: reasonOf(recommended), recommended });
  }

  async #writeConditions(
    plane: ControlPlane,
    recommended: Recommended | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    const { client, clock } = this.#options;
    const observedGeneration = plane.metadata.generation ?? 0;
    const conditions = conditionsWith(plane.status?.conditions, { recommended }, { observedGeneration, clock });
    const status = { ...plane.status, conditions };
    if (!changedFields(plane.status ?? {}, status)) return;
    await writeStatus(client, { kind: ControlPlane, object: plane, status, signal });
  }
}

const recommendationOf = ({ status }: ControlPlane) =>
  findCondition(status?.conditions, promotionRecommended) ?? findCondition(status?.conditions, returnRecommended);

/** Reports whether the thresholds of this recommendation are fulfilled now. */
const isPending = (type: string, history: History | undefined): boolean =>
  type === promotionRecommended
    ? Object.keys(history?.reachedSinceMs ?? {}).length > 0
    : history?.belowSinceMs !== undefined;
