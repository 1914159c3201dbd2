/** Maps the name in `count/widgets.example.com` to a kind for clients. */

import { apiVersionOf, builtinGroups } from '@hangar/api';
import { hasCode } from '@hangar/core';
import { defineKind, KindMapper } from '@hangar/client';
import type { Client, Kind } from '@hangar/client';
import type { ResourceId } from '../contract.ts';
import { keyOfResource } from './known-quotas.ts';

let builtin: ReadonlyMap<string, Kind> | undefined;

/** Returns the built-in kind of Kubernetes, in the version that every server prefers. */
function builtinKind(key: string): Kind | undefined {
  builtin ??= new Map(
    builtinGroups()
      // The preferred version comes first in the list: reversed, it comes last and wins.
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

/** For one count: the served resources may change until the next one. */
export class KindsOfResources {
  readonly #client: Client;
  #mapper: KindMapper | undefined;

  constructor(client: Client) {
    this.#client = client;
  }

  /** Returns undefined if it is not served, or is cluster-scoped. */
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
