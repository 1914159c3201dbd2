/** Decodes annotations of other writers. Throws a `TypeError` unless the value has the expected form. */

export function asText(value: unknown): string {
  if (typeof value !== 'string') throw new TypeError(`${JSON.stringify(value)} is not a string`);
  return value;
}

export function asFinite(value: unknown): number {
  if (typeof value !== 'number' || !Number.isFinite(value))
    throw new TypeError(`${JSON.stringify(value)} is not a number`);
  return value;
}
