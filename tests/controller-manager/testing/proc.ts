/** Reads the processes of this machine from the kernel, independent of the reports of programs. */

import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

export interface ProcessFacts {
  readonly pid: number;
  /** In the kernel's ticks since boot. Unique together with the pid. */
  readonly startedTicks: number;
  readonly command: readonly string[];
}

/** Returns processes with the text in their command line, or with a working directory below it. Zombies do not count. */
export const processesOf = (text: string): ProcessFacts[] =>
  everything().filter(
    ({ pid, command }) => command.some((word) => word.includes(text)) || folderOf(pid).includes(text),
  );

const argv0 = /^hangar-(controller-manager|scheduler)\.(.+)$/;

export interface ManagerProcess extends ProcessFacts {
  readonly service: 'controllers' | 'scheduler';
  /** The replica that started it. */
  readonly peer: string;
  /** Its working directory: one for each cluster and service. */
  readonly folder: string;
}

/** Returns the programs for clusters in this folder, without the keepers. */
export function managersIn(workFolder: string): ManagerProcess[] {
  return processesOf(workFolder).flatMap((one) => {
    const [, program, peer] = argv0.exec(one.command[0]!) ?? [];
    const kubeconfig = one.command.find((word) => word.startsWith('--kubeconfig='));
    if (!program || !peer || !kubeconfig) return [];
    const folder = kubeconfig.slice('--kubeconfig='.length).replace(/\/[^/]*$/, '');
    return [
      { ...one, service: program === 'scheduler' ? ('scheduler' as const) : ('controllers' as const), peer, folder },
    ];
  });
}

export const isSameProcess = (one: ProcessFacts, other: ProcessFacts): boolean =>
  one.pid === other.pid && one.startedTicks === other.startedTicks;

export const isRunning = ({ pid, startedTicks }: Pick<ProcessFacts, 'pid' | 'startedTicks'>): boolean =>
  factsOf(pid)?.startedTicks === startedTicks;

function everything(): ProcessFacts[] {
  return readdirSync('/proc').flatMap((name) => {
    const facts = /^\d+$/.test(name) ? factsOf(Number(name)) : undefined;
    return facts ? [facts] : [];
  });
}

/** Undefined: there is none, or it has exited. */
export function factsOf(pid: number): ProcessFacts | undefined {
  try {
    const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').slice(0, -1);
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name in parentheses may contain anything: fields are counted from its end.
    const fields = stat.slice(stat.lastIndexOf(') ') + 2).split(' ');
    const hasEnded = fields[0] === 'Z' || fields[0] === 'X';
    return hasEnded || command.length === 0 ? undefined : { pid, startedTicks: Number(fields[19]), command };
  } catch {
    return undefined;
  }
}

function folderOf(pid: number): string {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return '';
  }
}
