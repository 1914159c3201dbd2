/** The engine that runs Kubernetes' own programs: one unmodified process for each service of each cluster. */

import { connect as connectClient } from '@hangar/client';
import type { Clock, Logger, Random } from '@hangar/core';
import type { Programs } from '../../child/contract.ts';
import type { Assignment, Engine, Kubeconfigs, Service, Serving } from '../../contract.ts';
import { argumentsProblem, programNames } from './arguments.ts';
import type { Connect } from './probe.ts';
import { Slots } from './slots.ts';
import { Supervisor } from './supervisor.ts';

export interface KubeEngineOptions {
  readonly programs: Programs;
  readonly kubeconfigs: Kubeconfigs;
  /** Absolute paths. */
  readonly executables: Partial<Readonly<Record<Service, string>>>;
  /** Flags of the user's for the programs. */
  readonly arguments: Readonly<Record<Service, readonly string[]>>;
  /** Who this replica is, for audit logs. */
  readonly peer: string;
  /** Of each program. Undefined: no limit. */
  readonly memoryLimitBytes: number | undefined;
  readonly stopGraceMs: number;
  /** After a change of a kubeconfig, how long there must be no other before a program is started again. */
  readonly debounceMs: number;
  /** How many programs may be on their way up at a time. */
  readonly startConcurrency: number;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** For asking clusters and programs how they are. Absent: the client's. */
  readonly connect?: Connect | undefined;
}

export function kubeEngine(options: KubeEngineOptions): Engine {
  const { clock, startConcurrency, executables } = options;
  const slots = new Slots({ clock, concurrency: startConcurrency });
  return {
    name: 'kube',
    serve(assignment) {
      const { service } = assignment;
      const executable = executables[service];
      if (executable === undefined) return failed(assignment, 'ExecutableNotFound', noExecutable(service));
      const problem = argumentsProblem(service, options.arguments[service]);
      if (problem !== undefined) return failed(assignment, 'InvalidFlag', problem);
      return new Supervisor({ ...options, connect: options.connect ?? connectClient, slots, executable, assignment });
    },
  };
}

const noExecutable = (service: Service): string => {
  const name = programNames[service];
  return `${name} was not found in PATH: set --${name}=FILE`;
};

/** Nothing that is told of the cluster helps. */
function failed({ report }: Assignment, reason: string, message: string): Serving {
  report({ phase: 'Failed', reason, message, restarts: 0, lastError: message });
  return { update: () => {}, stop: () => Promise.resolve() };
}
