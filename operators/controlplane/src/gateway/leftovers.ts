/**
 * Finds all routes of a control plane that is being deleted. Reads from the server: a route that a cache has not seen yet must not stay
 * behind.
 */

import { find } from '@hangar/client';
import type { Kind } from '@hangar/client';
import { CustomResourceDefinition } from '@hangar/client/kinds/apiextensions-v1';
import { hasCode } from '@hangar/core';
import { labels, labelValue } from '../api/index.ts';
import type { Pass } from '../control-plane/world.ts';
import { definitionName, servedRoute } from './tls-route.ts';
import type { TlsRoute } from './tls-route.ts';

export interface RoutesLeft {
  readonly kind: Kind<TlsRoute>;
  readonly items: readonly TlsRoute[];
}

/** Undefined: the management plane does not serve routes. */
export async function routesLeft({ client, apiReader, controlPlane, signal }: Pass): Promise<RoutesLeft | undefined> {
  const kind = servedRoute(await find(client, CustomResourceDefinition, { name: definitionName }, { signal }));
  if (!kind) return undefined;
  const labelSelector = { [labels.name]: labelValue(controlPlane.metadata.name!) };
  try {
    const { items } = await apiReader.list(kind, { labelSelector, signal });
    return { kind, items };
  } catch (error) {
    // The definition was just deleted, with all routes.
    if (hasCode(error, 'NotFound')) return undefined;
    throw error;
  }
}
