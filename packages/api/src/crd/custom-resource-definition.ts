/** A CustomResourceDefinition as decoded: each field has the type of the built-in schema, but may be absent. */

import type { KubeObject } from '../object.ts';
import type { JsonSchema } from './json-schema.ts';

export interface ResourceNames {
  plural: string;
  singular?: string;
  shortNames?: string[];
  kind: string;
  listKind?: string;
  categories?: string[];
}

export interface PrinterColumn {
  readonly name: string;
  readonly type: string;
  readonly format?: string;
  readonly description?: string;
  readonly priority?: number;
  readonly jsonPath: string;
}

export interface ScaleSubresource {
  readonly specReplicasPath: string;
  readonly statusReplicasPath: string;
  readonly labelSelectorPath?: string;
}

export interface Subresources {
  readonly status?: object;
  readonly scale?: ScaleSubresource;
}

export interface SelectableField {
  readonly jsonPath: string;
}

export interface DefinitionVersion {
  readonly name: string;
  readonly served: boolean;
  readonly storage: boolean;
  readonly deprecated?: boolean;
  readonly deprecationWarning?: string;
  readonly schema?: { readonly openAPIV3Schema?: JsonSchema };
  readonly subresources?: Subresources;
  readonly additionalPrinterColumns?: readonly PrinterColumn[];
  readonly selectableFields?: readonly SelectableField[];
}

export interface WebhookService {
  readonly namespace: string;
  readonly name: string;
  readonly path?: string;
  port?: number;
}

export interface Conversion {
  readonly strategy: string;
  readonly webhook?: {
    readonly clientConfig?: { readonly url?: string; readonly service?: WebhookService; readonly caBundle?: string };
    readonly conversionReviewVersions: readonly string[];
  };
}

export interface DefinitionSpec {
  readonly group: string;
  readonly names: ResourceNames;
  readonly scope: string;
  readonly versions: readonly DefinitionVersion[];
  conversion?: Conversion;
  readonly preserveUnknownFields?: boolean;
}

export interface DefinitionCondition {
  readonly type: string;
  readonly status: string;
  readonly lastTransitionTime?: string | null;
  readonly reason?: string;
  readonly message?: string;
  readonly observedGeneration?: number;
}

export interface DefinitionStatus {
  conditions?: DefinitionCondition[] | null;
  acceptedNames?: ResourceNames;
  storedVersions?: string[] | null;
  observedGeneration?: number;
}

export interface CustomResourceDefinition extends KubeObject {
  spec: DefinitionSpec;
  status?: DefinitionStatus;
}

/** Casts a decoded `KubeObject` of this kind. */
export const asDefinition = (object: KubeObject): CustomResourceDefinition => object as CustomResourceDefinition;

export const isTrue = (definition: CustomResourceDefinition, condition: string): boolean =>
  definition.status?.conditions?.find(({ type }) => type === condition)?.status === 'True';
