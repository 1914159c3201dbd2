/** The served kinds: notes, and introductions. */

import { declareKind, schema } from '@hangar/server/library';
import type { Kind, KindStorage, ObjectOf, TypeOf } from '@hangar/server/library';

const { list, object, optional, string } = schema;
const group = 'notes.example.com';
const version = 'v1';

const fields = object({
  spec: object({
    title: string({ maxLength: 80, description: 'Short title of the note.' }),
    text: optional(string({ maxLength: 10_000 })),
    tags: optional(list(string(), { 'x-kubernetes-list-type': 'set' })),
  }),
});

export type Note = ObjectOf<TypeOf<typeof fields>>;

export const notes = (storage: KindStorage<Note>): Kind => {
  const columns = [{ name: 'Title', type: 'string', jsonPath: '.spec.title' }];
  return declareKind({ group, version, kind: 'Note', plural: 'notes', schema: fields, columns, storage });
};

/** Not stored: the answer to a creation is the user, as this server sees it. */
export const introductions: Kind = declareKind({
  group,
  version,
  kind: 'Introduction',
  plural: 'introductions',
  scope: 'Cluster',
  schema: object({ user: optional(object({ name: string(), groups: list(string()) })) }),
  storage: { onCreate: (made, { user }) => ({ ...made, user: { name: user.name, groups: [...user.groups] } }) },
});
