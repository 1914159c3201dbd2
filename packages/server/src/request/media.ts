/**
 * Content negotiation. Accept headers repeat, so each is parsed once and cached; the cache is bounded, because headers come from
 * unauthenticated clients.
 */

import { notAcceptable, protobufMediaType, StatusError, unsupportedMediaType } from '@hangar/api';

export type Format = 'json' | 'yaml' | 'protobuf';

/** `as=`: another representation of the same data. */
export type Shape = 'Table' | 'PartialObjectMetadata' | 'PartialObjectMetadataList';

export interface Wanted {
  readonly format: Format;
  readonly shape: Shape | undefined;
  /** Version of the shape: `v1` or `v1beta1`. */
  readonly shapeVersion: string;
  /** Content-Type of the response. */
  readonly contentType: string;
}

export interface WantedOptions {
  /** Custom resources have no protobuf. */
  readonly hasProtobuf: boolean;
  readonly allowsShapes: boolean;
  /** Reviews have no table. Absent: there is one. */
  readonly hasTable?: boolean;
}

interface Clause {
  readonly type: string;
  readonly parameters: ReadonlyMap<string, string>;
  readonly quality: number;
}

const clausesOf = new Map<string, readonly Clause[]>();
const rememberedMax = 1_000;

function readAccept(header: string): readonly Clause[] {
  const known = clausesOf.get(header);
  if (known) return known;
  const clauses = header
    .split(',')
    .map(readClause)
    .filter(({ type }) => type !== '')
    .sort((a, b) => b.quality - a.quality);
  if (header.length < 1_000) {
    if (clausesOf.size >= rememberedMax) clausesOf.clear();
    clausesOf.set(header, clauses);
  }
  return clauses;
}

function readClause(text: string): Clause {
  const [type = '', ...rest] = text.split(';').map((part) => part.trim());
  const parameters = new Map<string, string>();
  for (const part of rest) {
    const at = part.indexOf('=');
    if (at > 0) parameters.set(part.slice(0, at).trim().toLowerCase(), part.slice(at + 1).replaceAll('"', ''));
  }
  const quality = Number(parameters.get('q') ?? 1);
  return { type: type.toLowerCase(), parameters, quality: Number.isFinite(quality) ? quality : 1 };
}

const formats: Readonly<Record<string, Format>> = {
  'application/json': 'json',
  'application/yaml': 'yaml',
  [protobufMediaType]: 'protobuf',
};

/** Names come from unauthenticated clients. */
const formatOf = (type: string): Format | undefined => (Object.hasOwn(formats, type) ? formats[type] : undefined);

const shapes = new Set(['Table', 'PartialObjectMetadata', 'PartialObjectMetadataList']);

const plainJson: Wanted = { format: 'json', shape: undefined, shapeVersion: '', contentType: 'application/json' };

/** Throws 406. */
export function wanted(accept: string | undefined, options: WantedOptions): Wanted {
  if (accept === undefined || accept === '' || accept === 'application/json' || accept === '*/*') return plainJson;
  for (const clause of readAccept(accept)) {
    const found = matching(clause, options);
    if (found) return found;
  }
  const accepted = ['application/json', 'application/yaml', ...(options.hasProtobuf ? [protobufMediaType] : [])].join(
    ', ',
  );
  // For entirely unsupported formats, the router of kube-apiserver answers with its own message.
  const isForeign = readAccept(accept).every(({ type }) => formatOf(type) === undefined);
  if (!isForeign || !options.hasProtobuf)
    throw notAcceptable(`only the following media types are accepted: ${accepted}`);
  throw new StatusError('NotAcceptable', `406: Not Acceptable\n\nAvailable representations: ${accepted}`, {
    details: {},
  });
}

function matching({ type, parameters }: Clause, options: WantedOptions): Wanted | undefined {
  const format = type === '*/*' || type === 'application/*' ? 'json' : formatOf(type);
  if (format === undefined || (format === 'protobuf' && !options.hasProtobuf)) {
    // Custom resources have no protobuf, but their tables and metadata do.
    if (format !== 'protobuf' || !parameters.has('as')) return undefined;
  }
  const shape = parameters.get('as');
  const contentType =
    format === 'json' ? 'application/json' : format === 'yaml' ? 'application/yaml' : protobufMediaType;
  if (shape === undefined) return { format, shape: undefined, shapeVersion: '', contentType };
  const version = parameters.get('v') ?? '';
  if (!options.allowsShapes || !shapes.has(shape) || parameters.get('g') !== 'meta.k8s.io') return undefined;
  if (version !== 'v1' && version !== 'v1beta1') return undefined;
  if (shape === 'Table' && options.hasTable === false) return undefined;
  return { format, shape: shape as Shape, shapeVersion: version, contentType };
}

/** Throws 415. A body without a type is JSON. */
export function sentFormat(contentType: string | undefined, hasProtobuf: boolean): Format {
  if (contentType === undefined || contentType === '' || contentType === 'application/json') return 'json';
  const type = contentType.split(';', 1)[0]!.trim().toLowerCase();
  const format = formatOf(type);
  if (format !== undefined && (format !== 'protobuf' || hasProtobuf)) return format;
  const accepted = ['application/json', 'application/yaml', ...(hasProtobuf ? [protobufMediaType] : [])];
  throw unsupportedMediaType(
    `the body of the request was in an unknown format - accepted media types include: ${accepted.join(', ')}`,
  );
}

export const patchTypes = {
  'application/json-patch+json': 'json',
  'application/merge-patch+json': 'merge',
  'application/strategic-merge-patch+json': 'strategic',
  'application/apply-patch+yaml': 'apply',
} as const;

export type PatchType = (typeof patchTypes)[keyof typeof patchTypes];

/** Throws 415. Custom resources do not support strategic merge. */
export function patchTypeOf(contentType: string | undefined, allowsStrategic: boolean): PatchType {
  const type = (contentType ?? '').split(';', 1)[0]!;
  const found = Object.hasOwn(patchTypes, type) ? patchTypes[type as keyof typeof patchTypes] : undefined;
  if (found !== undefined && (found !== 'strategic' || allowsStrategic)) return found;
  const accepted = Object.entries(patchTypes).flatMap(([name, one]) =>
    one === 'strategic' && !allowsStrategic ? [] : [name],
  );
  throw unsupportedMediaType(
    `the body of the request was in an unknown format - accepted media types include: ${accepted.join(', ')}`,
  );
}
