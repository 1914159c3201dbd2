/** The kind Search: a query that is created and never stored. The response has the results. */

import { declareKind, schema } from '@hangar/server/library';
import type { CreateOnly, Kind, ObjectOf, TypeOf } from '@hangar/server/library';
import { queryLengthMax } from '../query/parse.ts';

const { boolean, integer, list, number, object, optional, string } = schema;

export const limitDefault = 50;
export const limitMax = 500;
const clustersMax = 100;

const result = object({
  cluster: string({ description: 'Control plane of the object.' }),
  apiVersion: string(),
  kind: string(),
  namespace: optional(string()),
  name: string(),
  uid: string(),
  resourceVersion: string({ description: 'Version of the object in the index.' }),
  snippet: optional(string({ description: 'Text of the object around the first word of the query.' })),
  score: number({ description: '1: all words are in the name. 0.5: in the name or labels. 0.25: anywhere.' }),
});

const incomplete = object({
  reason: string({ description: 'CamelCase reason.' }),
  message: string(),
});

const fields = object({
  spec: object({
    query: string({
      maxLength: queryLengthMax,
      description:
        'Words, "phrases", prefix*, -excluded words, and the filters kind:, group:, namespace:, name:, cluster: (or project:) and label:key=value. All must match.',
    }),
    limit: optional(
      integer({ minimum: 1, maximum: limitMax, default: limitDefault, description: 'Maximum number of results.' }),
    ),
    continue: optional(string({ maxLength: 512, description: 'status.continue of the previous page.' })),
    clusters: optional(
      list(string({ maxLength: 253 }), {
        maxItems: clustersMax,
        description: 'Limits the search to these control planes.',
      }),
    ),
  }),
  status: optional(
    object({
      results: list(result),
      continue: optional(string({ description: 'Present if there may be more results.' })),
      incomplete: optional(incomplete),
      generation: string({ description: 'Generation of the index that answered.' }),
      rebuilding: optional(boolean({ description: 'True: a new generation of the index is being built.' })),
    }),
  ),
});

export type Search = ObjectOf<TypeOf<typeof fields>>;
export type SearchSpec = Search['spec'];
export type SearchStatus = NonNullable<Search['status']>;
export type SearchResult = SearchStatus['results'][number];

export const searchGroup = 'search.miloapis.com';
export const searchVersion = 'v1alpha1';

/** Declares the kind; `storage` answers the queries. */
export const searchKind = (storage: CreateOnly<Search>): Kind =>
  declareKind({
    group: searchGroup,
    version: searchVersion,
    kind: 'Search',
    plural: 'searches',
    scope: 'Cluster',
    schema: fields,
    storage,
  });
