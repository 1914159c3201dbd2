/** Memory of a process. In megabytes of 10⁶ bytes, as the bars are. */

import { readFileSync } from 'node:fs';

const kib = (pid: number, field: string): number =>
  Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]);

export const megabytes = (bytes: number): number => bytes / 1e6;

export const residentMb = (pid: number): number => megabytes(kib(pid, 'VmRSS') * 1024);

/** Peak resident memory. */
export const peakMb = (pid: number): number => megabytes(kib(pid, 'VmHWM') * 1024);
