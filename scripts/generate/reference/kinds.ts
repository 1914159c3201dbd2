/** docs/reference/kinds.md: every field of every kind of Hangar, from the definitions that servers validate with. */

import type { CustomResourceDefinition, JSONSchemaProps } from '@hangar/client/kinds/apiextensions-v1';

interface Row {
  readonly path: string;
  readonly type: string;
  readonly about: string;
}

/** Fields of every object, documented once. */
const common = new Set(['apiVersion', 'kind', 'metadata']);
/** Standard conditions: type, status, observedGeneration, lastTransitionTime, reason, message. */
const conditions = 'status.conditions';

export const kindsPage = (header: string, definitions: readonly CustomResourceDefinition[]): string =>
  [
    '# Kinds',
    `<!-- ${header} -->`,
    'Kinds of hosted control planes are namespaced, all others are cluster-scoped. All except HostedControlPlaneTemplate have a status subresource with conditions. [Concepts](../concepts.md) explains their relations.',
    ...definitions.map(kindSection),
    '',
  ].join('\n\n');

function kindSection({ spec }: CustomResourceDefinition): string {
  const { group, names } = spec!;
  const version = spec!.versions[0]!;
  const schema = version.schema!.openAPIV3Schema!;
  const called = [names.plural, ...(names.shortNames ?? [])].map((name) => `\`${name}\``).join(', ');
  const categories = (names.categories ?? []).map((name) => `\`kubectl get ${name}\``).join(', ');
  const columns = version.additionalPrinterColumns?.map(({ name, priority }) => (priority ? `${name} (wide)` : name));
  const rules = [...rulesIn(schema)];
  return [
    `## ${names.kind}`,
    `\`${group}/${version.name}\`: ${schema.description ?? ''}`,
    `kubectl knows it as ${called}${categories ? `, and lists it with ${categories}` : ''}. Columns: ${columns?.join(', ') ?? 'Name, Age'}.`,
    table([...rows(schema, '', (name) => !common.has(name))]),
    ...(rules.length > 0 ? [`Validation rules:`, rules.map((rule) => `- ${rule}`).join('\n')] : []),
  ].join('\n\n');
}

const table = (all: readonly Row[]): string =>
  [
    '| field | type | |',
    '|---|---|---|',
    ...all.map(({ path, type, about }) => `| \`${path}\` | ${type} | ${about} |`),
  ].join('\n');

function* rows(schema: JSONSchemaProps, above: string, wanted = (_name: string): boolean => true): Generator<Row> {
  for (const [name, field] of Object.entries(schema.properties ?? {})) {
    if (!wanted(name)) continue;
    const path = above === '' ? name : `${above}.${name}`;
    yield { path, type: typeOf(field), about: aboutField(field, schema.required?.includes(name) ?? false) };
    if (path !== conditions) yield* below(field, path);
  }
}

function* below(field: JSONSchemaProps, path: string): Generator<Row> {
  if (field.properties) yield* rows(field, path);
  const { items, additionalProperties } = field as { items?: JSONSchemaProps; additionalProperties?: JSONSchemaProps };
  if (items?.properties) yield* rows(items, `${path}[]`);
  if (additionalProperties?.properties) yield* rows(additionalProperties, `${path}.*`);
}

function typeOf({ type, enum: values, items, format, additionalProperties }: JSONSchemaProps): string {
  if (values) return (values as unknown as string[]).map((value) => `\`${value}\``).join(' or ');
  if (type === 'array') return `list of ${typeOf(items as JSONSchemaProps)}`;
  if (additionalProperties) return `map to ${typeOf(additionalProperties as JSONSchemaProps)}`;
  return format ?? type ?? 'any';
}

function aboutField(field: JSONSchemaProps, isRequired: boolean): string {
  const { description = '', default: byDefault, maxLength, maxItems, pattern } = field;
  const limits = [
    ...(isRequired ? ['Required.'] : []),
    ...(byDefault === undefined ? [] : [`Default: \`${JSON.stringify(byDefault)}\`.`]),
    ...(maxLength === undefined ? [] : [`At most ${maxLength} characters.`]),
    ...(maxItems === undefined ? [] : [`At most ${maxItems}.`]),
    ...(pattern === undefined ? [] : [`Matches \`${pattern}\`.`]),
  ];
  return [description, ...limits].join(' ').trim().replaceAll('|', '\\|').replaceAll('<', '&lt;').replaceAll('\n', ' ');
}

/** Returns the messages of the rules, as clients receive them. */
function* rulesIn(schema: JSONSchemaProps): Generator<string> {
  for (const { message, rule } of schema['x-kubernetes-validations'] ?? []) yield message ?? `\`${rule}\``;
  for (const field of Object.values(schema.properties ?? {})) yield* rulesIn(field);
  const { items } = schema as { items?: JSONSchemaProps };
  if (items) yield* rulesIn(items);
}
