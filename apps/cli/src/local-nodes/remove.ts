/** Removes everything that a node created. Works also after the process that supervised the node was killed. */

import { rm, rmdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Client } from '@hangar/client';
import { asError, hasCode } from '@hangar/core';
import { Node } from '../kinds.ts';
import { NodeNetwork, removeCgroup, run, until } from '../machine/index.ts';
import { exists, listStates, stateFolder, whileNodesLocked } from './state.ts';
import type { NodeState } from './state.ts';

/** Waits until the processes of the node have ended; they end with the supervisor. Another node keeps the bridge. */
export async function removeNode(dataFolder: string, state: NodeState): Promise<void> {
  const { name, first, bridge, cgroup, folder, index } = state;
  if (first) await until(`the processes of node ${name} have ended`, {}, async () => !exists(first));
  await whileNodesLocked(dataFolder, async () => {
    const network = new NodeNetwork(bridge, state.networkNumber);
    await network.disconnect(network.addressesOf(index));
    await run('ip', 'link', 'delete', `${bridge}-${index}`).catch(() => {}); // Usually removed with its namespace.
    await removeCgroup(cgroup);
    await rm(folder, { recursive: true, force: true });
    const others = (await listStates(dataFolder)).filter((other) => other.name !== name);
    if (others.length === 0) await network.remove().catch(() => {}); // Not created yet.
    // The state is last: a removal that fails can be repeated.
    const own = stateFolder(dataFolder, name);
    await rm(own, { recursive: true, force: true });
    if (others.length === 0) await rmdir(dirname(own)).catch(() => {});
  });
}

const deleteTimeoutMs = 5_000;

/** Deletes the Node object. Returns the reason of a failure; undefined: the object no longer exists. */
export async function deleteNodeObject(client: Client, name: string): Promise<string | undefined> {
  try {
    await client.delete(Node, { name }, { signal: AbortSignal.timeout(deleteTimeoutMs) });
    return undefined;
  } catch (error) {
    return hasCode(error, 'NotFound') ? undefined : asError(error).message;
  }
}
