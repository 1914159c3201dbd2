/**
 * The form in which kube-apiserver validates a definition: parts that all versions have in common are at the top, and not in the versions.
 * Paths of errors (`spec.validation.openAPIV3Schema…`) come from this form.
 */

import { deepEqual } from '../structural/canonical.ts';
import type {
  Conversion,
  DefinitionSpec,
  DefinitionVersion,
  PrinterColumn,
  ResourceNames,
  SelectableField,
  Subresources,
  WebhookService,
} from '../custom-resource-definition.ts';
import { isSet } from '../json-schema.ts';
import type { JsonSchema } from '../json-schema.ts';

/** Parts that may be in a version or at the top. */
export interface Shared {
  readonly validation: { readonly openAPIV3Schema?: JsonSchema } | undefined;
  readonly subresources: Subresources | undefined;
  readonly columns: readonly PrinterColumn[] | undefined;
  readonly selectableFields: readonly SelectableField[] | undefined;
}

export interface InternalVersion extends Shared {
  readonly name: string;
  readonly served: boolean;
  readonly storage: boolean;
  readonly deprecated: boolean;
  readonly deprecationWarning: string | undefined;
}

export interface InternalConversion {
  readonly strategy: string;
  readonly client: { readonly url?: string; readonly service?: WebhookService; readonly caBundle?: string } | undefined;
  readonly reviewVersions: readonly string[];
}

export interface InternalSpec extends Shared {
  readonly group: string;
  /** The first of the versions. */
  readonly version: string;
  readonly names: ResourceNames;
  readonly scope: string;
  readonly versions: readonly InternalVersion[];
  /** An absent list is shown as null, an empty one as it is. */
  readonly hasVersionList: boolean;
  readonly conversion: InternalConversion | undefined;
  readonly preservesUnknownFields: boolean;
}

export function internalSpec(spec: DefinitionSpec): InternalSpec {
  const versions = (spec.versions ?? []).map(internalVersion);
  const [first] = versions;
  const isCommon = (name: keyof Shared): boolean =>
    first !== undefined && versions.every((version) => deepEqual(version[name], first[name]));
  const common: Record<string, unknown> = {};
  const cleared: Record<string, undefined> = {};
  for (const name of ['validation', 'subresources', 'columns', 'selectableFields'] as const) {
    if (!isCommon(name)) continue;
    common[name] = first![name];
    cleared[name] = undefined;
  }
  return {
    group: spec.group ?? '',
    version: first?.name ?? '',
    names: spec.names,
    scope: spec.scope ?? '',
    validation: undefined,
    subresources: undefined,
    columns: undefined,
    selectableFields: undefined,
    ...(common as Partial<Shared>),
    versions: versions.map((version) => ({ ...version, ...cleared })),
    hasVersionList: isSet(spec.versions),
    conversion: spec.conversion && internalConversion(spec.conversion),
    preservesUnknownFields: spec.preserveUnknownFields ?? false,
  };
}

function internalVersion(version: DefinitionVersion): InternalVersion {
  const { additionalPrinterColumns: columns, selectableFields } = version;
  return {
    name: version.name ?? '',
    served: version.served ?? false,
    storage: version.storage ?? false,
    deprecated: version.deprecated ?? false,
    deprecationWarning: version.deprecationWarning ?? undefined,
    validation: version.schema ?? undefined,
    subresources: version.subresources ?? undefined,
    columns: columns?.length ? columns : undefined,
    selectableFields: selectableFields?.length ? selectableFields : undefined,
  };
}

function internalConversion({ strategy, webhook }: Conversion): InternalConversion {
  return {
    strategy: strategy ?? '',
    client: webhook?.clientConfig ?? undefined,
    reviewVersions: webhook?.conversionReviewVersions ?? [],
  };
}
