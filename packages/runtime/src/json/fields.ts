/** Access to fields of decoded JSON by untrusted names, including `__proto__` and `constructor`. */

const plainField = { enumerable: true, configurable: true, writable: true };

export function setField(object: Record<string, unknown>, name: string, value: unknown): void {
  // Defined as a field: an assignment would set the prototype.
  if (name === '__proto__') Object.defineProperty(object, name, { value, ...plainField });
  else object[name] = value;
}

/** Returns undefined if the field does not exist. */
export const fieldOf = (object: Readonly<Record<string, unknown>>, name: string): unknown =>
  Object.hasOwn(object, name) ? object[name] : undefined;
