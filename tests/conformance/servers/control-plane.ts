/** A control plane under test, ours or the real one: its address and credentials, and its stop. */

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { tool } from '../../../tools/tool.ts';

export interface ControlPlane extends AsyncDisposable {
  readonly name: 'real' | 'hangar';
  /** `https://127.0.0.1:port`. */
  readonly url: string;
  /** Path of a file with an administrator's credentials; removed with the server. */
  readonly kubeconfig: string;
  /** Token of the administrator, when the kubeconfig has one: another may have a client certificate instead. */
  readonly token: string | undefined;
  stop(): Promise<void>;
}

/** A control plane whose program can be killed and restarted on its stored data, at the same address. */
export interface RestartableControlPlane extends ControlPlane {
  crash(): Promise<void>;
  /** Resolves when it is ready again. */
  resume(): Promise<void>;
}

/** Output of `kubectl config view`; the parts that tests use. */
export interface Kubeconfig {
  readonly clusters: readonly { readonly name: string; readonly cluster: { readonly server: string } }[];
  readonly users: readonly { readonly name: string; readonly user: { readonly token?: string } }[];
  readonly contexts: readonly { readonly name: string; readonly context: Readonly<Record<string, string>> }[];
  readonly [other: string]: unknown;
}

const execute = promisify(execFile);

/** Certificates and keys are inline: the result can be written anywhere. */
export async function readKubeconfig(path: string): Promise<Kubeconfig> {
  const view = ['config', 'view', '--raw', '--flatten', '--minify', '--output=json', `--kubeconfig=${path}`];
  const { stdout } = await execute(await tool('kubectl'), view);
  return JSON.parse(stdout) as Kubeconfig;
}

export async function isReady(kubeconfig: string): Promise<boolean> {
  const args = ['get', '--raw=/readyz', '--request-timeout=5s', `--kubeconfig=${kubeconfig}`];
  const answer = await execute(await tool('kubectl'), args).catch(() => undefined);
  return answer?.stdout.trim() === 'ok';
}

export async function describeControlPlane(
  name: ControlPlane['name'],
  kubeconfig: string,
  stop: () => Promise<void>,
): Promise<ControlPlane> {
  const { clusters, users } = await readKubeconfig(kubeconfig);
  const url = clusters[0]?.cluster.server;
  if (url === undefined) throw new Error(`${kubeconfig} names no server`);
  return { name, url, kubeconfig, token: users[0]?.user.token, stop, [Symbol.asyncDispose]: stop };
}
