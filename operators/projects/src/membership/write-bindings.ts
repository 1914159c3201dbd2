/** Writes the role bindings of a project to its control plane. */

import { isDeepStrictEqual } from 'node:util';
import type { Client } from '@hangar/client';
import { ClusterRoleBinding } from '@hangar/client/kinds/rbac-v1';
import { eachAtOnce } from '@hangar/core';
import { bindingObject, bindingPrefix } from './role-bindings.ts';
import type { RoleBinding } from './role-bindings.ts';

const writesAtOnce = 8;

/**
 * Creates, changes and deletes bindings until exactly these exist, besides those of the users of the project. Removed roles are deleted
 * first. Rejects with the error of the control plane; the call can be repeated.
 */
export async function writeBindings(
  client: Client,
  bindings: readonly RoleBinding[],
  signal: AbortSignal,
): Promise<void> {
  const { items } = await client.list(ClusterRoleBinding, { signal });
  const existing = new Map(
    items.filter(({ metadata }) => metadata.name!.startsWith(bindingPrefix)).map((one) => [one.metadata.name!, one]),
  );
  const wanted = new Set(bindings.map(({ name }) => name));
  const removed = Array.from(existing.keys()).filter((name) => !wanted.has(name));
  await eachAtOnce(writesAtOnce, removed, (name) => client.delete(ClusterRoleBinding, { name }, { signal }));
  await eachAtOnce(writesAtOnce, bindings, (binding) => write(client, binding, existing.get(binding.name), signal));
}

async function write(
  client: Client,
  binding: RoleBinding,
  existing: ClusterRoleBinding | undefined,
  signal: AbortSignal,
): Promise<void> {
  const object = bindingObject(binding);
  const { name } = binding;
  if (existing && !isDeepStrictEqual({ ...existing.roleRef }, object.roleRef)) {
    // The role of a binding is immutable.
    await client.delete(ClusterRoleBinding, { name }, { signal });
  } else if (existing) {
    if (isDeepStrictEqual(existing.subjects, object.subjects)) return;
    const body = { subjects: object.subjects };
    await client.patch(ClusterRoleBinding, { name }, { type: 'merge', body }, { signal });
    return;
  }
  await client.create(ClusterRoleBinding, object, { signal });
}
