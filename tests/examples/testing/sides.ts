/**
 * The servers that every example runs on: the real kube-apiserver and Hangar, both with RBAC, with the admission plugin that requires a
 * permission to set owners, and with an audit log, which shows the requests of an example.
 */

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, loadKubeconfig } from '@hangar/client';
import type { Client } from '@hangar/client';
import { tool } from '../../../tools/tool.ts';
import { readKubeconfig, startHangar, startReal } from '../../conformance/servers/index.ts';
import type { ControlPlane } from '../../conformance/servers/index.ts';

export type SideName = ControlPlane['name'];
export const sideNames: readonly SideName[] = ['real', 'hangar'];

export interface Account {
  readonly namespace: string;
  readonly name: string;
}

/** A permission, as a role would grant it: `patch apps/deployments`. */
export type Right = string;

const auditPolicy = {
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  omitStages: ['RequestReceived'],
  rules: [{ level: 'Metadata', userGroups: ['system:serviceaccounts'] }, { level: 'None' }],
};

export class Side implements AsyncDisposable {
  readonly name: SideName;
  readonly plane: ControlPlane;
  /** For files of the test; removed with it. */
  readonly folder: string;
  /** Of the administrator. */
  readonly client: Client;
  readonly #kubectl: string;

  private constructor(plane: ControlPlane, folder: string, client: Client, kubectl: string) {
    this.name = plane.name;
    this.plane = plane;
    this.folder = folder;
    this.client = client;
    this.#kubectl = kubectl;
  }

  static async start(name: SideName): Promise<Side> {
    const folder = await mkdtemp(join(tmpdir(), `hangar-examples-${name}-`));
    let plane: ControlPlane | undefined;
    try {
      await writeFile(join(folder, 'audit-policy.yaml'), JSON.stringify(auditPolicy));
      plane = await start(name, [
        '--authorization-mode=RBAC',
        '--enable-admission-plugins=OwnerReferencesPermissionEnforcement',
        `--audit-policy-file=${folder}/audit-policy.yaml`,
        `--audit-log-path=${folder}/audit.log`,
      ]);
      const client = connect(await loadKubeconfig(plane.kubeconfig));
      return new Side(plane, folder, client, await tool('kubectl'));
    } catch (error) {
      await plane?.stop();
      await rm(folder, { recursive: true, force: true });
      throw error;
    }
  }

  /** Returns the output of both streams. Rejects with it when the command fails, unless `mayFail`. */
  async kubectl(args: readonly string[], { input, mayFail = false }: { input?: string; mayFail?: boolean } = {}) {
    const all = [`--kubeconfig=${this.plane.kubeconfig}`, '--request-timeout=20s', ...args];
    return new Promise<string>((resolve, reject) => {
      const child = execFile(this.#kubectl, all, { timeout: 60_000 }, (error, stdout, stderr) => {
        if (error && !mayFail) reject(new Error(`kubectl ${args.join(' ')}: ${stdout}${stderr}`, { cause: error }));
        else resolve(stdout + stderr);
      });
      child.stdin?.end(input ?? '');
    });
  }

  apply(...files: readonly string[]): Promise<string> {
    return this.kubectl(['apply', '--server-side', ...files.map((file) => `--filename=${file}`)]);
  }

  /** Returns a kubeconfig with a token of a service account, which has the permissions of its roles only. */
  async kubeconfigOf({ namespace, name }: Account, file = `${name}.kubeconfig`): Promise<string> {
    const token = (await this.kubectl(['create', 'token', name, `--namespace=${namespace}`])).trim();
    const config = await readKubeconfig(this.plane.kubeconfig);
    const path = join(this.folder, file);
    const users = [{ name: config.users[0]!.name, user: { token } }];
    await writeFile(path, JSON.stringify({ ...config, users }), { mode: 0o600 });
    return path;
  }

  /** Returns the permissions that the account has used, and the refused requests. */
  async rightsUsed({ namespace, name }: Account): Promise<{ used: Set<Right>; refused: string[] }> {
    const user = `system:serviceaccount:${namespace}:${name}`;
    const text = await readFile(join(this.folder, 'audit.log'), 'utf8');
    const used = new Set<Right>();
    const refused: string[] = [];
    for (const line of text.split('\n').filter(Boolean)) {
      const event = JSON.parse(line) as AuditEvent;
      const { objectRef, verb, responseStatus: { code = 0 } = {} } = event;
      if (event.user.username !== user || !objectRef) continue;
      if (code === 403) refused.push(`${verb} ${event.requestURI}`);
      used.add(`${verb} ${resourceOf(objectRef)}`);
      // An apply that creates an object requires this permission, too.
      if (verb === 'patch' && code === 201) used.add(`create ${resourceOf(objectRef)}`);
    }
    return { used, refused };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.client.close();
    await this.plane.stop();
    await rm(this.folder, { recursive: true, force: true });
  }
}

interface ObjectRef {
  readonly apiGroup?: string;
  readonly resource: string;
  readonly subresource?: string;
}

interface AuditEvent {
  readonly user: { readonly username: string };
  readonly verb: string;
  readonly requestURI: string;
  readonly objectRef?: ObjectRef;
  readonly responseStatus?: { readonly code?: number };
}

const resourceOf = ({ apiGroup, resource, subresource }: ObjectRef): string =>
  `${apiGroup ? `${apiGroup}/` : ''}${resource}${subresource ? `/${subresource}` : ''}`;

function start(name: SideName, flags: readonly string[]): Promise<ControlPlane> {
  if (name === 'real') return startReal({ extraArguments: flags });
  // Webhooks are on this machine, which an administrator must allow. Hangar has RBAC by default.
  return startHangar(['--store=memory', '--outbound-allow-cidr=127.0.0.1/32', ...flags]);
}

interface Role {
  readonly kind: string;
  readonly rules?: readonly {
    readonly apiGroups: readonly string[];
    readonly resources: readonly string[];
    readonly verbs: readonly string[];
  }[];
}

/** Returns the permissions of the roles in manifests. */
export function rightsOf(manifests: readonly unknown[]): Set<Right> {
  const rights = new Set<Right>();
  for (const { rules = [] } of manifests as readonly Role[]) {
    for (const { apiGroups, resources, verbs } of rules) {
      for (const group of apiGroups) {
        for (const resource of resources) {
          for (const verb of verbs) rights.add(`${verb} ${group ? `${group}/` : ''}${resource}`);
        }
      }
    }
  }
  return rights;
}

/**
 * Asserts that the roles grant exactly the used permissions, and that no request was refused. A watch requires list: not every server sends
 * everything on the watch. `unseen`: permissions for requests that need not happen, or that only admission checks.
 */
export async function assertExactRights(
  side: Side,
  account: Account,
  manifests: readonly unknown[],
  unseen: readonly Right[] = [],
): Promise<void> {
  const { used, refused } = await side.rightsUsed(account);
  assert.deepEqual(refused, []);
  for (const right of used) if (right.startsWith('watch ')) used.add(right.replace('watch', 'list'));
  assert.deepEqual([...rightsOf(manifests)].sort(), [...used.union(new Set(unseen))].sort());
}
