/** `hangar node stop NODE`: ends a node of this machine and removes everything that it created. */

import { asError, sleep } from '@hangar/core';
import type { Call } from '../../command.ts';
import { find } from '../../control-planes/optional.ts';
import { failed, usage } from '../../errors.ts';
import { hangar } from '../../hints.ts';
import { ControlPlane } from '../../kinds.ts';
import { planeClient } from '../../control-planes/plane-client.ts';
import { deleteNodeObject, removeNode } from '../../local-nodes/remove.ts';
import { remainingNode } from '../../local-nodes/run.ts';
import { exists, findState, insistOnState, isRunning, listStates } from '../../local-nodes/state.ts';
import type { NodeState } from '../../local-nodes/state.ts';
import { quoted } from '../../terminal/plain-text.ts';
import { serverFolder } from '../common/server-folder.ts';
import { stayingAlive } from '../common/staying-alive.ts';
import { timeoutMs } from '../common/timeout.ts';

const pollMs = 100;

export async function stopNodes(call: Call): Promise<void> {
  const { session, given } = call;
  const name = given.args[1];
  if ((name === undefined) !== given.flag('all')) {
    throw usage('node stop requires NAME, the name of a node, or --all', `to list nodes: ${hangar('node list')}`);
  }
  const dataFolder = serverFolder(session, given);
  const limitMs = timeoutMs(given);
  const states = name === undefined ? await listStates(dataFolder) : [await insistOnState(dataFolder, name)];
  if (states.length === 0) return session.out.write('no nodes run on this machine\n');
  insistOnRoot('stop');
  for (const state of states) {
    await stayingAlive(() => stopNode(call, { dataFolder, state, limitMs }));
    session.out.write(`node ${state.name} is stopped and removed\n`);
  }
}

interface Stopping {
  readonly dataFolder: string;
  readonly state: NodeState;
  readonly limitMs: number;
}

/** The supervisor removes the node. If it was killed, this process does. */
async function stopNode(call: Call, { dataFolder, state, limitMs }: Stopping): Promise<void> {
  const { clock, signal, err } = call.session;
  const { name, supervisor } = state;
  if (isRunning(state)) {
    process.kill(supervisor.pid, 'SIGTERM');
    const endMs = clock.monotonicMs() + limitMs;
    while (exists(supervisor)) {
      if (clock.monotonicMs() > endMs) {
        throw failed(`process ${supervisor.pid} of node ${quoted(name)} has not exited after ${limitMs / 1_000} s`, {
          next: `to kill it: kill -9 ${supervisor.pid}\nthen remove the rest: ${hangar(`node stop ${name}`)}`,
        });
      }
      await sleep(clock, pollMs, signal);
    }
  }
  const left = await findState(dataFolder, name);
  if (!left) return;
  await removeNode(dataFolder, left);
  const problem = await deleteFromPlane(call, state);
  if (problem !== undefined) err.write(`${remainingNode(state, problem)}\n`);
}

/** Returns the reason of a failure; undefined: the Node object or its control plane no longer exists. */
async function deleteFromPlane({ session, client: connected }: Call, state: NodeState): Promise<string | undefined> {
  try {
    const rootClient = await connected();
    const plane = await find(rootClient, ControlPlane, state.controlPlane, session.signal);
    if (!plane) return undefined;
    const client = await planeClient(session, rootClient, plane);
    try {
      return await deleteNodeObject(client, state.name);
    } finally {
      await client.close();
    }
  } catch (error) {
    return asError(error).message;
  }
}

/** Throws `Failed` for other users. */
export function insistOnRoot(action: string): void {
  if (process.getuid?.() === 0) return;
  throw failed(`node ${action} requires root`, { next: 'run the command with sudo' });
}
