/** The part of a namespace controller that these tests need: what is being deleted loses its Secrets, and then itself. */

import type { Client } from '@hangar/client';
import { Namespace, Secret } from '@hangar/client/kinds/core-v1';

export function namespaceEnder(client: Client): { stop(): Promise<void> } {
  const ending = new AbortController();
  const end = async (namespace: Namespace): Promise<void> => {
    const name = namespace.metadata.name!;
    await client.deleteCollection(Secret, { namespace: name });
    const { uid, resourceVersion } = namespace.metadata;
    await client
      .subresource('finalize')
      .update(Namespace, { metadata: { name, uid, resourceVersion }, spec: {} } as Namespace);
  };
  const watching = async (): Promise<void> => {
    for await (const event of client.watch(Namespace, {
      signal: ending.signal,
      sendInitialEvents: true,
      resourceVersionMatch: 'NotOlderThan',
    })) {
      if (event.type !== 'ADDED' && event.type !== 'MODIFIED') continue;
      if (event.object.metadata.deletionTimestamp !== undefined) await end(event.object).catch(() => undefined);
    }
  };
  const watched = watching().catch(() => undefined);
  return {
    async stop() {
      ending.abort();
      await watched;
    },
  };
}
