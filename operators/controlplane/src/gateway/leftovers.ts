/** The routes of a control plane that goes, wherever they are. Asked of the server: what a cache does not know yet must not stay behind. */

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

/** Undefined: the management plane has no routes at all. */
export async function routesLeft({ client, apiReader, controlPlane, signal }: Pass): Promise<RoutesLeft | undefined> {
  const kind = servedRoute(await find(client, CustomResourceDefinition, { name: definitionName }, { signal }));
  if (!kind) return undefined;
  const labelSelector = { [labels.name]: labelValue(controlPlane.metadata.name!) };
  try {
    const { items } = await apiReader.list(kind, { labelSelector, signal });
    return { kind, items };
  } catch (error) {
    // The definition went a moment ago, and everything with it.
    if (hasCode(error, 'NotFound')) return undefined;
    throw error;
  }
}
