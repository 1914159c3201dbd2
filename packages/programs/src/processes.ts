/**
 * Reads processes from /proc. A process is identified by its pid and start time, because pids are reused. A zombie counts as gone: process
 * 1 of a container need not reap.
 */

import { readdirSync, readFileSync } from 'node:fs';
import { hasCode } from '@hangar/core';

export interface ProcessIdentity {
  readonly pid: number;
  /** In the kernel's ticks since it booted. */
  readonly startTime: number;
}

interface ProcessStat extends ProcessIdentity {
  readonly group: number;
}

/** Undefined: there is no such process, or it is dead. Throws when this cannot be determined, for example without free file descriptors. */
export function statOf(pid: number): ProcessStat | undefined {
  const fields = statFields(pid);
  if (!fields) return undefined;
  const [state, , group] = fields;
  if (state === 'Z' || state === 'X') return undefined;
  return { pid, group: Number(group), startTime: Number(fields[19]) };
}

/** Returns the fields behind the name. */
function statFields(pid: number): string[] | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The second field is the name in parentheses, and a name may contain anything.
    return text.slice(text.lastIndexOf(')') + 2).split(' ');
  } catch (error) {
    if (hasCode(error, 'ENOENT') || hasCode(error, 'ESRCH')) return undefined;
    throw error;
  }
}

export const identityOf = (pid: number): ProcessIdentity | undefined => {
  const stat = statOf(pid);
  return stat && { pid, startTime: stat.startTime };
};

export const isAlive = ({ pid, startTime }: ProcessIdentity): boolean => statOf(pid)?.startTime === startTime;

/** Returns the living members. */
export function membersOf(group: number): ProcessStat[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => statOf(Number(name)))
    .filter((stat) => stat?.group === group) as ProcessStat[];
}

/** Changes with every boot: start times of different boots cannot be compared. */
export const bootId = (): string => readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim();

/** Resident memory; undefined when the process is gone. */
export function residentBytes(pid: number): number | undefined {
  try {
    const kib = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1];
    return kib === undefined ? undefined : Number(kib) * 1024;
  } catch {
    return undefined;
  }
}

/** Unit of processor time in /proc, independent of the kernel's timer frequency. */
const ticksPerSecond = 100;

/** User and system time; undefined when the process is gone. */
export function cpuSeconds(pid: number): number | undefined {
  try {
    const fields = statFields(pid);
    return fields && (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
  } catch {
    return undefined;
  }
}

/** Returns false if the group no longer exists. Signal 0 only checks. */
export function signalGroup(group: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(-group, signal);
  } catch (error) {
    return !hasCode(error, 'ESRCH');
  }
}

/** Kills the process only if the pid still has this start time. */
export function killProcess(identity: ProcessIdentity): boolean {
  try {
    return isAlive(identity) && process.kill(identity.pid, 'SIGKILL');
  } catch {
    return false;
  }
}
