/** `hangar node run PLANE`: a node of a control plane on this machine. */

import { join, resolve } from 'node:path';
import type { Client } from '@hangar/client';
import { hasCode } from '@hangar/core';
import type { Call, Given } from '../../command.ts';
import { findControlPlane, tenantOf } from '../../control-planes/find.ts';
import { joinMaterialOf } from '../../control-planes/join.ts';
import { failed, usage } from '../../errors.ts';
import { hangar } from '../../hints.ts';
import { ControlPlaneRegistration } from '../../kinds.ts';
import type { ControlPlaneObject } from '../../kinds.ts';
import { messenger, startInBackground } from '../../local-nodes/background.ts';
import { planeClient } from '../../control-planes/plane-client.ts';
import { joinOf, machineNameservers } from '../../local-nodes/membership.ts';
import { allowedNumbers, insistOnNetworks, insistOnReachable } from '../../local-nodes/networks.ts';
import { describePlan } from '../../local-nodes/plan.ts';
import type { NodePlan } from '../../local-nodes/plan.ts';
import { removeNode } from '../../local-nodes/remove.ts';
import { runNode } from '../../local-nodes/run.ts';
import {
  filesFolder,
  freeIndex,
  freeName,
  isRunning,
  listStates,
  machineNames,
  supervisorLog,
} from '../../local-nodes/state.ts';
import type { NodeState } from '../../local-nodes/state.ts';
import {
  folderProblem,
  InstalledPrograms,
  missingOf,
  missingPrograms,
  NodeNetwork,
  nodesMax,
  thisMachine,
} from '../../machine/index.ts';
import type { Session } from '../../session.ts';
import { plainLines, quoted } from '../../terminal/plain-text.ts';
import { serverFolder } from '../common/server-folder.ts';
import { timeoutMs } from '../common/timeout.ts';
import { proxyCredentials } from './proxy-credentials.ts';

const startTimeoutMs = 180_000;

export async function startNode(call: Call): Promise<void> {
  const { session, given } = call;
  insistOnOptions(given);
  const waitMs = timeoutMs(given, startTimeoutMs);
  const client = await call.client();
  const plane = await findControlPlane(client, given.args[1]!, session.signal);
  const states = await listStates(serverFolder(session, given));
  const plan = await planned(session, given, { client, plane, states });
  const missing = await missingFor(session, plan);
  if (given.flag('dry-run')) {
    session.out.write(plainLines(await describePlan(plan)));
    if (missing.length > 0) session.err.write(plainLines(`${missingText(missing)}\n`));
    return;
  }
  if (missing.length > 0) throw failed(missingText(missing), { next: `the guide: docs/guides/nodes.md` });
  const text = greeting(plan, await hasScheduler(client, plan.controlPlane, session.signal));
  if (given.flag('foreground')) return foreground(session, plan, { client, plane, waitMs, text });
  await removeStopped(plan, states);
  await startInBackground({
    args: [...process.argv.slice(2), '--foreground', '--name', plan.name],
    logFile: supervisorLog(plan.dataFolder, plan.name),
    signal: session.signal,
    onLine: (line) => session.err.write(plainLines(`${line}\n`)),
  });
  session.out.write(text);
}

function insistOnOptions(given: Given): void {
  const name = given.text('name');
  if (name !== undefined && !(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/.test(name) && name.length <= nameLengthMax)) {
    throw usage(
      `--name: ${quoted(name)} is not a valid node name`,
      `a name consists of at most ${nameLengthMax} lower-case letters, digits and dashes, and starts and ends with a letter or digit`,
    );
  }
  const image = given.text('pause-image');
  if (image !== undefined && !/^[\w./:@-]+$/.test(image))
    throw usage(`--pause-image: ${quoted(image)} is not an image`);
  if (given.flag('dry-run') && given.flag('foreground')) {
    throw usage('--dry-run and --foreground cannot be used together');
  }
}

/** The limit of host names. */
const nameLengthMax = 63;

interface PlanSources {
  readonly client: Client;
  readonly plane: ControlPlaneObject;
  readonly states: readonly NodeState[];
}

/** Rejects with `Failed` if the control plane does not accept the node. Changes nothing. */
async function planned(session: Session, given: Given, { client, plane, states }: PlanSources): Promise<NodePlan> {
  const controlPlane = plane.metadata.name!;
  const dataFolder = serverFolder(session, given);
  const names = machineNames(dataFolder);
  const name = given.text('name') ?? freeName(controlPlane, states);
  if (states.some((one) => one.name === name && isRunning(one)) && !given.flag('dry-run')) {
    throw failed(`node ${quoted(name)} runs already`, { next: `to stop it: ${hangar(`node stop ${name}`)}` });
  }
  if (name.length > nameLengthMax) {
    throw usage(`the default name ${quoted(name)} is longer than ${nameLengthMax} characters`, 'add --name NODE');
  }
  const index = freeIndex(name, states);
  if (index >= nodesMax) throw failed(`this data directory has ${nodesMax} nodes, which is the limit`);
  const tenant = await tenantOf(client, plane, session.signal);
  const preferred = allowedNumbers(tenant);
  // Without the program `ip`, the requirements are not met: the network is only for --dry-run.
  const network = await NodeNetwork.find({ bridge: names.bridge, preferred, firstNumber: 0 }).catch(
    () => new NodeNetwork(names.bridge, preferred[0] ?? 0),
  );
  const addresses = network.addressesOf(index);
  insistOnNetworks(tenant, { controlPlane, network, addresses });
  const material = await joinMaterialOf(client, plane, { nowMs: session.clock.now(), signal: session.signal });
  insistOnReachable(controlPlane, material.endpoint);
  const cgroup = names.cgroup(name);
  const nodeDir = given.text('node-dir');
  return {
    name,
    controlPlane,
    dataFolder,
    folder: nodeDir === undefined ? filesFolder(dataFolder, name) : join(resolve(session.folder, nodeDir), cgroup),
    cgroup,
    network,
    addresses,
    programs: new InstalledPrograms({
      folders: listed(given.text('bin-dirs')).map((folder) => resolve(session.folder, folder)),
      env: session.env,
      homeFolder: session.homeFolder,
    }),
    pauseImage: given.text('pause-image'),
    images: listed(given.text('images')).map((file) => resolve(session.folder, file)),
    join: joinOf(material, await machineNameservers()),
    material,
  };
}

const listed = (text: string | undefined): string[] =>
  (text ?? '')
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '');

async function missingFor({ env }: Session, { programs, folder, images }: NodePlan): Promise<string[]> {
  const machine = thisMachine(env);
  const missing = [...(await missingOf(machine)), ...(await missingPrograms(programs, machine))];
  const problem = await folderProblem(folder);
  if (problem !== undefined) {
    missing.push(
      `another folder for the files of the node: ${folder} cannot be used, because ${problem}: add --node-dir DIR`,
    );
  }
  for (const image of images) if (!machine.exists(image)) missing.push(`the image archive ${image}`);
  return missing;
}

const missingText = (missing: readonly string[]): string =>
  `this machine cannot run a node. Missing:\n${missing.map((one) => `- ${one}`).join('\n')}`;

async function removeStopped({ dataFolder, name }: NodePlan, states: readonly NodeState[]): Promise<void> {
  const stopped = states.find((one) => one.name === name);
  if (stopped) await removeNode(dataFolder, stopped);
}

interface ForegroundSources {
  readonly client: Client;
  readonly plane: ControlPlaneObject;
  readonly waitMs: number;
  /** Printed when the node is ready. */
  readonly text: string;
}

async function foreground(
  session: Session,
  plan: NodePlan,
  { client, plane, waitMs, text }: ForegroundSources,
): Promise<void> {
  const { out, err, signal } = session;
  const admin = await planeClient(session, client, plane);
  try {
    await runNode(plan, {
      session,
      planeClient: admin,
      proxyCredentials: await proxyCredentials(client, plane, signal),
      timeoutMs: waitMs,
      report(line) {
        err.write(plainLines(`${line}\n`));
        messenger.line(line);
      },
      onStarted(problem) {
        if (problem) err.write(plainLines(`${problem.message}\n`));
        else out.write(text);
        messenger.started(problem);
      },
    });
  } catch (error) {
    messenger.failed(error);
    throw error;
  } finally {
    await admin.close();
  }
}

/** Reports whether the control plane is registered for a scheduler. */
async function hasScheduler(client: Client, controlPlane: string, signal: AbortSignal): Promise<boolean> {
  const { items } = await client.list(ControlPlaneRegistration, { signal }).catch((error: unknown) => {
    if (hasCode(error, 'NotFound') || hasCode(error, 'Forbidden')) return { items: [] };
    throw error;
  });
  return items.some(({ spec }) => spec?.controlPlaneRef?.name === controlPlane && spec.services?.includes('scheduler'));
}

/** Without a scheduler, a pod needs the name of its node. */
export function greeting(
  { name, controlPlane }: Pick<NodePlan, 'name' | 'controlPlane'>,
  isScheduled: boolean,
): string {
  const assigned = `--overrides '{"spec":{"nodeName":"${name}"}}'`;
  const note = [
    '',
    `no scheduler is registered for control plane ${controlPlane}: pods start only on the node that they name.`,
    'See "Create a control plane with nodes" in docs/guides/nodes.md.',
  ];
  return [
    `node ${name} of control plane ${controlPlane} is ready`,
    '',
    `  ${hangar(`use ${controlPlane}`)}`,
    '  kubectl get nodes',
    `  kubectl run web --image IMAGE${isScheduled ? '' : ` ${assigned}`}`,
    `  ${hangar(`node logs ${name}`)}`,
    `  ${hangar(`node stop ${name}`)}`,
    ...(isScheduled ? [] : note),
    '',
  ].join('\n');
}
