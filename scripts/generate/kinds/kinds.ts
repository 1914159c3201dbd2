/**
 * Generates `packages/client/src/kinds/`: a type and a value for every kind in the table, and the types that they refer to. A pure function
 * of the table: the same table gives the same bytes, formatted as `npm run format` does.
 */

import type { Table } from '../../../packages/api/src/builtin/table.ts';
import { fileOf, mainFileOf } from './layout.ts';
import { apiHome, declarationOf, valuesHome } from './types.ts';
import type { Declaration, TypeName } from './types.ts';
import { fileText, usesOf } from './write.ts';
import type { Declared, Resource } from './write.ts';

/** Kinds without their own path that clients and webhooks use. */
const spoken = [
  'admission/v1.AdmissionReview',
  'apiextensions/v1.ConversionReview',
  'meta/v1.Condition',
  'meta/v1.DeleteOptions',
  'meta/v1.LabelSelector',
  'meta/v1.Status',
];

/** File in the kinds' folder → its text. */
export function generateKinds(table: Table): Map<string, string> {
  const resources = resourcesOf(table);
  const declared = declarationsOf(table, [...resources.keys(), ...subresourceKinds(table), ...spoken]);
  const files = new Map<string, Declared[]>();
  for (const [id, { type, declaration }] of declared) {
    const resource = resources.get(id);
    const file = resource === undefined ? fileOf(type) : mainFileOf(type.home);
    const apiVersion = apiVersionOf(table, type.home);
    files.set(file, [...(files.get(file) ?? []), { type, apiVersion, declaration, resource }]);
  }
  const again = (main: string): string[] => {
    if (main === mainFileOf('meta/v1'))
      return ["export type { ManagedFieldsEntry, ObjectMeta, OwnerReference } from '@hangar/api/json';"];
    if (main !== mainFileOf('core/v1')) return [];
    const parts = [...files.keys()].filter((file) => file.startsWith('core/')).sort();
    return parts.map((part) => `export type * from './${part}';`);
  };
  return new Map(
    [...files].sort(([a], [b]) => (a < b ? -1 : 1)).map(([file, all]) => [file, fileText(file, all, again(file))]),
  );
}

const idOf = ({ home, name }: TypeName): string => `${home}.${name}`;

function typeOf(id: string): TypeName {
  const dot = id.lastIndexOf('.');
  return { home: id.slice(0, dot), name: id.slice(dot + 1) };
}

function apiVersionOf(table: Table, home: string): string {
  const group = home === 'meta/v1' ? '' : table.packages[home]!.group;
  const version = home.slice(home.indexOf('/') + 1);
  return group ? `${group}/${version}` : version;
}

function resourcesOf(table: Table): Map<string, Resource> {
  const resources = new Map<string, Resource>();
  for (const { package: home, resources: rows } of table.groups.flatMap(({ versions }) => versions)) {
    for (const { name, kind, namespaced = false } of rows) {
      resources.set(`${home}.${kind}`, { plural: name, isNamespaced: namespaced });
    }
  }
  return resources;
}

/** Kinds of subresources: scales, evictions, token requests. Options are sent in the query. */
function subresourceKinds(table: Table): string[] {
  const homes = new Map<string, string>();
  for (const { name: group, versions } of table.groups) {
    for (const version of versions) homes.set(`${group}/${version.name}`, version.package);
  }
  return table.groups
    .flatMap(({ name: group, versions }) =>
      versions.flatMap((version) =>
        version.resources.flatMap(({ subresources = [] }) =>
          subresources.map((row) => {
            const [kind = '', otherVersion = version.name, otherGroup = group] = row.kind.split('/').reverse();
            return `${homes.get(`${otherGroup}/${otherVersion}`)}.${kind}`;
          }),
        ),
      ),
    )
    .filter((id) => !id.endsWith('Options'));
}

/** The types that these refer to, sorted by id. */
function declarationsOf(
  table: Table,
  roots: readonly string[],
): [string, { type: TypeName; declaration: Declaration }][] {
  const found = new Map<string, { type: TypeName; declaration: Declaration }>();
  const waiting = roots.map(typeOf);
  for (let type = waiting.pop(); type !== undefined; type = waiting.pop()) {
    if (found.has(idOf(type)) || type.home === apiHome || type.home === valuesHome) continue;
    const declaration = declarationOf(table, type);
    found.set(idOf(type), { type, declaration });
    waiting.push(...usesOf(declaration));
  }
  return [...found].sort(([a], [b]) => (a < b ? -1 : 1));
}
