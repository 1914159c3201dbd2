/** Fields of decoded JSON by names that anybody may have chosen, also `__proto__` and `constructor`. */

const plainField = { enumerable: true, configurable: true, writable: true };

export function setField(object: Record<string, unknown>, name: string, value: unknown): void {
  // As a field: by assignment it would be the prototype.
  if (name === '__proto__') Object.defineProperty(object, name, { value, ...plainField });
  else object[name] = value;
}

/** Undefined: there is none. */
export const fieldOf = (object: Readonly<Record<string, unknown>>, name: string): unknown =>
  Object.hasOwn(object, name) ? object[name] : undefined;
