/** Runs Kubernetes' own programs: one unmodified process for each service of each cluster. */

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
  /** Additional flags from the user. */
  readonly arguments: Readonly<Record<Service, readonly string[]>>;
  /** Name of this replica, for audit logs. */
  readonly peer: string;
  /** Per program. Undefined: no limit. */
  readonly memoryLimitBytes: number | undefined;
  readonly stopGraceMs: number;
  /** Quiet time after a change of a kubeconfig before a program is restarted. */
  readonly debounceMs: number;
  /** Number of programs that may start at the same time. */
  readonly startConcurrency: number;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** Used to probe clusters and programs. Absent: the client's. */
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

/** Reports a failure that no update of the cluster can resolve. */
function failed({ report }: Assignment, reason: string, message: string): Serving {
  report({ phase: 'Failed', reason, message, restarts: 0, lastError: message });
  return { update: () => {}, stop: () => Promise.resolve() };
}
