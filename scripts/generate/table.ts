/** Combines the facts: one JSON document, sorted, the same bytes for the same sources. */

import { join } from 'node:path';
import { defaultColumns, readColumns, readUnprinted } from './columns.ts';
import type { Column } from './columns.ts';
import { readDiscovery, storageVersionOf } from './discovery.ts';
import type { DiscoveredGroup, DiscoveredResource } from './discovery.ts';
import { readGoPackage } from './go-source.ts';
import type { Sources } from './modules.ts';
import { definition, isKind } from './notation.ts';
import type { Facts, PackageFacts } from './notation.ts';
import { readOpenApi } from './open-api.ts';
import { apiPackages } from './packages.ts';
import { readProto } from './proto-source.ts';
import { readStoragePrefixes } from './storage.ts';

/** Go folder of a group, where it is not the group's first word. */
const folders: Readonly<Record<string, string>> = { '': 'core', 'internal.apiserver.k8s.io': 'apiserverinternal' };
const folderOf = (group: string): string => folders[group] ?? group.split('.')[0]!;

export async function generateTable(from: Sources): Promise<string> {
  const groups = await readDiscovery(from);
  const facts = await readFacts(from, groups);
  const document = {
    release: from.release,
    groups: await groupTable(from, groups, facts),
    packages: packageTable(facts),
  };
  return `${JSON.stringify(document, null, 2)}\n`;
}

async function readFacts(from: Sources, groups: readonly DiscoveredGroup[]): Promise<Facts> {
  const served = groups
    .filter(({ name }) => !['apiextensions.k8s.io', 'apiregistration.k8s.io'].includes(name))
    .flatMap(({ name, versions }) => versions.map((version) => `${folderOf(name)}/${version.name}`));
  const packages = new Map<string, PackageFacts>();
  for (const api of apiPackages(from, new Set(served))) {
    packages.set(api.id, { api, go: await readGoPackage(api.folder), proto: await readProto(api.folder) });
  }
  const folder = join(from.apimachinery, 'pkg/types');
  const api = { id: 'types', importPath: 'k8s.io/apimachinery/pkg/types', folder, openApi: '' };
  packages.set('types', { api, go: await readGoPackage(folder), proto: new Map() });
  return { packages, openApi: await readOpenApi(from) };
}

/** Registered without the embedded TypeMeta that marks the other kinds. */
const kindsWithoutTypeMeta = ['meta/v1.WatchEvent', 'core/v1.List'];

function packageTable(facts: Facts): Record<string, unknown> {
  const definitions = new Map<string, string>();
  const waiting = [...kindsWithoutTypeMeta];
  for (const [id, { go }] of facts.packages) {
    if (go.group === undefined && id !== 'meta/v1') continue;
    for (const struct of go.structs.values()) if (isKind(struct)) waiting.push(`${id}.${struct.name}`);
  }
  for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
    if (definitions.has(id)) continue;
    const [, home, name] = /^(.+)\.(\w+)$/.exec(id)!;
    definitions.set(id, '');
    definitions.set(
      id,
      definition(facts, facts.packages.get(home!)!, name!, (used) => waiting.push(used)),
    );
  }
  const sorted = [...definitions].sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(
    [...facts.packages].map(([id, { api, go }]) => {
      const types = sorted
        .filter(([type]) => type.startsWith(`${id}.`))
        .map(([type, text]) => [type.slice(id.length + 1), text]);
      return [
        id,
        {
          ...(id === 'types' ? {} : { group: go.group ?? '', openApi: api.openApi }),
          types: Object.fromEntries(types),
        },
      ];
    }),
  );
}

async function groupTable(from: Sources, groups: readonly DiscoveredGroup[], facts: Facts): Promise<unknown[]> {
  const columns = await readColumns(from);
  const unprinted = await readUnprinted(from);
  const prefixOf = await readStoragePrefixes(from);
  return groups.map((group) => ({
    name: group.name,
    versions: group.versions.map((version) => {
      const id = `${folderOf(group.name)}/${version.name}`;
      if (!facts.packages.has(id)) throw new Error(`discovery has ${id}, the Go packages do not`);
      const main = version.resources.filter(({ name }) => !name.includes('/'));
      const names = new Set(version.resources.map(({ name }) => name.split('/')[0]!));
      if (names.size !== main.length) throw new Error(`${id} has subresources of a resource that is not there`);
      const rowOf = (resource: DiscoveredResource): object => {
        const stored = storageVersionOf(resource, groups);
        const folder = printedFolder(group.name, stored);
        const isPrinted = !unprinted.has(`${folder}.${resource.name}`);
        const subresources = version.resources.filter(({ name }) => name.startsWith(`${resource.name}/`));
        return {
          ...resourceFacts(resource),
          ...namesOf(resource),
          ...(stored === undefined ? {} : { stored, prefix: prefixOf(group.name, resource.name) }),
          ...columnFacts(resource, isPrinted ? columns.get(`${folder}.${resource.kind}`) : undefined),
          ...(subresources.length > 0 ? { subresources: subresources.map(resourceFacts) } : {}),
        };
      };
      return { name: version.name, package: id, resources: main.map(rowOf) };
    }),
  }));
}

/** Kinds that are stored in another group (events) are printed as that group's kind. */
function printedFolder(group: string, stored: string | undefined): string {
  return folderOf(stored === undefined ? group : stored.includes('/') ? stored.split('/')[0]! : '');
}

function namesOf({ kind, singularName, namespaced, shortNames, categories }: DiscoveredResource): object {
  return {
    ...(singularName === kind.toLowerCase() ? {} : { singular: singularName }),
    ...(namespaced ? { namespaced } : {}),
    ...(shortNames ? { shortNames: shortNames.join() } : {}),
    ...(categories ? { categories: [...categories].sort().join() } : {}),
  };
}

const everyVerb = 'create,delete,deletecollection,get,list,patch,update,watch';

function resourceFacts({ name, kind, group, version, verbs }: DiscoveredResource): object {
  const joined = [...verbs].sort().join(',');
  return {
    name: name.split('/').at(-1),
    kind: group !== undefined && version !== undefined ? `${group}/${version}/${kind}` : kind,
    ...(joined === everyVerb ? {} : { verbs: joined }),
  };
}

/** `name:type:format:priority`, without defaults: `string`, no format, priority 0. */
function columnFacts(resource: DiscoveredResource, columns: readonly Column[] = defaultColumns): object {
  if (!resource.verbs.includes('list')) return {};
  const text = columns.map(({ name, type, format, priority }) =>
    [name, type === 'string' ? '' : type, format, priority || ''].join(':').replace(/:+$/, ''),
  );
  return { columns: text.join(';') };
}
