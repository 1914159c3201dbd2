/** Decodes a body to an object of the requested resource. Errors are those of kube-apiserver, and unknown fields are dropped or refused. */

import {
  ApiError,
  badRequest,
  bodyWeightMax,
  decodeProtobuf,
  invalid,
  invalidObject,
  isObject,
  openEnvelope,
  parseApiVersion,
  parseJson,
  quote,
  schemaOf,
  tooLarge,
} from '@hangar/api';
import type { JsonObject, KubeObject, RepeatedKeys } from '@hangar/api';
import type { Slicer } from '@hangar/core';
import type { Format } from '../request/media.ts';
import type { FieldValidation } from '../request/options.ts';
import type { Resource } from '../resources/resource.ts';
import { parseYamlBody } from './yaml-body.ts';

/** The part of a resource that the decoder uses; kinds that are not resources, such as Eviction, have it too. */
export type Decodable = Pick<Resource, 'kind' | 'apiVersion' | 'group' | 'version' | 'struct' | 'read'> & {
  readonly strategy: Pick<Resource['strategy'], 'applyDefaults'>;
};

export interface DecodeOptions {
  readonly resource: Decodable;
  readonly format: Format;
  readonly fieldValidation: FieldValidation;
  /** Name of the control plane: control planes take turns in parsing large YAML bodies. */
  readonly controlPlane: string;
  /** Large bodies are decoded in slices. */
  readonly slicer: Slicer;
  warn(text: string): void;
}

/** The body as JSON data, with its repeated fields. */
interface Parsed {
  readonly value: unknown;
  readonly repeated: RepeatedKeys | undefined;
  /** Problems of YAML, whose keys are compared as text. */
  readonly problems: readonly string[];
}

/** Rejects with 400, 413 or 422. The object is defaulted. */
export async function decodeObject(bytes: Uint8Array, options: DecodeOptions): Promise<KubeObject> {
  const { resource, slicer } = options;
  const { value: parsed, repeated, problems: repeatedInYaml } = await parse(bytes, options);
  await slicer.pause();
  // Go's decoder treats null as an empty object.
  const value = parsed === null && resource.struct ? {} : parsed;
  if (!isObject(value)) throw notAnObject(value, resource, bytes);
  const { apiVersion, kind } = typeOf(value, resource, bytes);
  if (kind !== resource.kind || apiVersion !== resource.apiVersion)
    throw wrongType(resource, { apiVersion, kind, name: nameOf(value) });
  const { object, error, problems } = resource.read(value, repeated);
  if (error !== undefined) throw undecodable(resource, kind, error);
  await slicer.pause();
  reportProblems([...repeatedInYaml, ...problems], options, (text) => undecodable(resource, kind, text));
  resource.strategy.applyDefaults(object);
  await slicer.pause();
  return object;
}

/** Refuses, warns of, or ignores unknown and repeated fields. */
export function reportProblems(
  problems: readonly string[],
  options: Pick<DecodeOptions, 'fieldValidation' | 'warn'>,
  refuse: (text: string) => Error,
): void {
  if (problems.length === 0 || options.fieldValidation === 'Ignore') return;
  if (options.fieldValidation === 'Strict') throw refuse(`strict decoding error: ${problems.join(', ')}`);
  for (const problem of problems) options.warn(problem);
}

async function parse(bytes: Uint8Array, given: DecodeOptions): Promise<Parsed> {
  const { resource, format, fieldValidation, controlPlane } = given;
  const options = { findRepeated: fieldValidation !== 'Ignore', weightMax: bodyWeightMax };
  try {
    switch (format) {
      case 'json':
        return { ...parseJson(bytes, options), problems: [] };
      case 'yaml':
        return { ...(await parseYamlBody(bytes, { ...options, controlPlane })), repeated: undefined };
      case 'protobuf':
        return { value: fromProtobuf(bytes, resource), repeated: undefined, problems: [] };
    }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (error.code === 'TooLarge') throw tooLarge(error.message);
    const known = format === 'protobuf' ? kindOfEnvelope(bytes) : '';
    if (known !== '') throw undecodable(resource, known, error.message, error);
    const where = format === 'json' ? `couldn't get version/kind; json parse error: ` : '';
    throw unrecognized(resource, `${where}${error.message}`, bytes, error);
  }
}

function fromProtobuf(bytes: Uint8Array, resource: Decodable): JsonObject {
  return decodeProtobuf(bytes, { apiVersion: resource.apiVersion, kind: resource.kind });
}

function kindOfEnvelope(bytes: Uint8Array): string {
  try {
    return openEnvelope(bytes).kind;
  } catch {
    return '';
  }
}

/** Omitted fields are taken from the path; custom resources must have their kind. */
function typeOf(value: JsonObject, resource: Decodable, bytes: Uint8Array): { apiVersion: string; kind: string } {
  const { apiVersion, kind } = value;
  for (const one of [apiVersion, kind]) {
    if (one === undefined || one === null || typeof one === 'string') continue;
    const field = one === apiVersion ? 'apiVersion' : 'kind';
    const message = `couldn't get version/kind; json parse error: json: cannot unmarshal ${goType(one)} into Go struct field .${field} of type string`;
    throw unrecognized(resource, message, bytes, undefined);
  }
  if (!resource.struct && !kind) {
    const shown = Buffer.from(bytes).toString();
    throw unrecognized(resource, `Object 'Kind' is missing in '${shown}'`, bytes, undefined);
  }
  return { apiVersion: (apiVersion as string) || resource.apiVersion, kind: (kind as string) || resource.kind };
}

function nameOf({ metadata }: JsonObject): string {
  const name = isObject(metadata) ? metadata['name'] : undefined;
  return typeof name === 'string' ? name : '';
}

const goType = (value: unknown): string =>
  Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value;

function wrongType(
  resource: Decodable,
  { apiVersion, kind, name }: { apiVersion: string; kind: string; name: string },
): Error {
  const { version } = parseApiVersion(apiVersion);
  const known = schemaOf(apiVersion, kind);
  if (!known && resource.struct) {
    const message = `no kind ${quote(kind)} is registered for version ${quote(apiVersion)} in scheme "pkg/runtime/scheme.go:111"`;
    return badRequest(`${kind} in version ${quote(version)} cannot be handled as a ${resource.kind}: ${message}`);
  }
  if (kind !== resource.kind && resource.struct) {
    const from = `${version}.${kind}`;
    const into = `${resource.group.split('.')[0] || 'core'}.${resource.kind}`;
    return undecodable(resource, kind, `converting (${from}) to (${into}): unknown conversion`);
  }
  if (apiVersion === resource.apiVersion) {
    return invalidObject({ group: resource.group, kind }, name, [invalid('kind', kind, `must be ${resource.kind}`)]);
  }
  return badRequest(
    `the API version in the data (${apiVersion}) does not match the expected API version (${resource.apiVersion})`,
  );
}

const undecodable = (resource: Decodable, kind: string, message: string, cause?: unknown): Error =>
  badRequest(
    `${kind} in version ${quote(resource.version)} cannot be handled as a ${resource.kind}: ${message}`,
    cause,
  );

function notAnObject(value: unknown, resource: Decodable, bytes: Uint8Array): Error {
  if (value === null || value === undefined) {
    return badRequest(`the object provided is unrecognized (must be of type ${resource.kind}): <nil>`);
  }
  const message = `couldn't get version/kind; json parse error: json: cannot unmarshal ${goType(value)} into Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }`;
  return unrecognized(resource, message, bytes, undefined);
}

function unrecognized(resource: Decodable, message: string, bytes: Uint8Array, cause: unknown): Error {
  return badRequest(
    `the object provided is unrecognized (must be of type ${resource.kind}): ${message} (${summary(bytes)})`,
    cause,
  );
}

/** Returns the first bytes of the body: as text if it looks like JSON, else in hexadecimal. */
function summary(bytes: Uint8Array): string {
  if (bytes.length === 0) return '<empty>';
  const first = Buffer.from(bytes.subarray(0, 30));
  const text = bytes[0] === 0x7b ? first.toString() : first.toString('hex');
  return bytes.length > 30 ? `${text} ...` : text;
}
