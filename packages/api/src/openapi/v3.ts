/**
 * OpenAPI 3: one document for each group-version, listed with hashes, so that clients read only the ones they need and may cache them
 * forever. A document is built on request; its hash is computed from its inputs, which is much cheaper: the list never needs the documents.
 */

import { release } from '../builtin/schemas.ts';
import type { GroupVersion } from '../builtin/schemas.ts';
import { hashOf } from '../discovery/etag.ts';
import { by } from '../discovery/order.ts';
import { isCustomGroup, pathOfVersion } from '../discovery/model.ts';
import type { ServedGroup, ServedVersion } from '../discovery/model.ts';
import type { JsonObject } from '../object.ts';
import { Definitions } from './definitions.ts';
import { methods, reasons } from './operations.ts';
import type { Operation, PathItem } from './operations.ts';
import { liftCommon } from './parameters.ts';
import type { Parameter } from './parameters.ts';
import { resourcePaths } from './resource-paths.ts';
import { discoveryOfGroup, discoveryOfVersion, serverPaths } from './server-paths.ts';

/** Increment it when documents change for the same input: clients cache a document by its hash. */
export const documentFormat = 3;

export interface OpenApiV3Source {
  /** `api/v1`, `apis/apps/v1`, `version`: after `/openapi/v3/`. */
  readonly path: string;
  /** Hash of the document, without quotes: in the URL's query and, quoted, in the ETag. */
  readonly hash: string;
  build(): Buffer;
}

/** Returns every served document, by path. Cheap: nothing is built. Hashes of unchanged versions are cached. */
export function openApiV3Sources(groups: readonly ServedGroup[]): Map<string, OpenApiV3Source> {
  const sources = Object.entries(serverPaths()).map(([path, item]) => sourceOfItem(path, item));
  for (const group of groups) {
    // A group that exists only through definitions has no separate document.
    if (group.name !== '' && !isCustomGroup(group)) {
      sources.push(sourceOfItem(`apis/${group.name}`, discoveryOfGroup(group.name)));
    }
    for (const version of group.versions) sources.push(sourceOfVersion(group.name, version));
  }
  return new Map(sources.sort(by(({ path }) => path)).map((source) => [source.path, source]));
}

/** `/openapi/v3`. */
export function openApiV3Root(sources: ReadonlyMap<string, OpenApiV3Source>): JsonObject {
  const entries = [...sources.values()].map(({ path, hash }) => [
    path,
    { serverRelativeURL: `/openapi/v3/${path}?hash=${hash}` },
  ]);
  return { paths: Object.fromEntries(entries) as JsonObject };
}

function sourceOfItem(path: string, item: PathItem): OpenApiV3Source {
  const build = (): Buffer => documentOf([item], { title: 'Kubernetes', isSecured: true }, []);
  return { path, hash: hashOf(JSON.stringify([documentFormat, release, item])), build };
}

const hashes = new WeakMap<ServedVersion, string>();

function sourceOfVersion(group: string, version: ServedVersion): OpenApiV3Source {
  const where = { group, version: version.name };
  let hash = hashes.get(version);
  if (hash === undefined) {
    hash = hashOf(JSON.stringify([documentFormat, release, where, version.resources.map(inputOf)]));
    hashes.set(version, hash);
  }
  return { path: pathOfVersion(where), hash, build: () => openApiV3(where, version) };
}

/** A built-in schema is identified by its name: its content depends on the release alone. */
const inputOf = ({ schema, ...rest }: ServedVersion['resources'][number]): unknown[] => [
  rest,
  schema.type === 'builtin' ? schema.struct.id : schema,
];

/** The document of a group-version, as JSON. */
export function openApiV3(where: GroupVersion, version: ServedVersion): Buffer {
  const items = version.resources.flatMap((resource) => resourcePaths(where, resource));
  const isCustom = version.resources.every(({ schema }) => schema.type === 'custom');
  if (isCustom) return documentOf(items, { title: 'Kubernetes CRD Swagger', isSecured: false }, []);
  const others = where.group === '' ? [] : [where];
  return documentOf([discoveryOfVersion(where), ...items], { title: 'Kubernetes', isSecured: true }, others);
}

function documentOf(
  items: readonly PathItem[],
  { title, isSecured }: { readonly title: string; readonly isSecured: boolean },
  groupVersions: readonly GroupVersion[],
): Buffer {
  const definitions = new Definitions({ dialect: 'v3', groupVersions });
  const sorted = [...items].sort(by(({ path }) => path));
  const paths = Object.fromEntries(sorted.map((item) => [item.path, writeItem(item, definitions)]));
  const schemas = definitions.toJson();
  const version = isSecured ? release.split('.').slice(0, 2).join('.') : 'v0.1.0';
  const components = {
    ...(Object.keys(schemas).length > 0 ? { schemas } : {}),
    ...(isSecured ? { securitySchemes: { BearerToken: { type: 'apiKey', name: 'authorization', in: 'header' } } } : {}),
  };
  return Buffer.from(JSON.stringify({ openapi: '3.0.0', info: { title, version }, paths, components }));
}

function writeItem({ operations }: PathItem, definitions: Definitions): JsonObject {
  const ordered = methods.flatMap((method) => operations.filter((one) => one.method === method));
  const { common, rest } = liftCommon(ordered.map(({ parameters }) => parameters));
  const written = ordered.map((one, index) => [one.method, writeOperation(one, rest[index]!, definitions)]);
  return {
    ...(Object.fromEntries(written) as JsonObject),
    ...(common.length > 0 ? { parameters: common.map(writeParameter) } : {}),
  };
}

function writeOperation(operation: Operation, parameters: readonly Parameter[], definitions: Definitions): JsonObject {
  const { id, tag, action, kind, consumes, produces, body, answer, codes } = operation;
  const contentOf = (types: readonly string[], schema: JsonObject): JsonObject =>
    Object.fromEntries([...types].sort().map((type) => [type, { schema }]));
  const content = contentOf(produces, answer ? definitions.refTo(answer) : { type: 'string' });
  return {
    tags: [tag],
    operationId: id,
    ...(parameters.length > 0 ? { parameters: parameters.map(writeParameter) } : {}),
    ...(body
      ? {
          requestBody: {
            content: contentOf(consumes, definitions.refTo(body.schema)),
            ...(body.isRequired ? { required: true } : {}),
          },
        }
      : {}),
    responses: {
      ...Object.fromEntries(codes.map((code) => [code, { description: reasons[code], content }])),
      401: { description: 'Unauthorized' },
    },
    ...(action === undefined ? {} : { 'x-kubernetes-action': action }),
    ...(kind ? { 'x-kubernetes-group-version-kind': kind } : {}),
  };
}

function writeParameter({ name, in: place, type }: Parameter): JsonObject {
  return { name, in: place, ...(place === 'path' ? { required: true } : {}), schema: { type, uniqueItems: true } };
}
