/**
 * Applies manifests to a control plane, by server-side apply, with the tenant's client: a manifest cannot reach anything else. In this
 * order, so that one attempt is enough where that is possible at all:
 *
 *   1  the inventory, with old and new objects
 *   2  namespaces and definitions; definitions are waited for
 *   3  everything else
 *   4  obsolete objects are deleted, and the inventory is updated
 */

import { find } from '@hangar/client';
import type { ApiObject, Client, Kind, UnknownObject } from '@hangar/client';
import { CustomResourceDefinition } from '@hangar/client/kinds/apiextensions-v1';
import { asError, hasCode, sleep } from '@hangar/core';
import type { Clock } from '@hangar/core';
import { isConditionTrue } from '@hangar/runtime';
import { labels } from '../api/index.ts';
import type { Writes } from '../control-plane/writes.ts';
import { AddonError } from './errors.ts';
import { Inventory, itemId } from './inventory.ts';
import type { Item } from './inventory.ts';
import { Kinds } from './kinds.ts';
import type { Manifest } from './manifests.ts';

export interface ApplyAddonsOptions {
  readonly tenantClient: Client;
  readonly manifests: readonly Manifest[];
  readonly clock: Clock;
  readonly writes: Writes;
  readonly signal: AbortSignal;
  onApplied(item: Item, resourceVersion: string): void;
}

interface Placed {
  readonly item: Item;
  readonly object: UnknownObject;
}

const fieldManager = 'controlplane-addons';
/** Every control plane has them: addons cannot delete them. */
const lasting = new Set(['default', 'kube-system', 'kube-public', 'kube-node-lease', 'kplane-system']);

/** Rejects with `ApplyFailed`, which names the object. All other objects are applied. */
export async function applyAddons(options: ApplyAddonsOptions): Promise<void> {
  const { tenantClient, manifests, clock, writes, signal } = options;
  const inventory = new Inventory(tenantClient, writes, { signal });
  const before = await inventory.read();
  const kinds = new Kinds(tenantClient, clock);
  const early = await placed(
    manifests.filter(({ object }) => isEarly(object)),
    kinds,
    signal,
  );
  const late = manifests.filter(({ object }) => !isEarly(object));
  const failures: Error[] = [];
  const apply = async (all: readonly Placed[]): Promise<void> => {
    const outcomes = await Promise.allSettled(all.map((one) => applyOne(options, one)));
    failures.push(...outcomes.flatMap((one) => (one.status === 'rejected' ? [asError(one.reason)] : [])));
  };
  // Kinds of a definition in the same addon are unknown before the definition is established.
  const known = await placed(late, kinds, signal, 'those that are known');
  await inventory.write(
    together(
      before,
      [...early, ...known].map(({ item }) => item),
    ),
  );
  await apply(early);
  await Promise.all(
    early
      .filter(({ item }) => item.kind === 'CustomResourceDefinition')
      .map(({ item }) => established(options, item.name)),
  );
  const all = known.length === late.length ? known : await placed(late, kinds, signal);
  const now = [...early, ...all].map(({ item }) => item);
  if (all !== known) await inventory.write(together(before, now));
  await apply(all);
  if (failures.length > 0) throw failures[0]!;
  await prune(options, before, now);
  await inventory.write(now);
}

const isEarly = ({ kind, apiVersion }: UnknownObject): boolean =>
  (kind === 'Namespace' && apiVersion === 'v1') || kind === 'CustomResourceDefinition';

async function placed(
  manifests: readonly Manifest[],
  kinds: Kinds,
  signal: AbortSignal,
  which?: 'those that are known',
): Promise<Placed[]> {
  const all = await Promise.all(
    manifests.map(async ({ addon, object }): Promise<Placed | undefined> => {
      try {
        const { apiVersion, kind, plural, isNamespaced } = await kinds.of(object, signal);
        const { name = '', namespace = 'default' } = object.metadata;
        const names = { apiVersion, kind, plural, isNamespaced, name, addon };
        return { item: isNamespaced ? { ...names, namespace } : names, object };
      } catch (error) {
        if (!hasCode(error, 'UnknownKind')) throw error;
        if (which) return undefined;
        throw failed(addon, object, error);
      }
    }),
  );
  return all.filter((one) => one !== undefined);
}

async function applyOne(options: ApplyAddonsOptions, { item, object }: Placed): Promise<void> {
  const { tenantClient, writes, signal, onApplied } = options;
  const { addon, namespace, ...kind } = item;
  const { name, labels: own, annotations } = object.metadata;
  const metadata = {
    name,
    ...(namespace === undefined ? {} : { namespace }),
    labels: { ...own, [labels.addon]: addon },
    ...(annotations === undefined ? {} : { annotations }),
  };
  const { status: _, ...wanted } = object;
  try {
    await writes.make('inside.addon', async () => {
      const type = kind as Kind<UnknownObject>;
      const applied = await tenantClient.apply(type, { ...wanted, metadata }, { fieldManager, force: true, signal });
      onApplied(item, applied.metadata.resourceVersion ?? '');
    });
  } catch (error) {
    if (signal.aborted) throw error;
    throw failed(addon, object, error);
  }
}

const failed = (addon: string, { kind, metadata }: UnknownObject, cause: unknown): AddonError => {
  const where = metadata.namespace === undefined ? '' : `${metadata.namespace}/`;
  const message = `addon "${addon}": failed to apply ${kind} "${where}${metadata.name}": ${asError(cause).message}`;
  return new AddonError('ApplyFailed', message, { cause });
};

const together = (before: readonly Item[], now: readonly Item[]): Item[] => {
  const ids = new Set(now.map(itemId));
  return [...now, ...before.filter((item) => !ids.has(itemId(item)))];
};

/** Deletes only objects that still have our label: a user can keep an object by removing it. */
async function prune(
  { tenantClient, writes, signal }: ApplyAddonsOptions,
  before: readonly Item[],
  now: readonly Item[],
) {
  const wanted = new Set(now.map(itemId));
  for (const item of before.filter((one) => !wanted.has(itemId(one)))) {
    if (item.kind === 'Namespace' && lasting.has(item.name)) continue;
    const kind: Kind<ApiObject> = item;
    const found = await find(tenantClient, kind, item, { signal });
    if (found?.metadata.labels?.[labels.addon] === undefined) continue;
    const preconditions = { uid: found.metadata.uid! };
    await writes.make('inside.addon-prune', () => tenantClient.delete(kind, item, { preconditions, signal }));
  }
}

const firstLookMs = 10;
const looksMax = 10;

/** Waits for at most ten seconds: then the objects are refused, and the pass is retried later. */
async function established({ tenantClient, clock, signal }: ApplyAddonsOptions, name: string): Promise<void> {
  for (let look = 0; look < looksMax; look++) {
    const found = await find(tenantClient, CustomResourceDefinition, { name }, { signal });
    if (isConditionTrue(found?.status?.conditions, 'Established')) return;
    await sleep(clock, firstLookMs * 2 ** look, signal);
  }
}
