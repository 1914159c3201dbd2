/** Checks that the kinds of control planes are installed and that an operator reconciles them. */

import type { Client } from '@hangar/client';
import { conditionOf, ControlPlane, controlPlaneGroup } from '../../kinds.ts';
import type { ControlPlaneObject } from '../../kinds.ts';
import { shortened } from '../../terminal/plain-text.ts';
import { bad, doubtful, good } from '../finding.ts';
import type { Check, Finding } from '../finding.ts';
import { hangar } from '../../hints.ts';

const plurals = ['controlplanes', 'controlplaneclasses', 'controlplaneendpoints', 'controlplaneregistrations'];
/** A healthy operator has reconciled every object by then. */
const unseenMaxMs = 15_000;

export const operator: Check = {
  name: 'operator',
  async look({ client: connected, session, isReachable }) {
    if (!isReachable) return [];
    const client = await connected();
    const missing = await missingDefinitions(client, session.signal);
    if (missing.length > 0) {
      const next = 'start Hangar without --bare, or install the operator: see deploy/';
      return [bad(`definitions: ${missing.join(', ')} of ${controlPlaneGroup} not found`, next)];
    }
    const { items } = await client.list(ControlPlane, { signal: session.signal });
    return [good('definitions: installed'), ...care(items, session.clock.now())];
  },
};

async function missingDefinitions(client: Client, signal: AbortSignal): Promise<string[]> {
  const target = `/apis/${ControlPlane.apiVersion}`;
  const answer = await client.raw({ method: 'GET', target, headers: { accept: 'application/json' }, signal });
  const text = (await answer.body()).toString();
  if (answer.status !== 200) return plurals;
  const { resources = [] } = JSON.parse(text) as { resources?: readonly { readonly name?: string }[] };
  const served = new Set(resources.map(({ name }) => name));
  return plurals.filter((plural) => !served.has(plural));
}

function care(planes: readonly ControlPlaneObject[], now: number): Finding[] {
  if (planes.length === 0)
    return [doubtful('operator: not checked, because there is no control plane', hangar('create NAME'))];
  const isOld = ({ metadata }: ControlPlaneObject): boolean =>
    now - Date.parse(metadata.creationTimestamp ?? '') > unseenMaxMs;
  const unseen = planes.filter((plane) => isOld(plane) && !wasSeen(plane));
  if (unseen.length > 0) {
    return [
      bad(
        `operator: has not reconciled ${names(unseen)}`,
        'check that an operator is running, and see the log of Hangar',
      ),
    ];
  }
  const waiting = planes.filter((plane) => isOld(plane) && conditionOf(plane, 'Ready')?.status !== 'True');
  const count = planes.length === 1 ? '1 control plane' : `${planes.length} control planes`;
  if (waiting.length === 0) return [good(`operator: ${count}, all ready`)];
  const [first] = waiting;
  return [
    good(`operator: reconciles ${count}`),
    doubtful(`not ready: ${names(waiting)}`, `see: ${hangar(`describe ${first!.metadata.name}`)}`),
  ];
}

const wasSeen = ({ metadata, status }: ControlPlaneObject): boolean =>
  (status?.conditions?.length ?? 0) > 0 &&
  (status?.observedGeneration ?? metadata.generation ?? 0) >= (metadata.generation ?? 0);

const names = (planes: readonly ControlPlaneObject[]): string =>
  shortened(planes.map(({ metadata }) => metadata.name).join(', '), 100);
