/**
 * Reconciles a control plane: runs the steps in order until one returns why it cannot continue; then writes one status. After an
 * interruption the next pass resumes from the existing state.
 */

import { find } from '@hangar/client';
import { asError, hasCode } from '@hangar/core';
import { isBeingDeleted } from '@hangar/runtime';
import type { ReconcileContext, Reconciler, Request, Result } from '@hangar/runtime';
import { clusterPathOf, ControlPlane, managementNamespace } from '../api/index.ts';
import { deletion } from '../deletion/deletion.ts';
import { currentMode } from '../migration/current-mode.ts';
import { Entrance } from './entrance.ts';
import { isPassing } from './passing.ts';
import { sayStatus, statusAfter } from './status.ts';
import { stepsOf } from './steps/index.ts';
import type { Pass, Verdict, World } from './world.ts';

export const controlPlaneReconciler =
  (world: World): Reconciler =>
  async (request, context) => {
    try {
      return await reconcile(world, request, context);
    } catch (error) {
      // A concurrent write or a stale cache: not an error.
      if (hasCode(error, 'Conflict') || hasCode(error, 'AlreadyExists')) return { requeue: true };
      throw error;
    }
  };

async function reconcile(
  world: World,
  { name }: Request,
  { cluster, client, signal, log }: ReconcileContext,
): Promise<Result | void> {
  const controlPlane = await find(client, ControlPlane, { name }, { signal });
  if (!controlPlane) return;
  const path = clusterPathOf(controlPlane);
  await using entrance = new Entrance(() => pass.plane!.enter());
  const namespace = managementNamespace(name);
  const { apiReader, cache } = cluster;
  const pass: Pass = {
    world,
    client,
    cache,
    apiReader,
    signal,
    log,
    path,
    entrance,
    controlPlane,
    mode: controlPlane.spec?.mode ?? 'Virtual',
    isMoved: false,
    namespace,
    remarks: [],
    withdrawn: [],
    wakeUps: [],
  };
  if (isBeingDeleted(controlPlane)) return deletion(pass);
  let verdict: Verdict | undefined;
  try {
    verdict = await firstVerdict(pass);
  } catch (error) {
    if (isPassing(error) || signal.aborted) throw error;
    await sayStatus(pass, statusAfter(pass, troubled(pass, error)));
    throw error;
  }
  if (!verdict?.isUnsaid) await sayStatus(pass, statusAfter(pass, verdict));
  return result(pass, verdict);
}

async function firstVerdict(pass: Pass): Promise<Verdict | undefined> {
  Object.assign(pass, await currentMode(pass));
  for (const step of stepsOf(pass)) {
    const verdict = await step(pass);
    if (verdict) return verdict;
  }
  return pass.deferred;
}

/** If the management plane were unavailable, the status could not be written either: so it is the host. */
const away = ['ConnectionFailed', 'ConnectionLost', 'TimedOut', 'ServiceUnavailable', 'CacheNotSynced'];

function troubled({ plane, mode, isMoved }: Pass, error: unknown): Verdict {
  const { message } = asError(error);
  const isAway = away.some((code) => hasCode(error, code));
  const isDedicated = mode === 'Dedicated' && !isMoved && plane !== undefined;
  const [awayReason, awayText] = isDedicated
    ? ['ControlPlaneUnreachable', 'the API server of the control plane cannot be reached']
    : ['HostUnavailable', 'the host of the tenants is not available'];
  const [reason, what] = isAway ? [awayReason, awayText] : ['ReconcileError', 'reconcile failed'];
  return { type: 'Programmed', reason, message: `${what}, retrying: ${message}` };
}

function result({ remarks, wakeUps, world }: Pass, verdict: Verdict | undefined): Result {
  if (remarks.some(({ status, isAwaited }) => !status && !isAwaited)) return { requeue: true };
  const times = wakeUps.map((atMs) => atMs - world.clock.now());
  if (verdict?.lookAgainMs !== undefined) times.push(verdict.lookAgainMs);
  return times.length === 0 ? {} : { requeueAfterMs: Math.max(1, Math.min(...times)) };
}
