/** A struct compiled for the codec: fields by number, precomputed tags, small integers to switch on. */

import { assert } from '@hangar/core';
import type { StructType } from '../builtin/types.ts';
import type { Field, ValueKind, ValueType } from '../builtin/types.ts';

export const wireTypes = { varint: 0, fixed64: 1, bytes: 2, startGroup: 3, endGroup: 4, fixed32: 5 } as const;

const wireTypeOf: Partial<Record<ValueKind, number>> = {
  bool: wireTypes.varint,
  int32: wireTypes.varint,
  int64: wireTypes.varint,
  double: wireTypes.fixed64,
};

/** How one value is written: a field, an element, or the value of a map. */
export interface Slot {
  readonly type: ValueType;
  readonly kind: ValueKind;
  /** Number and wire type, as one integer. */
  readonly tag: number;
  /** For lists and maps. */
  readonly element: Slot | undefined;
  /** For structs; created on first use, because types may contain themselves. */
  plan: Plan | undefined;
}

export interface PlannedField extends Slot {
  readonly name: string;
  readonly number: number;
  /** Its position in the struct's declaration, which is the order of JSON. */
  readonly index: number;
  readonly isPointer: boolean;
  readonly isInline: boolean;
  readonly omitEmpty: boolean;
  readonly omitZero: boolean;
}

export interface Plan {
  readonly struct: StructType;
  /** In the order of declaration. */
  readonly fields: readonly PlannedField[];
  /** The last first, as they are written. */
  readonly backwards: readonly PlannedField[];
  /** Holes where a number is not used. */
  readonly byNumber: readonly (PlannedField | undefined)[];
  /** Undefined at every position: copied for the values of each message. */
  readonly absent: readonly unknown[];
  /** Encoding of the empty struct, created on first use. */
  empty: Uint8Array | undefined;
}

const plans = new WeakMap<StructType, Plan>();

export function planOf(struct: StructType): Plan {
  let plan = plans.get(struct);
  if (!plan) {
    const fields = struct.fields.map(planField);
    const byNumber: (PlannedField | undefined)[] = [];
    for (const field of fields) if (field.number > 0) byNumber[field.number] = field;
    const backwards = fields.filter(({ number }) => number > 0).sort((a, b) => b.number - a.number);
    const absent = fields.map(() => undefined);
    plan = { struct, fields, backwards, byNumber: Array.from(byNumber), absent, empty: undefined };
    plans.set(struct, plan);
  }
  return plan;
}

export function innerPlan(slot: Slot): Plan {
  return (slot.plan ??= planOf(slot.type.struct));
}

function planField(field: Field, index: number): PlannedField {
  const { name, number, isPointer, isInline, omitEmpty, omitZero } = field;
  assert(!isInline || field.type.kind === 'struct', `${name} is inlined but no struct`);
  return { ...slot(field.type, number), name, number, index, isPointer, isInline, omitEmpty, omitZero };
}

function slot(type: ValueType, number: number): Slot {
  const { kind } = type;
  // A list's tag is that of its elements: they are written one by one. A map's values have number 2 in their entry.
  const isPlainList = kind === 'list' && !type.isMessageList;
  const wire = isPlainList
    ? (wireTypeOf[type.element!.kind] ?? wireTypes.bytes)
    : (wireTypeOf[kind] ?? wireTypes.bytes);
  const element = type.element && slot(type.element, isPlainList ? number : kind === 'map' ? 2 : 1);
  return { type, kind, tag: number * 8 + wire, element, plan: undefined };
}
