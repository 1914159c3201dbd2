/** A running program with the state that its supervisor keeps. Its health is probed on its local port. */

import type { ProgramEnd, Programs, RunningProgram } from '../../child/contract.ts';
import type { Assignment, Service, ServiceProcess } from '../../contract.ts';
import { argv0Of, kubeconfigFile, programArguments } from './arguments.ts';
import { Probe, probeAgent } from './probe.ts';
import type { ProbeOptions } from './probe.ts';
import type { Target } from './wanted.ts';
import { oneLine } from './words.ts';

export interface LaunchOptions extends Pick<ProbeOptions, 'clock' | 'connect'> {
  readonly programs: Programs;
  readonly executable: string;
  readonly arguments: Readonly<Record<Service, readonly string[]>>;
  readonly peer: string;
  readonly memoryLimitBytes: number | undefined;
  readonly assignment: Pick<Assignment, 'cluster' | 'service' | 'ownership'>;
}

/** Rejects when it cannot be started. */
export async function launch(options: LaunchOptions, target: Target): Promise<Child> {
  const { programs, executable, memoryLimitBytes, peer, assignment, clock, connect } = options;
  const { cluster, service, ownership } = assignment;
  const program = await programs.start({
    cluster: cluster.name,
    service,
    executable,
    argv0: argv0Of(service, peer),
    arguments: (place) => programArguments(service, options.arguments[service], place),
    files: { [kubeconfigFile]: target.kubeconfig },
    memoryLimitBytes,
    ownership,
  });
  return new Child({ program, target, clock, connect, userAgent: probeAgent(peer) });
}

interface ChildOptions extends Pick<ProbeOptions, 'clock' | 'connect' | 'userAgent'> {
  readonly program: RunningProgram;
  readonly target: Target;
}

export class Child {
  readonly target: Target;
  readonly process: ServiceProcess;
  readonly health: Probe;
  readonly startedMs: number;
  /** When it was first healthy. */
  readyMs: number | undefined;
  /** It was stopped by the supervisor: its exit is not a failure. */
  isStopping = false;
  readonly #program: RunningProgram;

  constructor({ program, target, clock, connect, userAgent }: ChildOptions) {
    this.#program = program;
    this.target = target;
    this.process = { pid: program.pid, port: program.port, startedAt: program.startedAt };
    this.startedMs = clock.monotonicMs();
    // It creates its certificate itself; a process that can listen here in its place already controls this machine.
    const config = { server: `https://127.0.0.1:${program.port}`, isInsecure: true };
    this.health = new Probe({ config, path: '/healthz', userAgent, clock, connect });
  }

  /** Resolves when nothing of it is left. */
  get ended(): Promise<ProgramEnd> {
    return this.#program.ended;
  }

  async stop(graceMs: number): Promise<void> {
    this.isStopping = true;
    await this.#program.stop(graceMs);
    // Listeners of `ended` have run by then.
    await this.#program.ended;
  }
}

/** Why no program runs. */
export interface Failure {
  readonly reason: string;
  readonly message: string;
}

export function failureOf(name: string, end: ProgramEnd): Failure {
  const more = end.lastError === undefined ? '' : `: ${end.lastError}`;
  return { reason: reasons[end.cause], message: oneLine(`${name} ${howItEnded(end)}${more}`) };
}

const reasons: Readonly<Record<ProgramEnd['cause'], string>> = {
  exited: 'Exited',
  stopped: 'Exited',
  memory: 'MemoryLimitExceeded',
  fenced: 'OwnershipLost',
};

function howItEnded({ cause, code, signal }: ProgramEnd): string {
  if (cause === 'memory') return 'was killed because it exceeded its memory limit';
  if (cause === 'fenced') return 'was killed because this replica could not verify that it still owns the cluster';
  return signal === undefined ? `exited with code ${code ?? 'unknown'}` : `was killed by ${signal}`;
}
