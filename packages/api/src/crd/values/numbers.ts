/** Numbers as Go sees and writes them. An integer without fraction is an int64 there, everything else a float64. */

import { invalid } from '../../status/field-error.ts';
import type { Report } from './report.ts';

export interface NumberBounds {
  readonly minimum: number | undefined;
  readonly exclusiveMinimum: boolean;
  readonly maximum: number | undefined;
  readonly exclusiveMaximum: boolean;
  readonly multipleOf: number | undefined;
  /** `integer`, `number`, or empty when the schema has several types or none. */
  readonly numberType: string;
  /** `int32`, `int64`, `float`, `double` or empty. */
  readonly numberFormat: string;
}

const int32 = 2 ** 31;
const int64 = 2 ** 63;
const float32Max = 3.4028234663852886e38;

export const isInt64 = (value: number): boolean => Number.isInteger(value) && value >= -int64 && value <= int64;

/** `%v` of a float64: like JavaScript, but small numbers get exponents earlier and exponents have two digits. */
export function goFloat(value: number): string {
  const text = Math.abs(value) < 1e-4 && value !== 0 ? value.toExponential() : String(value);
  return text.replace(/e([+-])(\d)$/, 'e$10$2');
}

export function numberErrors(bounds: NumberBounds, value: number, name: string, report: Report): void {
  rangeError(bounds, value, 'Checked', name, report);
  const { multipleOf, minimum, maximum } = bounds;
  if (multipleOf !== undefined) {
    const fits = rangeError(bounds, multipleOf, 'MultipleOf', name, report);
    multipleError(value, multipleOf, fits && isInt64(value), name, report);
  }
  if (minimum !== undefined) {
    const fits = rangeError(bounds, minimum, 'Minimum boundary', name, report);
    const isWhole = fits && isInt64(value);
    const least = isWhole ? Math.trunc(minimum) : minimum;
    if (bounds.exclusiveMinimum ? value <= least : value < least) {
      const relation = bounds.exclusiveMinimum ? 'greater than' : 'greater than or equal to';
      report.add(invalid(report.pathOf(name), value, `${name} in body should be ${relation} ${goFloat(least)}`));
    }
  }
  if (maximum !== undefined) {
    const fits = rangeError(bounds, maximum, 'Maximum boundary', name, report);
    const isWhole = fits && isInt64(value);
    const most = isWhole ? Math.trunc(maximum) : maximum;
    if (bounds.exclusiveMaximum ? value >= most : value > most) {
      const relation = bounds.exclusiveMaximum ? 'less than' : 'less than or equal to';
      report.add(invalid(report.pathOf(name), value, `${name} in body should be ${relation} ${goFloat(most)}`));
    }
  }
}

/** Reports whether it is valid for the type and format; bounds are checked like values. */
function rangeError(bounds: NumberBounds, value: number, what: string, name: string, report: Report): boolean {
  const { numberType: type, numberFormat: format } = bounds;
  if (fitsFormat(value, type, format)) return true;
  const asked = format === '' ? '(default format)' : `with format ${format}`;
  report.addPlaceless(`${what} value must be of type ${type} ${asked} in ${name}`);
  return false;
}

function fitsFormat(value: number, type: string, format: string): boolean {
  if (type === 'integer') {
    return format === 'int32' ? Number.isInteger(value) && value >= -int32 && value < int32 : isInt64(value);
  }
  return format !== 'float' || Math.abs(value) <= float32Max;
}

function multipleError(value: number, factor: number, isWhole: boolean, name: string, report: Report): void {
  const by = isWhole ? Math.trunc(factor) : factor;
  if (by <= 0) {
    const message = `factor MultipleOf declared for ${name} must be positive: ${goFloat(by)}`;
    report.add(invalid(report.pathOf(name), by, message));
  } else if (isWhole ? value % by !== 0 : !isNearInteger(by < 1 ? (1 / by) * value : value / by)) {
    report.add(invalid(report.pathOf(name), value, `${name} in body should be a multiple of ${goFloat(by)}`));
  }
}

/** Within the error that a division may leave. */
function isNearInteger(value: number): boolean {
  if (!Number.isFinite(value) || Math.abs(value) > Number.MAX_SAFE_INTEGER) return false;
  const nearest = Math.trunc(value);
  const difference = Math.abs(value - nearest);
  if (difference === 0) return true;
  if (value === 0 || nearest === 0) return false;
  return difference / (Math.abs(value) + Math.abs(nearest)) < 1e-9;
}
