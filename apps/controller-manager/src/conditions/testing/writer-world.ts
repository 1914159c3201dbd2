/** testing: a writer of conditions at a management plane in process, in virtual time. */

import type { Condition } from '@hangar/client/kinds/meta-v1';
import { seededRandom } from '@hangar/core';
import { ControlPlaneRegistration } from '@hangar/runtime/clusters';
import type { ControllerManagerReference } from '@hangar/runtime/clusters';
import { isWrite, virtualClock } from '@hangar/testkit';
import type { VirtualClock } from '@hangar/testkit';
import type { Service, ServiceState, SourceObject } from '../../contract.ts';
import { register, startManagementWorld } from '../../fleet/testing/management.ts';
import type { ManagementWorld } from '../../fleet/testing/management.ts';
import { ConditionWriter } from '../condition-writer.ts';

export const stateOf = (phase: ServiceState['phase'], message = ''): ServiceState => ({
  phase,
  reason: phase,
  message,
  restarts: 0,
});
export const [starting, ready, failing] = [stateOf('Starting'), stateOf('Ready'), stateOf('BackingOff', 'it crashed')];

export interface World extends ManagementWorld {
  readonly clock: VirtualClock;
  /** Until `stop`, or the end of the test. */
  readonly writer: ConditionWriter;
  stop(): Promise<void>;
  /** Another process. */
  restart(): Promise<ConditionWriter>;
}

export async function startWriter(controllerManager?: ControllerManagerReference): Promise<World> {
  const clock = virtualClock();
  const world = await clock.run(startManagementWorld({ clock }));
  const { watched: management, log } = world;
  let stop: () => Promise<void> = () => Promise.resolve();
  const run = (): ConditionWriter => {
    const ending = new AbortController();
    const writer = new ConditionWriter({ management, clock, log, random: seededRandom(1), controllerManager });
    const running = writer.run(ending.signal);
    stop = async () => {
      ending.abort();
      await clock.run(running);
    };
    return writer;
  };
  return {
    ...world,
    clock,
    writer: run(),
    stop: () => stop(),
    async restart() {
      await stop();
      return run();
    },
    async [Symbol.asyncDispose]() {
      await stop();
      await world[Symbol.asyncDispose]();
    },
  };
}

export async function source(
  { client }: World,
  name: string,
  services: Service[] = ['controllers'],
): Promise<SourceObject> {
  const { metadata } = await register(client, name, { services });
  return { kind: 'ControlPlaneRegistration', name, uid: metadata.uid! };
}

export const conditionsOf = async ({ client }: World, name: string): Promise<Condition[]> =>
  ((await client.get(ControlPlaneRegistration, { name })).status?.conditions ?? []) as Condition[];

/** `ControllersReady=True Ready`. */
export const said = async (world: World, name: string): Promise<string[]> =>
  (await conditionsOf(world, name)).map(({ type, status, reason }) => `${type}=${status} ${reason}`).sort();

export const writesOf = ({ faults }: World): number => faults.requests.filter(isWrite).length;

export const untilSaid = ({ clock, ...world }: World, name: string, ...expected: string[]): Promise<void> =>
  clock.until(async () => (await said({ clock, ...world } as World, name)).join() === expected.sort().join());
