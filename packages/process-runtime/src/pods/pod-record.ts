/** The journal of a pod in its folder. A restarted runtime continues from it: addresses, restart counts, finished containers. */

import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ContainerStateTerminated } from '@hangar/client/kinds/core-v1';
import type { BackOffState } from './back-off.ts';

export interface ContainerRecord {
  /** Of the spec that the container was started with. */
  readonly hash: string;
  readonly restartCount: number;
  /** Absent: the container runs, or exited while no supervisor ran. */
  readonly terminated?: ContainerStateTerminated | undefined;
  /** The end of the run before. */
  readonly last?: ContainerStateTerminated | undefined;
  readonly backOff?: BackOffState | undefined;
  readonly imageId: string;
}

export interface PodRecord {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly address: string;
  readonly startTime: string;
  readonly containers: Readonly<Record<string, ContainerRecord>>;
}

const pathIn = (folder: string): string => join(folder, 'pod.json');

/** Writes the journal of a pod when it changes. It is written after each sync of the pod, so a stable pod does not use the disk. */
export class PodJournal {
  readonly #folder: string;
  #written = '';

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Throws if the disk is full. */
  write(record: PodRecord): void {
    const text = `${JSON.stringify(record)}\n`;
    if (text === this.#written) return;
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
    const next = `${pathIn(this.#folder)}.next`;
    writeFileSync(next, text, { mode: 0o600 });
    renameSync(next, pathIn(this.#folder));
    this.#written = text;
  }
}

/** Undefined: missing or invalid. */
export function readPodRecord(folder: string): PodRecord | undefined {
  try {
    const record = JSON.parse(readFileSync(pathIn(folder), 'utf8')) as PodRecord;
    return typeof record.uid === 'string' && typeof record.address === 'string' ? record : undefined;
  } catch {
    return undefined;
  }
}
