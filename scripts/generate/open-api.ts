/** Reads facts from the published OpenAPI v3 documents that Go types do not contain: required, list and map types, patches, defaults. */

import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Sources } from './modules.ts';

export interface OpenApiSchema {
  readonly $ref?: string;
  readonly type?: string;
  readonly format?: string;
  readonly default?: unknown;
  readonly enum?: readonly string[];
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, OpenApiSchema>>;
  readonly items?: OpenApiSchema;
  readonly additionalProperties?: OpenApiSchema;
  readonly allOf?: readonly OpenApiSchema[];
  readonly 'x-kubernetes-list-type'?: string;
  readonly 'x-kubernetes-list-map-keys'?: readonly string[];
  readonly 'x-kubernetes-map-type'?: string;
  readonly 'x-kubernetes-patch-strategy'?: string;
  readonly 'x-kubernetes-patch-merge-key'?: string;
  readonly 'x-kubernetes-unions'?: readonly OpenApiUnion[];
  readonly 'x-kubernetes-group-version-kind'?: readonly { group: string; version: string; kind: string }[];
}

export interface OpenApiUnion {
  readonly discriminator?: string;
  readonly 'fields-to-discriminateBy': Readonly<Record<string, string>>;
}

export type OpenApiSchemas = ReadonlyMap<string, OpenApiSchema>;

export async function readOpenApi(from: Sources): Promise<OpenApiSchemas> {
  const folder = join(from.kubernetes, 'api/openapi-spec/v3');
  const schemas = new Map<string, OpenApiSchema>();
  for (const file of (await readdir(folder)).filter((name) => name.endsWith('.json')).sort()) {
    const document = JSON.parse(await readFile(join(folder, file), 'utf8')) as {
      components?: { schemas?: Record<string, OpenApiSchema> };
    };
    for (const [name, schema] of Object.entries(document.components?.schemas ?? {})) schemas.set(name, schema);
  }
  return schemas;
}
