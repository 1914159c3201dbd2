/** Valid and invalid definitions: one valid definition, and changes to it. */

import type { KubeObject } from '../../object.ts';
import type { JsonSchema } from '../json-schema.ts';
import { definition } from './definitions.ts';

type Fields = Record<string, unknown>;
type Schema = Record<string, unknown>;

const objectOf = (properties: Record<string, Schema>, more: Schema = {}): Schema => ({
  type: 'object',
  properties,
  ...more,
});
const rules = (...list: (string | Schema)[]): Schema => ({
  'x-kubernetes-validations': list.map((one) => (typeof one === 'string' ? { rule: one } : one)),
});
const mapList = (more: Schema = {}, items: Schema = {}): Schema => ({
  type: 'array',
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': ['k'],
  items: objectOf({ k: { type: 'string' } }, { required: ['k'], ...items }),
  ...more,
});

/** Schemas of one field. */
const fieldSchemas: readonly Schema[] = [
  { type: 'string' },
  {},
  { type: 'text' },
  { type: 'null' },
  { type: 'array' },
  { type: 'array', items: {} },
  { type: 'array', items: [{ type: 'string' }] },
  { type: 'array', items: { type: 'string' }, uniqueItems: true },
  { type: 'string', pattern: '[a' },
  { type: 'string', pattern: '(?<=a)b' },
  { type: 'string', pattern: 'a**' },
  { type: 'string', format: 'fancy' },
  { type: 'object', additionalProperties: true },
  { type: 'object', additionalProperties: false },
  { type: 'object', additionalProperties: { type: 'string' }, properties: { a: { type: 'string' } } },
  { type: 'object', additionalProperties: {} },
  { type: 'object', $ref: '#/a' },
  { type: 'object', id: 'a' },
  { type: 'object', $schema: 'http://a' },
  { type: 'object', definitions: { a: { type: 'string' } } },
  { type: 'object', dependencies: { a: ['b'] } },
  { type: 'object', patternProperties: { a: { type: 'string' } } },
  { type: 'array', items: { type: 'string' }, additionalItems: true },
  { type: 'object', 'x-kubernetes-preserve-unknown-fields': false },
  { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
  { 'x-kubernetes-preserve-unknown-fields': true },
  { 'x-kubernetes-int-or-string': true },
  { 'x-kubernetes-int-or-string': true, type: 'string' },
  { 'x-kubernetes-int-or-string': true, 'x-kubernetes-preserve-unknown-fields': true },
  { 'x-kubernetes-int-or-string': true, 'x-kubernetes-embedded-resource': true },
  { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] },
  { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'string' }, { type: 'integer' }] },
  {
    'x-kubernetes-int-or-string': true,
    allOf: [{ anyOf: [{ type: 'integer' }, { type: 'string' }] }, { maxLength: 3 }],
  },
  { 'x-kubernetes-embedded-resource': true },
  { type: 'string', 'x-kubernetes-embedded-resource': true },
  { type: 'object', 'x-kubernetes-embedded-resource': true },
  { type: 'object', 'x-kubernetes-embedded-resource': true, 'x-kubernetes-preserve-unknown-fields': true },
  objectOf(
    { kind: { type: 'integer' }, apiVersion: { type: 'string' }, metadata: { type: 'object' } },
    { 'x-kubernetes-embedded-resource': true },
  ),
  objectOf(
    { metadata: objectOf({ name: { type: 'string', default: 'a/b' } }) },
    { 'x-kubernetes-embedded-resource': true },
  ),
  objectOf(
    { metadata: objectOf({ name: { type: 'string', default: 'ab' } }) },
    { 'x-kubernetes-embedded-resource': true },
  ),
  objectOf(
    { metadata: { type: 'object', 'x-kubernetes-embedded-resource': true } },
    { 'x-kubernetes-embedded-resource': true },
  ),
  { type: 'object', 'x-kubernetes-embedded-resource': true, additionalProperties: { type: 'string' } },
  { type: 'object', 'x-kubernetes-map-type': 'atomic' },
  { type: 'object', 'x-kubernetes-map-type': 'other' },
  { type: 'string', 'x-kubernetes-map-type': 'atomic' },
  { 'x-kubernetes-map-type': 'granular' },
  { type: 'string', 'x-kubernetes-list-type': 'set' },
  { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'other' },
  { type: 'array', items: { type: 'object' }, 'x-kubernetes-list-type': 'set' },
  { type: 'array', items: { type: 'object', 'x-kubernetes-map-type': 'atomic' }, 'x-kubernetes-list-type': 'set' },
  { type: 'array', items: mapList(), 'x-kubernetes-list-type': 'set' },
  { type: 'array', items: { type: 'string', nullable: true }, 'x-kubernetes-list-type': 'set' },
  mapList(),
  mapList({ 'x-kubernetes-list-map-keys': [] }),
  mapList({ 'x-kubernetes-list-map-keys': ['k', 'k'] }),
  mapList({ 'x-kubernetes-list-map-keys': ['z'] }),
  mapList({ 'x-kubernetes-list-type': 'set' }),
  mapList({ 'x-kubernetes-list-type': undefined }),
  mapList({ items: { type: 'string' } }),
  mapList({ items: undefined }),
  mapList({}, { required: [] }),
  mapList({}, { nullable: true }),
  mapList({}, { properties: { k: { type: 'object' } } }),
  mapList({}, { properties: { k: { type: 'string', nullable: true } } }),
  mapList({}, { properties: { k: { type: 'string', default: 'a' } }, required: undefined }),
  objectOf({ a: { type: 'string' } }, { anyOf: [{ required: ['a'] }] }),
  objectOf({ a: { type: 'string' } }, { anyOf: [{ type: 'object' }] }),
  objectOf({ a: { type: 'string' } }, { anyOf: [{ properties: { a: { type: 'string' } } }] }),
  objectOf({ a: { type: 'string' } }, { anyOf: [{ properties: { b: { minLength: 1 } } }] }),
  objectOf({ a: { type: 'string' } }, { not: { title: 'x', description: 'y', nullable: true, default: {} } }),
  objectOf({ a: { type: 'string' } }, { allOf: [{ additionalProperties: { maxLength: 1 } }] }),
  objectOf({ a: { type: 'string' } }, { allOf: [{ properties: { metadata: { required: ['a'] } } }] }),
  objectOf(
    { a: { type: 'string' } },
    { oneOf: [{ 'x-kubernetes-list-type': 'set', 'x-kubernetes-map-type': 'atomic' }] },
  ),
  objectOf(
    { a: { type: 'string' } },
    { oneOf: [{ 'x-kubernetes-int-or-string': true, 'x-kubernetes-preserve-unknown-fields': true }] },
  ),
  objectOf({ a: { type: 'string' } }, { oneOf: [rules('true')] }),
  { type: 'string', default: 'a' },
  { type: 'string', default: 5 },
  { type: 'string', default: 'abc', maxLength: 2 },
  { type: 'string', default: 'b', enum: ['a'] },
  { type: 'integer', default: 1.5 },
  { type: 'integer', default: null },
  { type: 'string', format: 'date-time', default: 'x' },
  { type: 'string', format: 'fancy', default: 'x' },
  { 'x-kubernetes-int-or-string': true, default: true },
  objectOf({ a: { type: 'string' } }, { default: { b: 1 } }),
  objectOf({ a: { type: 'string' } }, { default: { a: 1 } }),
  objectOf({ a: { type: 'string' } }, { required: ['a'], default: {} }),
  { type: 'array', items: { type: 'string', minLength: 2 }, default: ['a', 'bb'] },
  { type: 'string', default: 'b', ...rules("self != 'b'") },
  { type: 'string', default: 'b', ...rules("self == 'b'") },
  { type: 'string', ...rules('self == 5') },
  { type: 'string', ...rules('self') },
  { type: 'string', ...rules('') },
  { type: 'string', ...rules('unknown') },
  { type: 'string', ...rules('self.foo == 1') },
  { type: 'string', ...rules('self.startsWith(1)') },
  { type: 'string', ...rules({ rule: 'true', message: ' ' }) },
  { type: 'string', ...rules({ rule: 'true', message: 'a\nb' }) },
  { type: 'string', ...rules({ rule: 'true\n&& true' }) },
  { type: 'string', ...rules({ rule: 'true', messageExpression: ' ' }) },
  { type: 'string', ...rules({ rule: 'true', messageExpression: '5' }) },
  { type: 'string', ...rules({ rule: 'true', messageExpression: 'foo' }) },
  { type: 'string', ...rules({ rule: 'true', messageExpression: 'self + self' }) },
  { type: 'string', maxLength: 5, ...rules({ rule: 'true', messageExpression: 'self + self' }) },
  { type: 'string', ...rules({ rule: 'true', reason: 'Because' }) },
  { type: 'string', ...rules({ rule: 'true', reason: 'FieldValueForbidden' }) },
  { type: 'string', ...rules({ rule: 'true', optionalOldSelf: true }) },
  { type: 'string', ...rules({ rule: 'oldSelf.hasValue()', optionalOldSelf: true }) },
  { type: 'string', ...rules('oldSelf == self') },
  objectOf({ a: { type: 'string' } }, rules({ rule: 'true', fieldPath: '.a' })),
  objectOf({ a: { type: 'string' } }, rules({ rule: 'true', fieldPath: '.b' })),
  objectOf({ a: { type: 'string' } }, rules({ rule: 'true', fieldPath: 'a' })),
  objectOf({ a: { type: 'string' } }, rules({ rule: 'true', fieldPath: "['a']" })),
  objectOf({ a: { type: 'string' } }, rules({ rule: 'true', fieldPath: ' ' })),
  objectOf({ a: { type: 'string' } }, rules('self.a.size() > 1', 'has(self.b)')),
  { type: 'array', items: { type: 'string', ...rules('self == oldSelf') } },
  { type: 'array', items: { type: 'string' }, ...rules('self.all(x, self.all(y, x == y))') },
  {
    type: 'array',
    maxItems: 10,
    items: { type: 'string', maxLength: 10 },
    ...rules('self.all(x, self.all(y, x == y))'),
  },
  { type: 'array', items: { type: 'string', ...rules("self.contains('a')") } },
  {
    type: 'array',
    maxItems: 1000,
    items: { type: 'string', maxLength: 10_000, ...rules("self.contains('abcdefghij')") },
  },
  { type: 'object', additionalProperties: { type: 'integer', ...rules('self > 1') } },
  { type: 'object', additionalProperties: { type: 'string', ...rules("self.matches('a+')") } },
  { 'x-kubernetes-preserve-unknown-fields': true, ...rules('true') },
  objectOf(
    { f: { type: 'array', items: { type: 'object', ...rules('self == self') } } },
    rules('self.f.exists(x, true)'),
  ),
  { type: 'string', nullable: true, ...rules('self == null') },
  mapList({}, rules('self.k == oldSelf.k')),
];

const base = (): KubeObject => definition('Widget', objectOf({ spec: objectOf({}) }) as JsonSchema);

/** A definition with one field of each schema; every other with a status subresource. */
const withField = (schema: Schema, i: number): KubeObject =>
  definition(
    'Widget',
    objectOf({ spec: objectOf({ f: schema }) }) as JsonSchema,
    i % 4 === 0 ? { version: { subresources: { status: {} } } } : {},
  );

const rootSchemas: readonly Schema[] = [
  {},
  { type: 'string' },
  { type: 'object' },
  { type: 'object', additionalProperties: { type: 'string' } },
  { type: 'object', additionalProperties: true },
  { type: 'object', nullable: true },
  { type: 'object', anyOf: [{ required: ['spec'] }] },
  { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
  objectOf({ metadata: { type: 'object' } }),
  objectOf({ metadata: objectOf({ name: { type: 'string', maxLength: 3 } }) }),
  objectOf({ metadata: objectOf({ labels: { type: 'object' } }) }),
  objectOf({ metadata: { type: 'string' } }),
  objectOf({ metadata: { type: 'object', description: 'x' } }),
  objectOf({ metadata: objectOf({ name: { type: 'string', default: 'x' } }) }),
  objectOf({ kind: { type: 'integer' }, apiVersion: { type: 'string', default: 'x' } }),
  objectOf({ spec: { type: 'object' } }, { default: {} }),
  objectOf(
    { spec: { type: 'object' } },
    rules("self.metadata.name == 'x'", 'self.kind == self.apiVersion', 'self.metadata.labels.size() > 0'),
  ),
  objectOf(
    { spec: objectOf({ a: { type: 'string' } }) },
    { anyOf: [{ properties: { spec: { properties: { b: { minLength: 1 } } } } }] },
  ),
  objectOf(
    { spec: objectOf({ a: { type: 'string' } }) },
    { allOf: [{ properties: { other: { required: ['b'] } } }], title: 'x' },
  ),
];

const names = (more: Fields): KubeObject => {
  const crd = base();
  const spec = crd['spec'] as Fields;
  spec['names'] = { ...(spec['names'] as Fields), ...more };
  return crd;
};
const spec = (more: Fields): KubeObject => {
  const crd = base();
  return { ...crd, spec: { ...(crd['spec'] as Fields), ...more } };
};
const version = (more: Fields): KubeObject =>
  definition(
    'Widget',
    objectOf({
      spec: objectOf({ a: { type: 'string' }, n: { type: 'integer' }, o: { type: 'object' } }),
    }) as JsonSchema,
    { version: more },
  );
const versions = (...list: Fields[]): KubeObject =>
  spec({
    versions: list.map((one, i) => ({
      name: `v${i + 1}`,
      served: true,
      storage: i === 0,
      schema: { openAPIV3Schema: { type: 'object' } },
      ...one,
    })),
  });
const webhook = (client: Fields | undefined, more: Fields = {}): KubeObject =>
  spec({
    conversion: {
      strategy: 'Webhook',
      webhook: { ...(client ? { clientConfig: client } : {}), conversionReviewVersions: ['v1'], ...more },
    },
  });
const annotated = (group: string, annotations: Record<string, string>): KubeObject => ({
  ...spec({ group }),
  metadata: { name: `widgets.${group}`, annotations },
});
const scale = (more: Fields): KubeObject =>
  version({
    subresources: { scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas', ...more } },
  });
const columns = (...list: Fields[]): KubeObject => version({ additionalPrinterColumns: list });
const selectable = (...paths: string[]): KubeObject =>
  version({ selectableFields: paths.map((jsonPath) => ({ jsonPath })) });

const others = (): KubeObject[] => [
  base(),
  { ...base(), metadata: { name: 'other.test.example.com' } },
  names({ plural: 'Wrong' }),
  names({ singular: 'Wrong', shortNames: ['ok', 'Not'], categories: ['all', 'A B'] }),
  names({ kind: 'wid get', listKind: 'List!' }),
  names({ listKind: 'Widget' }),
  names({ kind: '' }),
  names({ plural: '' }),
  spec({ group: '' }),
  spec({ group: 'nodots' }),
  spec({ group: 'Upper.case' }),
  spec({ scope: '' }),
  spec({ scope: 'Galaxy' }),
  spec({ versions: [] }),
  spec({ preserveUnknownFields: true }),
  spec({ conversion: { strategy: 'Magic' } }),
  spec({ conversion: { strategy: 'None', webhook: { conversionReviewVersions: ['v1'] } } }),
  webhook(undefined),
  webhook({}),
  webhook({ url: 'https://a.b/c' }),
  webhook({ url: 'http://a.b/c?x=y#z' }),
  webhook({ url: 'https://u:p@a.b' }),
  webhook({ url: 'https:///c' }),
  webhook({ service: { name: 'a', namespace: 'b' } }),
  webhook({ service: { name: '', namespace: 'b', path: 'x//Y', port: 0 } }),
  webhook({ service: { name: 'a', namespace: '', path: '//', port: 70_000 } }),
  webhook({ url: 'https://a.b', service: { name: 'a', namespace: 'b' } }),
  webhook({ url: 'https://a.b' }, { conversionReviewVersions: [] }),
  webhook({ url: 'https://a.b' }, { conversionReviewVersions: ['v1', 'v1', 'V2'] }),
  webhook({ url: 'https://a.b' }, { conversionReviewVersions: ['v9'] }),
  versions({}, {}),
  versions({ storage: false }),
  versions({}, { storage: true }),
  versions({}, { name: 'v1' }),
  versions({}, { name: 'V1' }),
  versions({}, { schema: { openAPIV3Schema: { type: 'string' } } }),
  versions({ schema: undefined }),
  versions({ schema: {} }, {}),
  versions({ deprecated: true, deprecationWarning: '' }),
  versions({ deprecated: true, deprecationWarning: 'x'.repeat(257) }),
  versions({ deprecated: true, deprecationWarning: 'a\u0007b' }),
  versions({ deprecationWarning: 'x' }),
  versions({ subresources: { status: {} } }, {}),
  versions({ additionalPrinterColumns: [{ name: 'A', type: 'string', jsonPath: '.a' }] }, { storage: true }),
  scale({}),
  scale({ specReplicasPath: '' }),
  scale({ specReplicasPath: 'spec', statusReplicasPath: '.spec.x', labelSelectorPath: '.metadata.x' }),
  scale({ statusReplicasPath: '', labelSelectorPath: 'x' }),
  columns({ name: '', type: '', jsonPath: '' }),
  columns({ name: 'A', type: 'wrong', format: 'wrong', jsonPath: 'x' }),
  columns({ name: 'A', type: 'integer', format: 'int32', jsonPath: '.x', priority: 1 }),
  selectable('.spec.a'),
  selectable('.spec.a', '.spec.a', '.spec.o', '.metadata.name', 'spec', '.spec.zzz', ".spec['a']", '.spec.', ''),
  selectable(...'abcdefghi'),
  annotated('x.k8s.io', {}),
  annotated('x.k8s.io', { 'api-approved.kubernetes.io': 'https://a.b/c' }),
  annotated('x.kubernetes.io', { 'api-approved.kubernetes.io': 'unapproved, test' }),
  annotated('k8s.io', { 'api-approved.kubernetes.io': 'yes' }),
];

export const definitionCases = (): KubeObject[] => [
  ...others(),
  ...rootSchemas.map((schema) => definition('Widget', schema as JsonSchema)),
  ...rootSchemas.map((schema) =>
    definition('Widget', schema as JsonSchema, { version: { subresources: { status: {} } } }),
  ),
  ...fieldSchemas.map(withField),
];

/** Updates of one established definition: before and after. */
export const definitionUpdates = (): { readonly from: KubeObject; readonly to: KubeObject }[] => {
  const from = base();
  const to = (more: Fields): { from: KubeObject; to: KubeObject } => ({ from, to: spec(more) });
  return [
    { from, to: base() },
    to({ scope: 'Cluster' }),
    to({ group: 'other.example.com' }),
    { from, to: names({ plural: 'others' }) },
    { from, to: names({ kind: 'Other' }) },
    { from, to: names({ shortNames: ['wi'], categories: ['all'] }) },
    { from, to: versions({}, {}) },
    { from, to: versions({ name: 'v2' }) },
    { from, to: versions({ storage: false }, { storage: true }) },
    to({ preserveUnknownFields: true }),
    { from, to: withField({ type: 'string', ...rules('self == 5') }, 1) },
    { from, to: webhook({ url: 'https://a.b', caBundle: 'eA==' }) },
  ];
};
