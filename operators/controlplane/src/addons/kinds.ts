/** Resolves the kind of a manifest: Kubernetes' own kinds are built in, all others come from discovery of the control plane. */

import { builtinGroups, parseApiVersion } from '@hangar/api';
import { KindMapper } from '@hangar/client';
import type { Client, KindNames, UnknownObject } from '@hangar/client';
import type { Clock } from '@hangar/core';

export class Kinds {
  readonly #mapper: KindMapper;

  constructor(tenantClient: Client, clock: Clock) {
    // A definition that was just applied must be visible at once.
    this.#mapper = new KindMapper(tenantClient, { clock, refreshEveryMsMin: 0 });
  }

  /** Rejects with `UnknownKind`. */
  async of({ apiVersion, kind }: UnknownObject, signal?: AbortSignal): Promise<KindNames> {
    return builtinKind(apiVersion, kind) ?? this.#mapper.kind(apiVersion, kind, { signal });
  }
}

function builtinKind(apiVersion: string, kind: string): KindNames | undefined {
  const { group, version } = parseApiVersion(apiVersion);
  const resources = builtinGroups()
    .find(({ name }) => name === group)
    ?.versions.find(({ name }) => name === version)?.resources;
  const found = resources?.find((one) => one.kind === kind && !one.name.includes('/'));
  return found && { apiVersion, kind, plural: found.name, isNamespaced: found.namespaced };
}
