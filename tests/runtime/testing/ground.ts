/** A server that the suite runs on, with helpers for the cases besides the runtime itself. */

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { connect, loadKubeconfig } from '@hangar/client';
import type { Client, ClusterConfig } from '@hangar/client';
import { Namespace } from '@hangar/client/kinds/core-v1';
import { installCrd } from '@hangar/testkit';
import { tool } from '../../../tools/tool.ts';
import type { RestartableControlPlane } from '../../conformance/servers/index.ts';
import { widgetDefinition } from './widgets.ts';

const execute = promisify(execFile);

export class Ground implements AsyncDisposable {
  readonly plane: RestartableControlPlane;
  /** Of an administrator. */
  readonly config: ClusterConfig;
  /** Reads from the server, without a cache. */
  readonly admin: Client;
  /** Compacts the store's history up to now. */
  readonly compact: () => Promise<void>;
  #namespaces = 0;

  private constructor(plane: RestartableControlPlane, config: ClusterConfig, etcdUrl: string | undefined) {
    this.plane = plane;
    this.config = config;
    this.admin = connect(config);
    this.compact = () => compact(etcdUrl);
  }

  static async open(plane: RestartableControlPlane, etcdUrl?: string): Promise<Ground> {
    try {
      const ground = new Ground(plane, await loadKubeconfig(plane.kubeconfig), etcdUrl);
      await installCrd(ground.admin, widgetDefinition);
      return ground;
    } catch (error) {
      await plane.stop();
      throw error;
    }
  }

  /** Creates a new namespace for each case, so that none sees the objects of another. */
  async namespace(): Promise<string> {
    const name = `case-${++this.#namespaces}`;
    await this.admin.create(Namespace, { metadata: { name } });
    return name;
  }

  /** Returns the output that users see. */
  async kubectl(...args: readonly string[]): Promise<string> {
    const { stdout } = await execute(await tool('kubectl'), [`--kubeconfig=${this.plane.kubeconfig}`, ...args]);
    return stdout;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.admin.close();
    await this.plane.stop();
  }
}

async function compact(etcdUrl: string | undefined): Promise<void> {
  assert.ok(etcdUrl, 'only an etcd can be compacted from outside');
  const ask = async (path: string, body: object): Promise<{ header: { revision: string } }> => {
    const answer = await fetch(`${etcdUrl}/v3/kv/${path}`, { method: 'POST', body: JSON.stringify(body) });
    assert.equal(answer.status, 200, await answer.clone().text());
    return (await answer.json()) as { header: { revision: string } };
  };
  const { header } = await ask('range', { key: Buffer.from('x').toString('base64') });
  await ask('compaction', { revision: header.revision, physical: true });
}
