/**
 * The quotas of one namespace in the store. Concurrent requests are charged in one conditional write. If another writer, in this server or
 * another, changes the quotas first, all of them are evaluated again. Usage is thus stored before the objects are, and never exceeds the
 * quota.
 */

import { conflict, formatTime, staleObject, updateManagedFields } from '@hangar/api';
import type { KubeObject } from '@hangar/api';
import { isEqual, listOf, readQuota } from '@hangar/api/quota';
import type { Quota } from '@hangar/api/quota';
import { prefixRange } from '@hangar/store';
import type { Entry, Write } from '@hangar/store';
import { collectionPrefix } from '../../../control-plane.ts';
import type { ControlPlane } from '../../../control-plane.ts';
import type { AdmissionRequest } from '../../admission.ts';
import { charge } from './check.ts';
import { evaluatorFor } from './evaluator-for.ts';

export const quotaResource = { group: '', version: 'v1', resource: 'resourcequotas' };

/** Maximum number of attempts after conflicting writes. */
const attemptsMax = 10;

interface Waiting {
  readonly request: AdmissionRequest;
  grant(): void;
  refuse(reason: unknown): void;
}

export class Ledger {
  readonly #plane: ControlPlane;
  readonly #namespace: string;
  #waiting: Waiting[] = [];
  #isRunning = false;

  constructor(plane: ControlPlane, namespace: string) {
    this.#plane = plane;
    this.#namespace = namespace;
  }

  /** Resolves when the request is charged; rejects if it exceeds a quota. */
  charge(request: AdmissionRequest): Promise<void> {
    return new Promise((grant, refuse) => {
      this.#waiting.push({ request, grant, refuse });
      if (!this.#isRunning) void this.#run();
    });
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    while (this.#waiting.length > 0) {
      const together = this.#waiting.splice(0);
      try {
        await this.#chargeTogether(together);
      } catch (error) {
        for (const { refuse } of together) refuse(error);
      }
    }
    this.#isRunning = false;
  }

  async #chargeTogether(together: readonly Waiting[]): Promise<void> {
    const resource = this.#plane.catalogue.find(quotaResource)!;
    const range = prefixRange(collectionPrefix(this.#plane, resource, this.#namespace));
    for (let attempt = 1; ; attempt++) {
      const { entries } = await this.#plane.store.range(range);
      const objects = entries.map((entry) => resource.stored.object(entry));
      const before = objects.map(readQuota);
      const { quotas, refused } = chargeAll(together, before);
      const changed = quotas.flatMap((quota, at) => (isEqual(quota.used, before[at]!.used) ? [] : [at]));
      const writes = changed.map((at) => this.#write(entries[at]!, objects[at]!, quotas[at]!));
      const result = writes.length === 0 ? undefined : await this.#plane.store.commit(writes);
      if (!result || result.committed) return settle(together, refused);
      if (attempt === attemptsMax) {
        throw conflict({ group: '', resource: quotaResource.resource }, before[changed[0]!]!.name, staleObject);
      }
    }
  }

  #write(entry: Entry, object: KubeObject, { used }: Quota): Write {
    const resource = this.#plane.catalogue.find(quotaResource)!;
    const live = structuredClone(object);
    object['status'] = { ...(object['status'] as object), used: listOf(used) };
    updateManagedFields({
      type: resource.mergeType,
      live,
      object,
      manager: 'kube-apiserver',
      apiVersion: resource.apiVersion,
      subresource: 'status',
      now: formatTime(Math.floor(this.#plane.clock.now() / 1_000), 'second')!,
      resetFields: resource.strategy.resetFields('status'),
    });
    return { type: 'put', key: entry.key, value: resource.stored.encode(object), expected: entry.modRevision };
  }
}

/** Charges the requests in order: each sees the usage of those before it. */
function chargeAll(
  together: readonly Waiting[],
  before: readonly Quota[],
): { quotas: readonly Quota[]; refused: ReadonlyMap<Waiting, unknown> } {
  const refused = new Map<Waiting, unknown>();
  let quotas = before;
  for (const one of together) {
    try {
      const charged = charge(one.request, evaluatorFor(one.request.resource)!, quotas);
      if (!one.request.isDryRun) quotas = charged;
    } catch (error) {
      refused.set(one, error);
    }
  }
  return { quotas, refused };
}

function settle(together: readonly Waiting[], refused: ReadonlyMap<Waiting, unknown>): void {
  for (const one of together) {
    if (refused.has(one)) one.refuse(refused.get(one));
    else one.grant();
  }
}
