/**
 * Values in messages as kube-apiserver shows them: JSON of its own structs, with every field, nil as null. Only messages of refused
 * requests need it, so the table is loaded for the first one.
 */

import { structType } from '../../../builtin/types.ts';
import { normalise } from '../../../fields/normalise.ts';
import type { JsonObject } from '../../../object.ts';
import { Verbatim } from '../../../status/field-error.ts';
import { sortKeys } from '../../../values/key-order.ts';
import { isSet } from '../base/checks.ts';
import { goJson } from '../base/go-values.ts';
import { structs } from './structs.ts';

interface ServerField {
  /** Empty when inlined. */
  readonly name: string;
  readonly jsonName: string;
  readonly type: string;
}

const known = new Map<string, readonly ServerField[]>();

function fieldsOf(struct: string): readonly ServerField[] {
  let fields = known.get(struct);
  if (!fields) {
    fields = structs[struct]!.split('; ').map((text) => {
      const [names = '', type = ''] = text.split(' ');
      if (names === '^') return { name: '', jsonName: '', type };
      const [name = '', jsonName = name[0]!.toLowerCase() + name.slice(1)] = names.split('=');
      return { name, jsonName, type };
    });
    known.set(struct, fields);
  }
  return fields;
}

/** Layout of lists and structs: on one line, or on many. */
interface Layout {
  readonly list: (items: readonly string[], depth: number) => string;
  readonly struct: (members: readonly (readonly [name: string, value: string])[], depth: number) => string;
}

const compact: Layout = {
  list: (items) => `[${items.join(',')}]`,
  struct: (members) => `{${members.map(([name, value]) => `${goJson(name)}:${value}`).join(',')}}`,
};

const pretty: Layout = {
  list: (items, depth) => block('[]', items, depth),
  struct: (members, depth) => {
    const lines = members.map(([name, value]) => `${goJson(name)}: ${value}`);
    return block('{}', lines, depth);
  },
};

function block(brackets: string, lines: readonly string[], depth: number): string {
  if (lines.length === 0) return brackets;
  const indent = ' '.repeat(depth + 1);
  return `${brackets[0]!}\n${lines.map((line) => indent + line).join(',\n')}\n${' '.repeat(depth)}${brackets[1]!}`;
}

/** `struct` is one of the table, `value` of the API. */
export const serverForm = (struct: string, value: unknown): Verbatim =>
  new Verbatim(isSet(value) ? structText(struct, value as JsonObject, compact, 0) : 'null');

/** `type` as the table writes it, such as `[]NodeSelectorTerm`. */
export const serverValue = (type: string, value: unknown): Verbatim => new Verbatim(valueText(type, value, compact, 0));

/** On many lines, for differences. */
export const prettyServerForm = (struct: string, value: unknown): string =>
  structText(struct, value as JsonObject, pretty, 0);

function structText(struct: string, value: JsonObject, layout: Layout, depth: number): string {
  return layout.struct(membersOf(struct, value, layout, depth), depth);
}

function membersOf(
  struct: string,
  value: JsonObject,
  layout: Layout,
  depth: number,
): (readonly [name: string, value: string])[] {
  const source = struct === 'PodSpec' ? withHostFields(value) : value;
  return fieldsOf(struct).flatMap(({ name, jsonName, type }) => {
    if (name !== '') return [[name, valueText(type, source[jsonName], layout, depth + 1)] as const];
    if (!type.startsWith('@')) return membersOf(type, source, layout, depth);
    return metaMembers(type.slice(1), (source['metadata'] ?? {}) as JsonObject, layout, depth);
  });
}

/** The server keeps the namespaces of the host in the pod's security context. */
function withHostFields(spec: JsonObject): JsonObject {
  const { hostNetwork, hostPID, hostIPC, shareProcessNamespace, hostUsers } = spec;
  const context = { ...(spec['securityContext'] as JsonObject | undefined) };
  Object.assign(context, { hostNetwork, hostPID, hostIPC, shareProcessNamespace, hostUsers });
  const isNeeded =
    isSet(spec['securityContext']) || [hostNetwork, hostPID, hostIPC, shareProcessNamespace, hostUsers].some(isSet);
  return isNeeded ? { ...spec, securityContext: context } : spec;
}

function metaMembers(
  struct: string,
  value: JsonObject,
  layout: Layout,
  depth: number,
): (readonly [name: string, value: string])[] {
  const ordered = normalise(structType(`meta/v1.${struct}`), value);
  return Object.keys(ordered).map((name) => [name, anyText(ordered[name], layout, depth + 1)] as const);
}

/** Values whose order is right already. */
function anyText(value: unknown, layout: Layout, depth: number): string {
  if (Array.isArray(value))
    return layout.list(
      value.map((item) => anyText(item, layout, depth + 1)),
      depth,
    );
  if (typeof value !== 'object' || value === null) return goJson(value);
  const members = Object.entries(value).map(([name, inner]) => [name, anyText(inner, layout, depth + 1)] as const);
  return layout.struct(members, depth);
}

const zeros: Readonly<Record<string, string>> = { s: '""', i: '0', b: 'false', q: '"0"', v: '0' };

function valueText(type: string, value: unknown, layout: Layout, depth: number): string {
  const isNil = !isSet(value);
  if (type.startsWith('*')) return isNil ? 'null' : valueText(type.slice(1), value, layout, depth);
  if (type.startsWith('[]')) {
    if (isNil) return 'null';
    const items = (value as unknown[]).map((item) => valueText(type.slice(2), item, layout, depth + 1));
    return layout.list(items, depth);
  }
  if (type.startsWith('{}')) {
    if (isNil) return 'null';
    const map = value as JsonObject;
    const members = sortKeys(Object.keys(map)).map(
      (name) => [name, valueText(type.slice(2), map[name], layout, depth + 1)] as const,
    );
    return layout.struct(members, depth);
  }
  const zero = zeros[type];
  if (zero !== undefined) return isNil ? zero : goJson(value);
  const struct = (value ?? {}) as JsonObject;
  if (!type.startsWith('@')) return structText(type, struct, layout, depth);
  return layout.struct(metaMembers(type.slice(1), struct, layout, depth), depth);
}
