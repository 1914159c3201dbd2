/**
 * OpenAPI 2 (Swagger 2.0): one document of everything, which older clients and `kubectl diff` read. It is built on request, so a change of
 * the served resources costs nothing until then.
 */

import { release } from '../builtin/schemas.ts';
import { by } from '../discovery/order.ts';
import { isCustomGroup } from '../discovery/model.ts';
import type { ServedGroup } from '../discovery/model.ts';
import type { JsonObject } from '../object.ts';
import { Definitions } from './definitions.ts';
import { methods, reasons } from './operations.ts';
import type { Operation, PathItem } from './operations.ts';
import { liftCommon } from './parameters.ts';
import type { Parameter } from './parameters.ts';
import { resourcePaths } from './resource-paths.ts';
import { discoveryOfGroup, discoveryOfVersion, serverPaths } from './server-paths.ts';

/** Returns an object: pass it to `JSON.stringify`, or write it by `openApiV2Protobuf`. */
export function openApiV2(groups: readonly ServedGroup[]): JsonObject {
  const writer = documentWriter(groups);
  const { definitions, shared } = writer;
  const sorted = pathItems(groups).sort(by(({ path }) => path));
  const paths = Object.fromEntries(sorted.map((item) => [item.path, writeItem(item, writer)]));
  return {
    ...documentHead(),
    paths,
    definitions: definitions.toJson(),
    parameters: Object.fromEntries([...shared].sort(by(([key]) => key))),
    ...documentTail,
  };
}

/** The part before the paths. */
export const documentHead = (): JsonObject => ({
  swagger: '2.0',
  info: { title: 'Kubernetes', version: release.split('.').slice(0, 2).join('.') },
});

/** The part after the parameters. */
export const documentTail: JsonObject = {
  securityDefinitions: { BearerToken: { type: 'apiKey', name: 'authorization', in: 'header' } },
  security: [{ BearerToken: [] }],
};

/** Writer of a document, or a part of one, in which these groups are served. */
export function documentWriter(groups: readonly ServedGroup[]): DocumentWriter {
  const groupVersions = groups
    .filter((group) => !isCustomGroup(group))
    .flatMap(({ name, versions }) => versions.map((version) => ({ group: name, version: version.name })))
    .filter(({ group }) => group !== '')
    .sort(by(({ group, version }) => `${group} ${version}`));
  return { definitions: new Definitions({ dialect: 'v2', groupVersions }), shared: new Map() };
}

export interface DocumentWriter {
  readonly definitions: Definitions;
  /** Shared parameters, which operations refer to. */
  readonly shared: Map<string, JsonObject>;
}

/** Returns the path items of the whole document. */
export function pathItems(groups: readonly ServedGroup[]): PathItem[] {
  const items = Object.values(serverPaths());
  for (const group of groups) {
    if (group.name !== '' && !isCustomGroup(group)) items.push(discoveryOfGroup(group.name));
    for (const version of group.versions) {
      const where = { group: group.name, version: version.name };
      if (version.resources.some(({ schema }) => schema.type === 'builtin')) items.push(discoveryOfVersion(where));
      items.push(...version.resources.flatMap((resource) => resourcePaths(where, resource)));
    }
  }
  return items;
}

export function writeItem({ operations }: PathItem, writer: DocumentWriter): JsonObject {
  const ordered = methods.flatMap((method) => operations.filter((one) => one.method === method));
  const { common, rest } = liftCommon(ordered.map(({ parameters }) => parameters));
  const written = ordered.map((one, index) => [one.method, writeOperation(one, rest[index]!, writer)]);
  return {
    ...(Object.fromEntries(written) as JsonObject),
    ...(common.length > 0 ? { parameters: common.map((one) => writeParameter(one, writer)) } : {}),
  };
}

function writeOperation(operation: Operation, rest: readonly Parameter[], writer: DocumentWriter): JsonObject {
  const { id, tag, action, kind, consumes, produces, body, answer, codes } = operation;
  const parameters = [...(body ? [writeBody(body, writer)] : []), ...rest.map((one) => writeParameter(one, writer))];
  const schema = answer ? writer.definitions.refTo(answer) : { type: 'string' };
  return {
    ...(consumes.length > 0 ? { consumes } : {}),
    produces,
    schemes: ['https'],
    tags: [tag],
    operationId: id,
    ...(parameters.length > 0 ? { parameters } : {}),
    responses: {
      ...Object.fromEntries(codes.map((code) => [code, { description: reasons[code], schema }])),
      401: { description: 'Unauthorized' },
    },
    ...(action === undefined ? {} : { 'x-kubernetes-action': action }),
    ...(kind ? { 'x-kubernetes-group-version-kind': kind } : {}),
  };
}

function writeBody(
  { schema, isRequired }: NonNullable<Operation['body']>,
  { definitions }: DocumentWriter,
): JsonObject {
  return { name: 'body', in: 'body', ...(isRequired ? { required: true } : {}), schema: definitions.refTo(schema) };
}

/** Clients read these from the operation itself and do not follow references. */
const neverShared = new Set(['dryRun', 'fieldValidation', 'name']);

function writeParameter({ name, in: place, type }: Parameter, { shared }: DocumentWriter): JsonObject {
  const written = { uniqueItems: true, type, name, in: place, ...(place === 'path' ? { required: true } : {}) };
  if (neverShared.has(name)) return written;
  const key = `${name}-${place}`;
  shared.set(key, written);
  return { $ref: `#/parameters/${key}` };
}
