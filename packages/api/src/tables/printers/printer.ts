/**
 * Helpers for the printers of built-in kinds. A printer declares the part of its kind that it reads. The objects were checked against their
 * schemas before, so the declaration is reliable.
 */

import type { KubeObject } from '../../object.ts';
import type { RowCondition, TablePrinter } from '../contract.ts';

/** Columns are in the generated table. */
export type BuiltinPrinter = Omit<TablePrinter, 'columns'>;

/** By `<group>/<kind>`; all versions of a kind share a printer. */
export type Printers = Readonly<Record<string, BuiltinPrinter>>;

/** `Shape`: the fields that the printer reads besides metadata. */
export function printer<Shape extends object>(
  cells: (object: KubeObject & Shape, now: number) => unknown[],
  more: {
    conditions?: (object: KubeObject & Shape) => readonly RowCondition[] | undefined;
    compare?: (left: KubeObject & Shape, right: KubeObject & Shape) => number;
    repeatsColumns?: boolean;
  } = {},
): BuiltinPrinter {
  return {
    cells: (object, now) => cells(named(object) as KubeObject & Shape, now),
    ...(more as Partial<BuiltinPrinter>),
  };
}

/** The bookmarks of a watch are objects without a name, and are printed too. */
const named = (object: KubeObject): KubeObject =>
  object.metadata.name === undefined ? { ...object, metadata: { ...object.metadata, name: '' } } : object;

export interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
  readonly lastTransitionTime?: string;
}

export interface WithConditions {
  readonly conditions?: readonly Condition[];
}

/** The first of the type decides. */
export const isTrue = (type: string, { conditions }: WithConditions = {}): boolean =>
  conditions?.find((condition) => condition.type === type)?.status === 'True';

export const unset = '<unset>';
export const unknown = '<unknown>';

/** Joins the first few of a list, and the number of the remaining ones. */
export function firstOf(texts: readonly string[], max: number, separator = ','): string {
  const shown = texts.slice(0, max).join(separator);
  return texts.length > max ? `${shown} + ${texts.length - max} more...` : shown;
}

export interface PodTemplate {
  readonly metadata?: { readonly labels?: Readonly<Record<string, string>> };
  readonly spec?: {
    readonly containers?: readonly { readonly name: string; readonly image?: string }[];
    readonly nodeSelector?: Readonly<Record<string, string>>;
  };
}

/** Two cells: names and images. */
export function containerCells(template: PodTemplate | undefined): [names: string, images: string] {
  const containers = template?.spec?.containers ?? [];
  return [containers.map(({ name }) => name).join(','), containers.map(({ image }) => image ?? '').join(',')];
}

export const groupedName = (name: string, group: string | undefined): string => (group ? `${name}.${group}` : name);
