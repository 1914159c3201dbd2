/** `hangar node list`: the nodes that run on this machine. */

import { humanDuration } from '@hangar/api/ages';
import type { Call } from '../../command.ts';
import { hangar } from '../../hints.ts';
import { isRunning, listStates } from '../../local-nodes/state.ts';
import type { NodeState } from '../../local-nodes/state.ts';
import { NodeNetwork } from '../../machine/network.ts';
import { printedValue } from '../../terminal/printed.ts';
import { table } from '../../terminal/table.ts';
import { serverFolder } from '../common/server-folder.ts';

export async function listNodes({ session, given }: Call): Promise<void> {
  const states = await listStates(serverFolder(session, given));
  const format = given.text('output') as 'json' | 'yaml' | undefined;
  if (format !== undefined) return session.out.write(printedValue(format, { nodes: states.map(dataOf) }));
  if (states.length === 0) {
    session.err.write(`no nodes run on this machine. To start one: ${hangar('node run PLANE')}\n`);
    return;
  }
  const nowMs = session.clock.now();
  const rows = states
    .map(dataOf)
    .map((one) => [
      one.name,
      one.controlPlane,
      one.state,
      one.address,
      one.podNetwork,
      String(one.pid),
      humanDuration(nowMs - Date.parse(one.startedAt)),
    ]);
  session.out.write(table(['NAME', 'CONTROL PLANE', 'STATE', 'ADDRESS', 'PODS', 'PID', 'AGE'], rows));
}

function dataOf(state: NodeState) {
  const { name, controlPlane, folder, supervisor, startedAt, bridge, networkNumber, index } = state;
  const { address, podNetwork } = new NodeNetwork(bridge, networkNumber).addressesOf(index);
  const phase = isRunning(state) ? (state.first ? 'Running' : 'Starting') : 'Stopped';
  const started = new Date(startedAt).toISOString();
  return { name, controlPlane, state: phase, address, podNetwork, pid: supervisor.pid, startedAt: started, folder };
}
