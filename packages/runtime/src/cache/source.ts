/** The source of the objects of an informer: one kind of one cluster, in one namespace or all, with optional selectors. */

import type { ApiObject, Client, Kind, ListOptions, ObjectList, Watch, WatchOptions } from '@hangar/client';
import type { InformerOptions } from './contract.ts';

export interface Source<T extends ApiObject> {
  list(options: ListOptions): Promise<ObjectList<T>>;
  watch(options: WatchOptions): Watch<T>;
}

export type SourceOptions<T extends ApiObject> = Pick<
  InformerOptions<T>,
  'namespace' | 'labelSelector' | 'fieldSelector' | 'metadataOnly'
>;

export function sourceOf<T extends ApiObject>(
  client: Pick<Client, 'list' | 'watch' | 'metadata'>,
  kind: Kind<T>,
  { namespace, labelSelector, fieldSelector, metadataOnly }: SourceOptions<T>,
): Source<T> {
  const reader = metadataOnly ? client.metadata : client;
  const selected: ListOptions = { namespace, labelSelector, fieldSelector };
  return {
    list: (options) => reader.list(kind, { ...selected, ...options }),
    watch: (options) => reader.watch(kind, { ...selected, ...options }),
  };
}
