/** Runs a node in this process until the signal, and removes it afterwards. */

import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Client } from '@hangar/client';
import { abortError, asError } from '@hangar/core';
import { waitFor } from '../control-planes/wait.ts';
import { CliError, failed } from '../errors.ts';
import { hangar } from '../hints.ts';
import { conditionOf, Node as NodeKind } from '../kinds.ts';
import type { Condition } from '../kinds.ts';
import { Node } from '../machine/index.ts';
import { writeSecretFile } from '../kubeconfig/secret-file.ts';
import type { Access } from '../kubeconfig/access.ts';
import type { Session } from '../session.ts';
import { quoted } from '../terminal/plain-text.ts';
import { kubeProxyKubeconfig, kubeProxyKubeconfigPath } from './plan.ts';
import type { NodePlan } from './plan.ts';
import { startPullProxy } from './pull-proxy.ts';
import { deleteNodeObject, removeNode } from './remove.ts';
import { findState, identityOf, isRunning, listStates, whileNodesLocked, writeState } from './state.ts';
import type { NodeState } from './state.ts';
import { supervise } from './supervise.ts';

export interface RunOptions {
  readonly session: Pick<Session, 'clock' | 'signal'>;
  /** Of the control plane, as its administrator. */
  readonly planeClient: Client;
  readonly proxyCredentials: Access['user'];
  readonly timeoutMs: number;
  report(line: string): void;
  /** Called when the Node is ready, or with the reason when it is not ready after `timeoutMs`. The node runs in both cases. */
  onStarted(problem: Error | undefined): void;
}

/** Resolves after the signal, when everything is removed. Rejects, also after removal, if the node cannot start or exits. */
export async function runNode(plan: NodePlan, options: RunOptions): Promise<void> {
  const { session, report, planeClient } = options;
  await using cleanup = new AsyncDisposableStack();
  const old = await findState(plan.dataFolder, plan.name);
  if (old && !isRunning(old)) await removeNode(plan.dataFolder, old);
  const state = await reserve(plan, session.clock.now());
  let current = state;
  cleanup.defer(async () => {
    report(`removing node ${plan.name}`);
    await removeNode(plan.dataFolder, current).catch((error: unknown) => {
      const retry = `To retry: ${hangar(`node stop ${plan.name}`)}`;
      report(`node ${plan.name} is not removed completely: ${asError(error).message}. ${retry}`);
    });
  });

  report(`creating node ${plan.name}: address ${plan.addresses.address}, pods ${plan.addresses.podNetwork}`);
  const node = new Node(plan);
  let hasJoined = false;
  // After the kubelet has exited, which would create the object again.
  cleanup.defer(async () => {
    const problem = hasJoined ? await deleteNodeObject(planeClient, plan.name) : undefined;
    if (problem !== undefined) report(remainingNode(plan, problem));
  });
  cleanup.defer(() => node.stop());
  const connecting = whileNodesLocked(plan.dataFolder, async () => {
    await plan.network.create();
    for (const peer of await listStates(plan.dataFolder)) {
      if (peer.name === plan.name || !peer.first || !isRunning(peer)) continue;
      plan.network.addPeer(plan.network.addressesOf(peer.index), peer.first.pid);
    }
    await node.startNamespaces();
    current = { ...state, first: identityOf(node.namespaces.pid)! };
    await writeState(plan.dataFolder, current);
  });
  await attempted('the namespaces of the node cannot be created', connecting);
  insistOnGoingOn(session.signal);

  report('starting containerd');
  const proxy = cleanup.use(await startPullProxy(plan.network.hostAddress));
  const env = { HTTPS_PROXY: proxy.url };
  const images = plan.images.map((path) => ({ path }));
  await attempted('containerd cannot start', node.startContainerd({ env, images }));
  insistOnGoingOn(session.signal);

  report('starting the kubelet and kube-proxy');
  const kubeconfig = kubeProxyKubeconfigPath(plan.folder);
  hasJoined = true;
  const kubelet = await node.startKubelet(plan.join);
  await writeProxyKubeconfig(plan, options.proxyCredentials);
  const kubeProxy = await node.startKubeProxy(kubeconfig);

  const ended = new AbortController();
  void node.namespaces.exited().then(() => ended.abort());
  const signal = AbortSignal.any([session.signal, ended.signal]);
  const restarting = supervise(
    [
      { name: 'containerd', program: node.program('containerd')!, start: () => node.startContainerd({ env }) },
      { name: 'kubelet', program: kubelet, start: () => node.startKubelet(plan.join) },
      { name: 'kube-proxy', program: kubeProxy, start: () => node.startKubeProxy(kubeconfig) },
    ],
    { signal, report },
  );
  const problem = await readiness(plan, options, signal);
  if (!signal.aborted) options.onStarted(problem);
  await restarting;
  if (session.signal.aborted) return;
  throw failed(`the first process of node ${quoted(plan.name)} exited, and all processes of the node with it`);
}

/** Writes the state, so that no other node gets the same name and addresses, and `hangar node stop` finds everything. */
function reserve(plan: NodePlan, nowMs: number): Promise<NodeState> {
  const { dataFolder, name, folder, cgroup, network, addresses, controlPlane } = plan;
  return whileNodesLocked(dataFolder, async () => {
    const states = await listStates(dataFolder);
    if (states.some((one) => one.name === name)) {
      throw failed(`node ${quoted(name)} runs already`, { next: `to stop it: ${hangar(`node stop ${name}`)}` });
    }
    if (states.some((one) => one.index === addresses.index)) {
      throw failed('another node was started at the same time', { next: 'try again' });
    }
    const { bridge, number: networkNumber } = network;
    const places = { folder, cgroup, bridge, networkNumber, index: addresses.index };
    const state = { name, controlPlane, ...places, supervisor: identityOf(process.pid)!, startedAt: nowMs };
    await writeState(dataFolder, state);
    return state;
  });
}

async function writeProxyKubeconfig(plan: NodePlan, user: Access['user']): Promise<void> {
  const path = kubeProxyKubeconfigPath(plan.folder);
  await mkdir(dirname(path), { recursive: true });
  await writeSecretFile(path, kubeProxyKubeconfig(plan, user));
}

/** Adds the problem to errors of the system, whose messages can have several lines of output. */
async function attempted<T>(problem: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw error instanceof CliError ? error : failed(`${problem}: ${asError(error).message}`, { cause: error });
  }
}

function insistOnGoingOn(signal: AbortSignal): void {
  if (signal.aborted) throw abortError(signal);
}

/** Resolves with the reason why the Node is not ready; undefined: it is ready, or the signal fired. */
async function readiness(
  { name, controlPlane }: NodePlan,
  { session, planeClient, timeoutMs, report }: RunOptions,
  signal: AbortSignal,
): Promise<Error | undefined> {
  report(`waiting until Node ${name} is ready`);
  let last: Condition | undefined;
  let isRegistered = false;
  try {
    const isReady = await waitFor(planeClient, NodeKind, {
      name,
      clock: session.clock,
      timeoutMs,
      signal,
      isDone: (object) => {
        isRegistered = object !== undefined;
        last = object && conditionOf(object, 'Ready');
        return last?.status === 'True';
      },
    });
    if (isReady) return undefined;
  } catch (error) {
    // The caller reports the end of the node.
    if (signal.aborted) return undefined;
    return failed(`Node ${quoted(name)} cannot be read: ${(error as Error).message}`, { cause: error });
  }
  const reason = isRegistered ? (last?.message ?? 'it has no condition Ready') : 'the kubelet has not registered it';
  return failed(
    `Node ${quoted(name)} of control plane ${quoted(controlPlane)} is not ready after ${timeoutMs / 1_000} s: ${reason}`,
    { next: `the node runs: ${hangar(`node logs ${name}`)}\nto remove it: ${hangar(`node stop ${name}`)}` },
  );
}

/** Message for a Node object that could not be deleted. */
export const remainingNode = (
  { name, controlPlane }: Pick<NodePlan, 'name' | 'controlPlane'>,
  problem: string,
): string =>
  `Node ${quoted(name)} remains in control plane ${quoted(controlPlane)} (${problem}). To delete it: kubectl delete node ${name}`;
