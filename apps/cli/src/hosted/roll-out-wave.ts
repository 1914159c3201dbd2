/** One wave of a roll-out: sets the rendering of all its control planes, and waits until each is ready with it. */

import { isDeepStrictEqual } from 'node:util';
import type { Client } from '@hangar/client';
import { hasCode } from '@hangar/core';
import { annotations } from '@hangar/hosted-operator';
import type { Session } from '../session.ts';
import { waitFor } from '../control-planes/wait.ts';
import { failed } from '../errors.ts';
import type { CliError } from '../errors.ts';
import { hangar } from '../hints.ts';
import { conditionOf, HostedControlPlane } from '../kinds.ts';
import type { Condition, HostedControlPlaneObject } from '../kinds.ts';
import { plain } from '../terminal/plain-text.ts';
import { fullName } from './find.ts';
import { hasRendering, isPaused, renderingOf } from './roll-out-plan.ts';

export interface WaveOptions {
  readonly client: Client;
  readonly session: Session;
  /** Version of the rendering. */
  readonly to: string;
  readonly timeoutMs: number;
  /** The command line that continues the roll-out. */
  readonly continuation: string;
}

/** Reasons that do not end by waiting. All others are awaited until the timeout. */
const faults: ReadonlySet<string> = new Set([
  'ContainerCrashes',
  'ContainerNotCreated',
  'EtcdCorrupt',
  'ImagePullFailed',
  'InvalidNetwork',
  'NoSpace',
  'ObjectConflict',
  'PodUnschedulable',
  'ReservedArgument',
  'UnknownRendering',
  'UnsupportedVersion',
]);

/** Rejects with `Failed` at the first control plane that fails. The others keep the new rendering. */
export async function rollOutWave(planes: readonly HostedControlPlaneObject[], options: WaveOptions): Promise<void> {
  const { client, to, session } = options;
  const ending = new AbortController();
  const signal = AbortSignal.any([session.signal, ending.signal]);
  const one = async (plane: HostedControlPlaneObject): Promise<void> => {
    if (renderingOf(plane) !== to) await setRendering(client, plane, to, signal);
    await untilComplete(plane, options, signal);
  };
  try {
    await Promise.all(planes.map(one));
  } finally {
    ending.abort();
  }
}

async function setRendering(
  client: Client,
  plane: HostedControlPlaneObject,
  to: string,
  signal: AbortSignal,
): Promise<void> {
  const { namespace, name, uid } = plane.metadata;
  const body = { metadata: { uid, annotations: { [annotations.rendering]: to } } };
  try {
    await client.patch(HostedControlPlane, { namespace, name: name! }, { type: 'merge', body }, { signal });
  } catch (error) {
    // Deleted meanwhile, or replaced by another object of this name.
    if (!hasCode(error, 'NotFound') && !hasCode(error, 'Conflict')) throw error;
  }
}

async function untilComplete(
  before: HostedControlPlaneObject,
  options: WaveOptions,
  signal: AbortSignal,
): Promise<void> {
  const { client, session, to, timeoutMs } = options;
  const { namespace, name, uid } = before.metadata;
  const faultBefore = renderingOf(before) === to ? undefined : conditionOf(before, 'Ready');
  let [last, said] = [before, ''];
  const say = (text: string): void => {
    if (text !== said) session.err.write(`${fullName(before)}: ${plain(text)}\n`);
    said = text;
  };
  const isDone = (plane: HostedControlPlaneObject | undefined): boolean => {
    if (!plane || plane.metadata.uid !== uid || plane.metadata.deletionTimestamp !== undefined) {
      say('deleted');
      return true;
    }
    last = plane;
    const ready = conditionOf(plane, 'Ready');
    if (hasRendering(plane, to) && ready?.status === 'True') {
      say(`ready with rendering ${to}`);
      return true;
    }
    if (renderingOf(plane) === to && isPaused(plane)) throw stopped(before, 'it was paused', options);
    // The fault of the previous rendering, until the operator has seen the change.
    if (ready?.status !== 'False' || isDeepStrictEqual(ready, faultBefore)) return false;
    const why = faultText(ready);
    say(why);
    if (faults.has(ready.reason ?? '')) throw stopped(before, why, options);
    return false;
  };
  const { clock } = session;
  const wait = { namespace, name: name!, isDone, clock, timeoutMs, signal };
  if (await waitFor(client, HostedControlPlane, wait)) return;
  throw stopped(before, `not ready with rendering ${to} within ${timeoutMs / 1_000} s: ${stateOf(last)}`, options);
}

const faultText = ({ reason = 'Unknown', message = '' }: Condition): string => `${reason}: ${message}`;

/** The state of a control plane that takes too long. */
function stateOf(plane: HostedControlPlaneObject): string {
  const ready = conditionOf(plane, 'Ready');
  if (ready?.status === 'False') return faultText(ready);
  return 'the operator did not change it; check that it runs and that its release is the one of this program';
}

function stopped(plane: HostedControlPlaneObject, why: string, { to, continuation }: WaveOptions): CliError {
  const { namespace, name } = plane.metadata;
  const from = plane.status?.rendering ?? renderingOf(plane);
  const back =
    from === undefined || from === to
      ? ''
      : `\nto go back: ${hangar(`hosted roll-out ${name} -n ${namespace} --to ${from}`)}`;
  return failed(`the roll-out stopped at ${fullName(plane)}: ${why}`, {
    next: `to continue when the fault is fixed: ${continuation}${back}`,
  });
}
