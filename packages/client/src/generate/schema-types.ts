/**
 * Converts structural schemas (OpenAPI v3 as in Kubernetes) to TypeScript. Objects with fields become separate interfaces, named by their
 * path: `WidgetSpec`, `WidgetSpecPortsItem`. Pure validation (`allOf`, `pattern`, rules) is not part of a type and is omitted.
 */

import { isObject } from '@hangar/api/json';
import type { JsonObject } from '@hangar/api/json';
import { comment, fieldName, literal, pascalCase } from './words.ts';
import type { Names } from './words.ts';

/** Maximum depth of types; API servers reject deeper definitions for their size. */
const depthMax = 64;

/** Collects interfaces while it generates types. */
export class SchemaTypes {
  readonly #names: Names;
  readonly #interfaces: string[] = [];
  /** Used names of the client module. */
  readonly imports = new Set<string>();

  constructor(names: Names) {
    this.#names = names;
  }

  /** In order of generation. */
  get interfaces(): readonly string[] {
    return this.#interfaces;
  }

  /** Adds an interface with this name, which is reserved already. */
  declare(name: string, schema: JsonObject, options: InterfaceOptions): void {
    const at = this.#interfaces.length;
    this.#interfaces.push('');
    const parent = options.isResource ? this.#use('ApiObject') : undefined;
    const body = [...(options.first ?? []), ...this.#fields(schema, name, options)];
    if (isOpen(schema)) body.push('  [field: string]: unknown;\n');
    const head = `${comment(options.comment ?? '')}export interface ${name}${parent ? ` extends ${parent}` : ''}`;
    this.#interfaces[at] = body.length === 0 ? `${head} {}\n` : `${head} {\n${body.join('')}}\n`;
  }

  #fields(schema: JsonObject, name: string, { isResource = false, depth = 0 }: InterfaceOptions): string[] {
    const required = new Set(Array.isArray(schema['required']) ? schema['required'] : []);
    return Object.entries(objectOf(schema['properties'])).flatMap(([field, of]) => {
      // Inherited by every object, with better types.
      if (isResource && ['apiVersion', 'kind', 'metadata'].includes(field)) return [];
      const inner = objectOf(of);
      const type = this.#type(inner, `${name}${pascalCase(field)}`, depth + 1);
      return `${comment(describe(inner), '  ')}  ${fieldName(field)}${required.has(field) ? '' : '?'}: ${type};\n`;
    });
  }

  /** `place` is the name for an interface at this path. */
  #type(schema: JsonObject, place: string, depth: number): string {
    const type = depth > depthMax ? 'unknown' : this.#plainType(schema, place, depth);
    return schema['nullable'] === true && type !== 'unknown' ? `${type} | null` : type;
  }

  #plainType(schema: JsonObject, place: string, depth: number): string {
    if (schema['x-kubernetes-int-or-string'] === true) return 'number | string';
    const values = enumType(schema['enum']);
    if (values !== undefined) return values;
    switch (schema['type']) {
      case 'string':
        return 'string';
      case 'integer':
      case 'number':
        return 'number';
      case 'boolean':
        return 'boolean';
      case 'array':
        return this.#listType(objectOf(schema['items']), `${place}Item`, depth + 1);
      case 'object':
        return this.#objectType(schema, place, depth);
      default:
        return 'unknown';
    }
  }

  #listType(items: JsonObject, place: string, depth: number): string {
    const type = this.#type(items, place, depth);
    return isUnion(items, type) ? `(${type})[]` : `${type}[]`;
  }

  #objectType(schema: JsonObject, place: string, depth: number): string {
    const isResource = schema['x-kubernetes-embedded-resource'] === true;
    if (Object.keys(objectOf(schema['properties'])).length > 0) {
      const name = this.#names.take(place);
      this.declare(name, schema, { isResource, depth });
      return name;
    }
    if (isResource) return this.#use('UnknownObject');
    const { additionalProperties } = schema;
    if (isObject(additionalProperties)) {
      return `Record<string, ${this.#type(additionalProperties, `${place}Value`, depth + 1)}>`;
    }
    // The server prunes all fields that the schema does not declare.
    return isOpen(schema) || additionalProperties === true ? 'Record<string, unknown>' : 'Record<string, never>';
  }

  #use(name: string): string {
    this.imports.add(name);
    return name;
  }
}

export interface InterfaceOptions {
  /** True if it has apiVersion, kind and metadata. */
  readonly isResource?: boolean;
  readonly comment?: string;
  /** Lines before the fields. */
  readonly first?: readonly string[];
  readonly depth?: number;
}

export const objectOf = (value: unknown): JsonObject => (isObject(value) ? value : {});

const isOpen = (schema: JsonObject): boolean => schema['x-kubernetes-preserve-unknown-fields'] === true;

/** Reports whether the generated type is a union, which needs parentheses in a list. */
const isUnion = (schema: JsonObject, type: string): boolean =>
  type !== 'unknown' &&
  (schema['nullable'] === true ||
    schema['x-kubernetes-int-or-string'] === true ||
    (enumType(schema['enum']) !== undefined && (schema['enum'] as unknown[]).length > 1));

/** Returns undefined if it is open, or has values that are not literals. */
function enumType(values: unknown): string | undefined {
  if (!Array.isArray(values) || values.length === 0) return undefined;
  const texts = values.map((value) => {
    if (typeof value === 'string') return literal(value);
    return value === null || typeof value === 'boolean' || isPlainNumber(value) ? String(value) : undefined;
  });
  return texts.includes(undefined) ? undefined : [...new Set(texts)].join(' | ');
}

const isPlainNumber = (value: unknown): boolean => typeof value === 'number' && Number.isFinite(value);

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** Returns the description and the default value. */
function describe(schema: JsonObject): string {
  const description = textOf(schema['description']);
  if (schema['default'] === undefined) return description;
  const value = JSON.stringify(schema['default']);
  return `${description}${description === '' ? '' : '\n'}Default: ${value.length > 100 ? 'see its definition' : value}`;
}
