/** Waits until a control plane is ready, and reports the missing conditions meanwhile and on failure. */

import type { Client } from '@hangar/client';
import type { Timer } from '@hangar/core';
import { CliError, failed } from '../errors.ts';
import { conditionOf, ControlPlane } from '../kinds.ts';
import type { Condition, ControlPlaneObject } from '../kinds.ts';
import type { Session } from '../session.ts';
import { quoted } from '../terminal/plain-text.ts';
import { Progress } from '../terminal/progress.ts';
import { waitFor } from './wait.ts';
import { hangar } from '../hints.ts';

/** Grace period of a refused control plane: enough for objects that it refers to and that were just created. */
const refusedGraceMs = 3_000;

export interface ReadyOptions {
  readonly session: Session;
  readonly name: string;
  readonly timeoutMs: number;
}

/** Resolves with the object as last seen. Rejects with `Failed`: timed out, refused, or deleted. */
export async function untilReady(
  client: Client,
  { session, name, timeoutMs }: ReadyOptions,
): Promise<ControlPlaneObject> {
  const { clock, signal } = session;
  const progress = new Progress(session.err, clock);
  const refusal = new AbortController();
  let last: ControlPlaneObject | undefined;
  let grace: Timer | undefined;
  try {
    progress.say(`waiting for control plane ${name}`);
    const isReady = await waitFor(client, ControlPlane, {
      name,
      clock,
      timeoutMs,
      signal: AbortSignal.any([signal, refusal.signal]),
      onBroken: () => progress.say('the server does not answer, retrying'),
      isDone: (object) => {
        if (!object) throw failed(`control plane ${quoted(name)} was deleted before it became ready`);
        last = object;
        if (isRefused(object)) grace ??= clock.after(refusedGraceMs, () => refusal.abort());
        else grace = void grace?.cancel();
        if (isUsable(object)) return true;
        if (hasConditions(object)) progress.sayIfLasting(`waiting for control plane ${name}: ${missing(object)}`);
        return false;
      },
    });
    if (isReady) return last!;
    throw failed(
      `timed out after ${timeoutMs / 1_000} s waiting for control plane ${quoted(name)} to become ready: ${missing(last)}`,
      {
        next: `see: ${hangar(`describe ${name}`)}\nthe operator retries; to wait longer, add --timeout`,
      },
    );
  } catch (error) {
    if (!refusal.signal.aborted || signal.aborted || error instanceof CliError) throw error;
    throw failed(`control plane ${quoted(name)} is not accepted: ${missing(last)}`, {
      next: `fix the problem and the operator retries, or delete it: ${hangar(`delete ${name}`)}`,
      cause: error,
    });
  } finally {
    grace?.cancel();
    progress.end();
  }
}

/** Reports whether its conditions refer to its newest spec and are true. */
export function isUsable(plane: ControlPlaneObject): boolean {
  const { metadata, status } = plane;
  if (metadata.deletionTimestamp) return false;
  const ready = conditionOf(plane, 'Ready');
  const seen = ready?.observedGeneration ?? status?.observedGeneration ?? metadata.generation ?? 0;
  return ready?.status === 'True' && seen >= (metadata.generation ?? 0) && status?.kubeconfigSecretRef !== undefined;
}

const hasConditions = ({ status }: ControlPlaneObject): boolean => (status?.conditions?.length ?? 0) > 0;

const isRefused = (plane: ControlPlaneObject): boolean => conditionOf(plane, 'Accepted')?.status === 'False';

/** Returns the first condition that is not true. */
export function missing(plane: ControlPlaneObject | undefined): string {
  if (plane?.metadata.deletionTimestamp) return 'it is being deleted';
  const conditions = plane?.status?.conditions ?? [];
  if (!plane || conditions.length === 0)
    return `no operator has reconciled it yet; to check whether one runs: ${hangar('doctor')}`;
  const order = ['Accepted', 'Programmed', 'Ready'];
  const wanting = order.map((type) => conditionOf(plane, type)).find((one) => one && one.status !== 'True');
  return wanting ? conditionText(wanting) : 'the operator has not reconciled its newest spec yet';
}

const conditionText = ({ type, status, reason, message }: Condition): string =>
  `${type} is ${status}${reason ? ` (${reason})` : ''}${message ? `: ${message}` : ''}`;
