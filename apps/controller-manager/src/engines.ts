/** Selects the engine of a service: Kubernetes' own programs where they are configured, the set in this process for controllers only. */

import { connect } from '@hangar/client';
import type { ClusterConfig } from '@hangar/client';
import { aborted } from '@hangar/core';
import type { Clock, Logger, Random } from '@hangar/core';
import type { MetricsRegistry } from '@hangar/runtime';
import type { Programs } from './child/contract.ts';
import type { Engine, Kubeconfigs, Service } from './contract.ts';
import { kubeEngine } from './engine/kube/index.ts';
import { userAgent } from './management.ts';
import type { ControllerManagerOptions } from './options/options.ts';

export interface EnginesWorld {
  readonly programs: Programs;
  readonly kubeconfigs: Kubeconfigs;
  /** The Hangar whose tenants the essential engine serves. */
  readonly feed: ClusterConfig;
  readonly metrics: MetricsRegistry;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

export interface Engines {
  readonly engineFor: (service: Service) => Engine;
  /** Runs the shared parts of the engines until the signal. A rejection is fatal. */
  run(signal: AbortSignal): Promise<void>;
}

export async function enginesOf(options: ControllerManagerOptions, world: EnginesWorld): Promise<Engines> {
  const kube = kubeOf(options, world);
  if (options.engine.name === 'kube') return { engineFor: () => kube, run: aborted };
  const { essential, run } = await essentialOf(options, world);
  return { engineFor: (service) => (service === 'controllers' ? essential : kube), run };
}

/** Loaded on demand: it contains the code of all controllers. */
async function essentialOf({ sharing }: ControllerManagerOptions, world: EnginesWorld) {
  const { kubeconfigs, feed: config, metrics, clock, random, log } = world;
  const [{ essentialEngine }, { remoteFeed }] = await Promise.all([
    import('./engine/essential/index.ts'),
    import('@hangar/controllers'),
  ]);
  const client = connect(config, { userAgent, clock, random });
  const essential = essentialEngine({
    feed: remoteFeed({ client, clock, random, log }),
    kubeconfigs,
    metrics,
    userAgent: `${userAgent}.${sharing.peer}`,
    clock,
    random,
    log,
  });
  const run = (signal: AbortSignal): Promise<void> => essential.run(signal).finally(() => client.close());
  return { essential, run };
}

function kubeOf(
  { engine, children, sharing, managerFlags, schedulerFlags }: ControllerManagerOptions,
  world: EnginesWorld,
): Engine {
  const { programs, kubeconfigs, clock, random, log } = world;
  const { memoryLimitBytes, stopGraceMs, debounceMs, startConcurrency } = children;
  const { controllerManager, scheduler } = engine;
  return kubeEngine({
    programs,
    kubeconfigs,
    executables: {
      ...(controllerManager ? { controllers: controllerManager } : {}),
      ...(scheduler ? { scheduler } : {}),
    },
    arguments: { controllers: managerFlags, scheduler: schedulerFlags },
    peer: sharing.peer,
    memoryLimitBytes,
    stopGraceMs,
    debounceMs,
    startConcurrency,
    clock,
    random,
    log,
  });
}
