/**
 * The identity of the controller manager at the management plane: a user with a certificate, and exactly the permissions of `rbac.ts` of
 * the controller manager. Its Secrets are named one by one.
 */

import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Client } from '@hangar/client';
import { ClusterRole, ClusterRoleBinding, Role, RoleBinding } from '@hangar/client/kinds/rbac-v1';
import { systemClock, systemRandom } from '@hangar/core';
import { issueCertificate, kubeconfig } from '@hangar/pki';
import type { Rights } from './rights.ts';
import type { Up } from '../../controlplanes/testing/up.ts';

export interface Identity {
  readonly user: string;
  /** Path of its kubeconfig. */
  readonly kubeconfig: string;
}

/** Authenticated, without any permission so far. */
export async function identityAt(up: Up, user: string, folder: string): Promise<Identity> {
  const read = (name: string): Promise<string> => readFile(join(up.dataFolder, 'pki', name), 'utf8');
  const authority = { certificate: await read('ca.crt'), key: await read('ca.key') };
  const world = { clock: systemClock, random: systemRandom };
  const credentials = issueCertificate(authority, { commonName: user, usage: 'client', days: 1 }, world);
  const text = kubeconfig({ name: 'management', user, server: up.url, authority: authority.certificate, credentials });
  const path = join(folder, `${user}.kubeconfig`);
  await writeFile(path, text, { mode: 0o600 });
  return { user, kubeconfig: path };
}

/** Called once for each user. */
export async function grant(client: Client, user: string, { everywhere, inNamespaces }: Rights): Promise<void> {
  const subjects = [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: user }];
  const roleRef = (kind: string) => ({ apiGroup: 'rbac.authorization.k8s.io', kind, name: user });
  await client.create(ClusterRole, { metadata: { name: user }, rules: [...everywhere] });
  await client.create(ClusterRoleBinding, { metadata: { name: user }, roleRef: roleRef('ClusterRole'), subjects });
  for (const [namespace, rules] of inNamespaces) {
    await client.create(Role, { metadata: { namespace, name: user }, rules: [...rules] });
    await client.create(RoleBinding, { metadata: { namespace, name: user }, roleRef: roleRef('Role'), subjects });
  }
}
