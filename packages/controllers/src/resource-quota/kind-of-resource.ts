/** From the name in `count/widgets.example.com` to a kind that can be asked for. */

import { apiVersionOf, builtinGroups } from '@hangar/api';
import { hasCode } from '@hangar/core';
import { defineKind, KindMapper } from '@hangar/client';
import type { Client, Kind } from '@hangar/client';
import type { ResourceId } from '../contract.ts';
import { keyOfResource } from './known-quotas.ts';

let builtin: ReadonlyMap<string, Kind> | undefined;

/** Kubernetes' own, in the version that every server prefers. */
function builtinKind(key: string): Kind | undefined {
  builtin ??= new Map(
    builtinGroups()
      // The preferred version is the first one: it must come last.
      .flatMap(({ versions }) => versions.toReversed())
      .flatMap(({ resources }) => resources)
      .filter(({ namespaced, isServedByDefault }) => namespaced && isServedByDefault)
      .map((one) => [
        keyOfResource({ group: one.group, resource: one.name }),
        defineKind({ apiVersion: apiVersionOf(one), kind: one.kind, plural: one.name, isNamespaced: true }),
      ]),
  );
  return builtin.get(key);
}

/** For one count: what a control plane serves may be another the next time. */
export class KindsOfResources {
  readonly #client: Client;
  #mapper: KindMapper | undefined;

  constructor(client: Client) {
    this.#client = client;
  }

  /** Undefined: it is not served, or its objects are in no namespace. */
  async find(resource: ResourceId, signal: AbortSignal): Promise<Kind | undefined> {
    const key = keyOfResource(resource);
    const known = builtinKind(key);
    if (known || resource.group === '') return known;
    this.#mapper ??= new KindMapper(this.#client);
    try {
      const found = await this.#mapper.resource(key, { signal });
      const isIt = found.plural === resource.resource && found.group === resource.group;
      return isIt && found.isNamespaced && found.verbs.includes('list') ? found : undefined;
    } catch (error) {
      if (hasCode(error, 'UnknownKind')) return undefined;
      throw error;
    }
  }
}
