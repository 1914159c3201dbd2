/** One version of a definition, ready to serve custom resources. */

import type { KubeObject } from '../../object.ts';
import { fieldErrorText } from '../../status/field-error.ts';
import type { Strategy } from '../../strategy/contract.ts';
import type { DefinitionVersion, PrinterColumn } from '../custom-resource-definition.ts';
import { asDefinition } from '../custom-resource-definition.ts';
import { defaultsProblem, dropNulls } from '../structural/defaults.ts';
import { coerceEmbedded, readMetadata } from '../structural/embedded.ts';
import { pruneUnknown } from '../structural/prune.ts';
import { compiledSchema } from './compiled-schema.ts';
import type { CompiledSchema } from './compiled-schema.ts';
import { findSelectable } from './selectable.ts';
import { ScaleMapping } from './scale.ts';
import { CustomResourceStrategy } from './strategy.ts';
import { compareVersions } from './version-order.ts';

export interface Decoding {
  /** Error if the object cannot be read; shown after `<Kind> in version "<version>" cannot be handled as a <Kind>: `. */
  readonly error?: string;
  /** `unknown field "spec.foo"`, for fieldValidation Strict and Warn. */
  readonly problems: readonly string[];
}

const defaultColumns: readonly PrinterColumn[] = [
  { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
];

export class CompiledVersion {
  readonly name: string;
  readonly group: string;
  readonly kind: string;
  readonly isNamespaced: boolean;
  readonly strategy: Strategy;
  readonly hasStatus: boolean;
  readonly scale: ScaleMapping | undefined;
  readonly printerColumns: readonly PrinterColumn[];
  /** Names for field selectors, such as `spec.color`. */
  readonly selectableFields: readonly string[];
  /** For `Warning` headers of every request, when the version is deprecated. */
  readonly deprecationWarning: string | undefined;
  readonly schema: CompiledSchema | undefined;
  readonly #keepsUnknown: boolean;

  constructor(crd: KubeObject, version: DefinitionVersion) {
    const { spec, status } = asDefinition(crd);
    const schema = version.schema?.openAPIV3Schema;
    this.name = version.name;
    this.group = spec.group;
    this.kind = status?.acceptedNames?.kind || spec.names.kind;
    this.isNamespaced = spec.scope === 'Namespaced';
    this.schema = schema && compiledSchema(schema);
    this.hasStatus = (version.subresources?.status ?? undefined) !== undefined;
    const scale = version.subresources?.scale ?? undefined;
    this.scale = scale && new ScaleMapping(scale);
    this.#keepsUnknown = spec.preserveUnknownFields ?? false;
    this.printerColumns = version.additionalPrinterColumns?.length ? version.additionalPrinterColumns : defaultColumns;
    this.selectableFields = (version.selectableFields ?? []).map(({ jsonPath }) => jsonPath.replace(/^\./, ''));
    this.deprecationWarning = version.deprecated ? deprecationText(crd, version) : undefined;
    this.strategy = new CustomResourceStrategy({
      apiVersion: `${spec.group}/${version.name}`,
      kind: this.kind,
      schema: this.schema,
      hasStatus: this.hasStatus,
      scale: this.scale,
    });
  }

  /**
   * Decodes a custom resource in place: metadata takes its canonical form, unknown fields and nulls that the schema does not allow are
   * removed, embedded metadata is sanitised. The strategy sets defaults. After an error the object must not be used.
   */
  decode(object: KubeObject): Decoding {
    const unknown: string[] = [];
    if (Object.hasOwn(object, 'metadata')) {
      const read = readMetadata(object.metadata);
      if (read.metadata === undefined) return { error: read.error ?? '', problems: [] };
      for (const field of read.unknown) unknown.push(`metadata.${field}`);
      object.metadata = read.metadata as KubeObject['metadata'];
    }
    const problems = [...unknown.map(unknownField), ...this.prune(object)];
    const { error, unknown: embedded } = this.coerceMetadata(object);
    if (error !== undefined) return { error, problems: [] };
    return { problems: [...problems, ...embedded.map(unknownField)] };
  }

  /** Removes unknown fields and forbidden nulls; returns `unknown field "spec.foo"` for each unknown field. */
  prune(object: KubeObject): string[] {
    if (this.#keepsUnknown) return [];
    const node = this.schema?.node;
    const removed = pruneUnknown(object, node, true);
    dropNulls(object, node);
    return removed.map(unknownField);
  }

  /** Sanitises the metadata of embedded resources. */
  coerceMetadata(object: KubeObject): { readonly error: string | undefined; readonly unknown: readonly string[] } {
    const node = this.schema?.node;
    if (!node?.hasEmbedded) return { error: undefined, unknown: [] };
    const { error, unknown } = coerceEmbedded(object, node);
    return { error: error && fieldErrorText(error), unknown };
  }

  /**
   * Sets defaults, for objects that are read or converted. An object whose defaults are too large stays without them: one such object must
   * not make a list or a deletion fail.
   */
  defaultObject(object: KubeObject): void {
    if (this.schema !== undefined) defaultsProblem(object, this.schema.node);
  }

  /** Values of the selectable fields by name, as field selectors compare them. */
  fieldsOf(object: KubeObject): Readonly<Record<string, string>> {
    return Object.fromEntries(this.selectableFields.map((name) => [name, findSelectable(object, name)]));
  }
}

const unknownField = (path: string): string => `unknown field "${path}"`;

function deprecationText(crd: KubeObject, version: DefinitionVersion): string {
  if (typeof version.deprecationWarning === 'string') return version.deprecationWarning;
  const { group, names, versions } = asDefinition(crd).spec;
  const text = `${group}/${version.name} ${names.kind} is deprecated`;
  const [better] = versions
    .filter(({ served, deprecated, name }) => served && !deprecated && compareVersions(version.name, name) < 0)
    .map(({ name }) => name)
    .sort((a, b) => compareVersions(b, a));
  return better === undefined ? text : `${text}; use ${group}/${better} ${names.kind}`;
}

/** Undefined when the definition has no such version. */
export function compileVersion(crd: KubeObject, versionName: string): CompiledVersion | undefined {
  const version = asDefinition(crd).spec.versions.find(({ name }) => name === versionName);
  return version && new CompiledVersion(crd, version);
}
