/** Checks that a controller manager runs the services of registrations. */

import { conditionOf, ControlPlane, ControlPlaneRegistration } from '../../kinds.ts';
import type { ControlPlaneRegistrationObject } from '../../kinds.ts';
import { shortened } from '../../terminal/plain-text.ts';
import { doubtful, good } from '../finding.ts';
import type { Check, Finding } from '../finding.ts';

/** The services that a controller manager runs, and their conditions. */
const services = [
  { service: 'controllers', type: 'ControllersReady' },
  { service: 'scheduler', type: 'SchedulerReady' },
] as const;

export const controllerManagers: Check = {
  name: 'controller managers',
  async look({ client: connected, session: { signal }, isReachable }) {
    if (!isReachable) return [];
    const client = await connected();
    const target = `/apis/${ControlPlane.apiVersion}`;
    const answer = await client.raw({ method: 'GET', target, headers: { accept: 'application/json' }, signal });
    await answer.body();
    if (answer.status !== 200) return [];
    const { items } = await client.list(ControlPlaneRegistration, { signal });
    return services.flatMap((one) => findingsOf(items, one));
  },
};

function findingsOf(
  all: readonly ControlPlaneRegistrationObject[],
  { service, type }: (typeof services)[number],
): Finding[] {
  const registered = all.filter(({ spec }) => spec?.services?.some((one) => one.toLowerCase() === service));
  if (registered.length === 0) return [];
  const byReason = Map.groupBy(registered, (one) => {
    const condition = conditionOf(one, type);
    return condition?.status === 'True' ? 'ready' : (condition?.reason ?? 'no controller manager serves them');
  });
  if (byReason.get('ready')?.length === registered.length) {
    return [good(`${service}: ${registered.length} registered, all ready`)];
  }
  byReason.delete('ready');
  return Array.from(byReason, ([reason, some]) => {
    const names = shortened(some.map(({ metadata }) => metadata.name).join(', '), 100);
    return doubtful(
      `${service}: ${reason}: ${names}`,
      `start one: hangar controller-manager, or see: hangar describe NAME`,
    );
  });
}
