/**
 * The nodes that `hangar node run` started on this machine, one folder for each in the data directory:
 *
 *     <data>/nodes/demo-1/node.json     the names of everything that the node has outside of its namespaces
 *     <data>/nodes/demo-1/node.log      output of the process that supervises the node
 *     <data>/nodes/demo-1/files         the files of the node, unless `--node-dir` names another folder
 */

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { failed } from '../errors.ts';
import { hangar } from '../hints.ts';
import { whileLocked, writeSecretFile } from '../kubeconfig/secret-file.ts';
import { quoted } from '../terminal/plain-text.ts';

export interface NodeState {
  readonly name: string;
  readonly controlPlane: string;
  /** Of all files of the node. */
  readonly folder: string;
  readonly cgroup: string;
  readonly bridge: string;
  /** Of the network: the N in 10.77.N.0/24. */
  readonly networkNumber: number;
  /** Of the node in the network. */
  readonly index: number;
  /** The process that supervises the node. The node ends with it. */
  readonly supervisor: ProcessIdentity;
  /** The first process of the node. Absent: the node has not started yet. */
  readonly first?: ProcessIdentity;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
}

/** The system gives the id of a process that has exited to another one, with another start time. */
export interface ProcessIdentity {
  readonly pid: number;
  /** In clock ticks since the machine started. */
  readonly startTicks: string;
}

/** Returns undefined if the process does not exist. */
export function identityOf(pid: number): ProcessIdentity | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name of the program is in parentheses and may contain spaces. The start time is field 22.
    const [state, ...fields] = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return state === 'Z' ? undefined : { pid, startTicks: fields[18]! };
  } catch {
    return undefined;
  }
}

export const exists = ({ pid, startTicks }: ProcessIdentity): boolean => identityOf(pid)?.startTicks === startTicks;

export const isRunning = ({ supervisor }: NodeState): boolean => exists(supervisor);

const nodesFolder = (dataFolder: string): string => join(dataFolder, 'nodes');
export const stateFolder = (dataFolder: string, node: string): string => join(nodesFolder(dataFolder), node);
export const filesFolder = (dataFolder: string, node: string): string => join(stateFolder(dataFolder, node), 'files');
export const supervisorLog = (dataFolder: string, node: string): string =>
  join(stateFolder(dataFolder, node), 'node.log');
const stateFile = (dataFolder: string, node: string): string => join(stateFolder(dataFolder, node), 'node.json');

/** Returns undefined if the node does not exist. Rejects if its file is not valid: it names files that are removed. */
export async function findState(dataFolder: string, node: string): Promise<NodeState | undefined> {
  const path = stateFile(dataFolder, node);
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined;
    throw failed(`${quoted(path)} cannot be read: ${error.message}`, { cause: error });
  });
  if (text === undefined) return undefined;
  try {
    const state = JSON.parse(text) as NodeState;
    const texts = [state.name, state.controlPlane, state.folder, state.cgroup, state.bridge];
    if (texts.every((one) => typeof one === 'string' && one !== '') && state.supervisor.pid > 1) return state;
  } catch {
    // Reported below.
  }
  throw failed(`${quoted(path)} is not the state of a node`);
}

/** Returns the nodes of the data directory, sorted by name. */
export async function listStates(dataFolder: string): Promise<NodeState[]> {
  const names = await readdir(nodesFolder(dataFolder)).catch(() => []);
  const states = await Promise.all(names.sort().map((name) => findState(dataFolder, name)));
  return states.filter((state) => state !== undefined);
}

export async function writeState(dataFolder: string, state: NodeState): Promise<void> {
  await mkdir(stateFolder(dataFolder, state.name), { recursive: true, mode: 0o700 });
  await writeSecretFile(stateFile(dataFolder, state.name), `${JSON.stringify(state, undefined, 2)}\n`);
}

/** Runs alone among all processes that start or remove nodes of the data directory. */
export async function whileNodesLocked<T>(dataFolder: string, work: () => Promise<T>): Promise<T> {
  const pause = (): Promise<void> => sleep(lockPollMs);
  return whileLocked(nodesFolder(dataFolder), { attempts: lockAttempts, pause }, work);
}

const lockPollMs = 100;
const lockAttempts = 300;

/** The names of everything that nodes of a data directory have outside of their namespaces. */
export function machineNames(dataFolder: string): { readonly bridge: string; cgroup(node: string): string } {
  const id = createHash('sha256').update(dataFolder).digest('hex').slice(0, 8);
  return { bridge: `hgr${id}`, cgroup: (node) => `hangar-node-${id}-${node}` };
}

/** Returns the first free name: `demo-1`, `demo-2`, … */
export function freeName(controlPlane: string, states: readonly NodeState[]): string {
  const used = new Set(states.filter(isRunning).map(({ name }) => name));
  for (let number = 1; ; number++) if (!used.has(`${controlPlane}-${number}`)) return `${controlPlane}-${number}`;
}

/** Returns the lowest index that no other node has. */
export function freeIndex(node: string, states: readonly NodeState[]): number {
  const used = new Set(states.filter(({ name }) => name !== node).map(({ index }) => index));
  for (let index = 0; ; index++) if (!used.has(index)) return index;
}

/** Rejects with `Failed` if the node does not exist. */
export async function insistOnState(dataFolder: string, node: string): Promise<NodeState> {
  const state = await findState(dataFolder, node);
  if (state) return state;
  const names = (await listStates(dataFolder)).map(({ name }) => name);
  throw failed(`there is no node ${quoted(node)} on this machine`, {
    next: names.length > 0 ? `nodes: ${names.join(', ')}` : `to start one: ${hangar('node run PLANE')}`,
  });
}
