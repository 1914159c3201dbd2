/** The paths of one resource and its subresources, built in or custom, by its verbs. */

import { apiVersionOf, schemaOf } from '../builtin/schemas.ts';
import type { GroupVersion } from '../builtin/schemas.ts';
import { pathOfVersion } from '../discovery/model.ts';
import type { ServedResource, ServedSubresource } from '../discovery/model.ts';
import { connectPaths } from './connect-paths.ts';
import { customListSchema, customSchema } from './custom-schema.ts';
import type { NamedSchema } from './definitions.ts';
import { title } from './operations.ts';
import type { Operation, PathItem } from './operations.ts';
import { pathParameters } from './parameters.ts';
import { ResourceOperations } from './resource-operations.ts';
import type { Target } from './resource-operations.ts';
import { structSchema } from './struct-schema.ts';

export function resourcePaths(where: GroupVersion, resource: ServedResource): PathItem[] {
  const { name, kind, namespaced, verbs, subresources, schema } = resource;
  const root = `/${pathOfVersion(where)}`;
  const inner = namespaced ? `/namespaces/{namespace}/${name}` : `/${name}`;
  const operations = new ResourceOperations(where, resource);
  const everywhere: Target = {
    schema: schema.type === 'builtin' ? structSchema(schema.struct) : customSchema(where, resource),
    kind: { group: where.group, version: where.version, kind },
    scope: [],
    title: `${kind}ForAllNamespaces`,
  };
  const collection: Target = {
    ...everywhere,
    scope: namespaced ? [pathParameters.namespace] : [],
    title: namespaced ? `Namespaced${kind}` : kind,
  };
  const object: Target = { ...collection, scope: [...collection.scope, pathParameters.name] };
  const listSchema = listSchemaOf(where, resource);

  const inCollection: Operation[] = [];
  if (verbs.includes('list')) inCollection.push(operations.list(collection, listSchema()));
  if (verbs.includes('create')) inCollection.push(operations.create(collection));
  if (verbs.includes('deletecollection')) inCollection.push(operations.deleteCollection(collection));
  const onObject = readAndWrite(operations, verbs, object);
  if (verbs.includes('delete')) onObject.push(operations.delete(object));

  const items: PathItem[] = [
    { path: root + inner, operations: inCollection },
    { path: `${root}${inner}/{name}`, operations: onObject },
  ];
  for (const subresource of subresources) {
    const path = `${root}${inner}/{name}/${subresource.name}`;
    items.push(...subresourcePaths(path, { where, resource, operations, object, subresource }));
  }
  if (namespaced && verbs.includes('list')) {
    items.push({ path: `${root}/${name}`, operations: [operations.list(everywhere, listSchema())] });
  }
  // Watches of built-in resources also have the older separate paths; custom resources do not.
  if (verbs.includes('watch') && schema.type === 'builtin') {
    const watchAll = { ...collection, title: `${collection.title}List` };
    items.push({ path: `${root}/watch${inner}`, operations: [operations.watch(watchAll, 'watchlist')] });
    items.push({ path: `${root}/watch${inner}/{name}`, operations: [operations.watch(object, 'watch')] });
    if (namespaced) {
      const watchEverywhere = { ...everywhere, title: `${kind}ListForAllNamespaces` };
      items.push({ path: `${root}/watch/${name}`, operations: [operations.watch(watchEverywhere, 'watchlist')] });
    }
  }
  return items.filter((item) => item.operations.length > 0);
}

/** A function, because resources that cannot be listed have no list kind. */
const listSchemaOf = (where: GroupVersion, resource: ServedResource) => (): NamedSchema =>
  resource.schema.type === 'builtin'
    ? structSchema(schemaOf(apiVersionOf(where), `${resource.kind}List`)!)
    : customListSchema(where, resource);

function readAndWrite(operations: ResourceOperations, verbs: readonly string[], target: Target): Operation[] {
  const found: Operation[] = [];
  if (verbs.includes('get')) found.push(operations.read(target));
  if (verbs.includes('update')) found.push(operations.replace(target));
  if (verbs.includes('patch')) found.push(operations.patch(target));
  return found;
}

interface SubresourceFacts {
  readonly where: GroupVersion;
  readonly resource: ServedResource;
  readonly operations: ResourceOperations;
  readonly object: Target;
  readonly subresource: ServedSubresource;
}

function subresourcePaths(path: string, facts: SubresourceFacts): PathItem[] {
  const { where, resource, operations, object, subresource } = facts;
  const { name, group, version, kind, verbs } = subresource;
  if (kind.endsWith('Options')) return connectPaths(path, { where, object, subresource });
  const isOwnKind = kind === resource.kind;
  const target: Target = {
    ...object,
    schema: isOwnKind ? object.schema : structSchema(schemaOf(apiVersionOf(subresource), kind)!),
    // For the scale of a custom resource, kube-apiserver's documents name the kind of the resource.
    kind: resource.schema.type === 'custom' ? object.kind : { group, version, kind },
    title: object.title + title(name),
  };
  if (name === 'log') return [{ path, operations: [operations.log(target)] }];
  const found = readAndWrite(operations, verbs, target);
  if (verbs.includes('create')) found.push(operations.create(target));
  return [{ path, operations: found }];
}
