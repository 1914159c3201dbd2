/** Chooses the engine and finds its programs before anything starts. */

import { resolve } from 'node:path';
import { UsageError } from '@hangar/core/command-line';
import type { KubePrograms } from './kube-programs.ts';
import { oneOf } from './values.ts';

export interface EngineFlags {
  readonly engine: string;
  readonly 'kube-controller-manager'?: string | undefined;
  readonly 'kube-scheduler'?: string | undefined;
}

export interface EngineChoice {
  readonly name: 'kube' | 'essential';
  /** For the log. */
  readonly why: string;
  /** Absolute; of the engine kube. */
  readonly controllerManager: string | undefined;
  /** Absolute; undefined: there is none, and clusters that request one get a condition. */
  readonly scheduler: string | undefined;
}

const managerName = 'kube-controller-manager';
const schedulerName = 'kube-scheduler';

/** Throws a UsageError for a named program that is invalid, and when a required program is missing. */
export function chooseEngine(
  flags: EngineFlags,
  { programs, folder }: { readonly programs: KubePrograms; readonly folder: string },
): EngineChoice {
  const wanted = oneOf('engine', flags.engine, ['auto', 'kube', 'essential']);
  const named = (name: typeof managerName | typeof schedulerName): string | undefined => {
    const given = flags[name];
    if (given === undefined) return undefined;
    const path = resolve(folder, given);
    if (given !== '' && programs.isExecutable(path)) return path;
    throw new UsageError(`--${name}: ${JSON.stringify(given)} is not an executable file`);
  };
  const scheduler = named(schedulerName) ?? programs.find(schedulerName);
  const given = named(managerName);
  if (wanted === 'essential') {
    if (given !== undefined) throw new UsageError(`--${managerName} and --engine=essential cannot be used together`);
    return { name: 'essential', why: 'set by --engine', controllerManager: undefined, scheduler };
  }
  const found = given ?? programs.find(managerName);
  if (found !== undefined) {
    const where = given === undefined ? 'was found in PATH' : `is set by --${managerName}`;
    return { name: 'kube', why: `${managerName} ${where}`, controllerManager: found, scheduler };
  }
  if (wanted === 'kube') {
    throw new UsageError(`--engine=kube: ${managerName} was not found in PATH; set --${managerName}=FILE`);
  }
  const why = `${managerName} was not found in PATH, and --${managerName} is not set`;
  return { name: 'essential', why, controllerManager: undefined, scheduler };
}
