/**
 * Validation errors in Kubernetes' format: `spec.replicas: Invalid value: -1: must be greater than or equal to 0`. Paths are texts:
 * `spec.containers[0].name`, `metadata.labels[app]`; join them with `child`, `index` and `key`.
 */

export type FieldErrorType =
  | 'FieldValueNotFound'
  | 'FieldValueRequired'
  | 'FieldValueDuplicate'
  | 'FieldValueInvalid'
  | 'FieldValueNotSupported'
  | 'FieldValueForbidden'
  | 'FieldValueTooLong'
  | 'FieldValueTooShort'
  | 'FieldValueTooMany'
  | 'FieldValueTooFew'
  | 'FieldValueTypeInvalid'
  | 'InternalError';

export interface FieldError {
  readonly type: FieldErrorType;
  /** Empty for the object as a whole. */
  readonly path: string;
  /** Shown as JSON; `noValue` shows none, `verbatim` a text as it is. */
  readonly value: unknown;
  readonly detail: string;
}

/** As a value: the message leaves the value out. */
export const noValue: unique symbol = Symbol('no value');

/** As a value: shown verbatim, for values with a special format in Go. */
export class Verbatim {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

const titles: Readonly<Record<FieldErrorType, string>> = {
  FieldValueNotFound: 'Not found',
  FieldValueRequired: 'Required value',
  FieldValueDuplicate: 'Duplicate value',
  FieldValueInvalid: 'Invalid value',
  FieldValueNotSupported: 'Unsupported value',
  FieldValueForbidden: 'Forbidden',
  FieldValueTooLong: 'Too long',
  FieldValueTooShort: 'Too short',
  FieldValueTooMany: 'Too many',
  FieldValueTooFew: 'Too few',
  FieldValueTypeInvalid: 'Invalid value',
  InternalError: 'Internal error',
};

const valueless: ReadonlySet<FieldErrorType> = new Set([
  'FieldValueRequired',
  'FieldValueForbidden',
  'FieldValueTooLong',
  'FieldValueTooShort',
  'InternalError',
]);

export const child = (path: string, name: string): string => (path === '' ? name : `${path}.${name}`);
export const index = (path: string, at: number): string => `${path}[${at}]`;
export const key = (path: string, name: string): string => `${path}[${name}]`;

const error = (type: FieldErrorType, path: string, value: unknown, detail: string): FieldError => ({
  type,
  path,
  value,
  detail,
});

export const required = (path: string, detail: string): FieldError =>
  error('FieldValueRequired', path, noValue, detail);
export const invalid = (path: string, value: unknown, detail: string): FieldError =>
  error('FieldValueInvalid', path, value, detail);
export const typeInvalid = (path: string, value: unknown, detail: string): FieldError =>
  error('FieldValueTypeInvalid', path, value, detail);
export const forbidden = (path: string, detail: string): FieldError =>
  error('FieldValueForbidden', path, noValue, detail);
export const notFoundValue = (path: string, value: unknown): FieldError => error('FieldValueNotFound', path, value, '');
export const duplicate = (path: string, value: unknown): FieldError => error('FieldValueDuplicate', path, value, '');
export const internal = (path: string, detail: string): FieldError => error('InternalError', path, noValue, detail);

/** `supported` in the order that the message shows; Kubernetes sorts some of its sets and not others. */
export const notSupported = (path: string, value: unknown, supported: readonly string[]): FieldError => {
  const detail = supported.length > 0 ? `supported values: ${supported.map(quote).join(', ')}` : '';
  return error('FieldValueNotSupported', path, value, detail);
};

export const tooLong = (path: string, max: number): FieldError =>
  error(
    'FieldValueTooLong',
    path,
    noValue,
    max < 0 ? 'value is too long' : `may not be more than ${count(max, 'byte')}`,
  );
/** Counts characters, as the schemas of custom resources do. */
export const tooLongCharacters = (path: string, max: number): FieldError =>
  error('FieldValueTooLong', path, noValue, `may not be more than ${count(max, 'character')}`);
export const tooMany = (path: string, actual: number, max: number): FieldError =>
  error('FieldValueTooMany', path, actual < 0 ? noValue : actual, `must have at most ${count(max, 'item')}`);
export const tooFew = (path: string, actual: number, min: number): FieldError =>
  error('FieldValueTooFew', path, actual < 0 ? noValue : actual, `must have at least ${count(min, 'item')}`);
export const tooShort = (path: string, min: number): FieldError =>
  error('FieldValueTooShort', path, noValue, `must be at least ${count(min, 'character')}`);

const count = (number: number, what: string): string => `${number} ${what}${number === 1 ? '' : 's'}`;

/** The error without its path, as causes show it. */
export function fieldErrorBody({ type, value, detail }: FieldError): string {
  const title = titles[type];
  const shown = valueless.has(type) || value === noValue ? title : `${title}: ${showValue(value)}`;
  return detail === '' ? shown : `${shown}: ${detail}`;
}

export const fieldErrorText = (error: FieldError): string => `${error.path}: ${fieldErrorBody(error)}`;

/** A longer value is truncated: an error may name the same value several times, and there may be many errors. */
const shownLengthMax = 16 * 1024;

function showValue(value: unknown): string {
  if (typeof value === 'string') return value.length > shownLengthMax ? `${quote(cut(value))}...` : quote(value);
  const text = value instanceof Verbatim ? value.text : goJson(value);
  return text.length > shownLengthMax ? `${cut(text)}...` : text;
}

const cut = (text: string): string => text.slice(0, shownLengthMax).toWellFormed();

/** JSON as Go's encoder writes it: `<`, `>` and `&` escaped. */
const goJson = (value: unknown): string =>
  (JSON.stringify(value) ?? 'null').replace(
    /[<>&\u2028\u2029]/g,
    (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

const escapes: Readonly<Record<string, string>> = {
  '\x07': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
  '"': '\\"',
  '\\': '\\\\',
};

/** A text in quotes as Go's `%q` shows it. */
export function quote(text: string): string {
  // eslint-disable-next-line no-control-regex -- control characters are what is looked for
  const escaped = text.replace(/[\u0000-\u001f"\\\u007f-\u00a0\u00ad\u2028\u2029\ufeff]/g, (one) => {
    const known = escapes[one];
    if (known !== undefined) return known;
    const code = one.charCodeAt(0);
    return code < 0x80 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u${code.toString(16).padStart(4, '0')}`;
  });
  return `"${escaped}"`;
}
