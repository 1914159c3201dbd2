/** Named formats such as format.dns1123Label(), format.named(), validate(). */

import { method, overload } from '../environment.ts';
import type { Library, Overload } from '../environment.ts';
import * as t from '../types.ts';
import { ValueList } from '../values/list.ts';
import { Opaque, Optional } from '../values/values.ts';
import * as names from './names.ts';
import { parseUrl } from './url-value.ts';

class Format extends Opaque {
  readonly name: string;
  readonly problems: (value: string) => readonly string[];
  /** Length of its regular expression, or an estimate, for costs. */
  readonly regexSize: number;

  constructor(name: string, regexSize: number, problems: (value: string) => readonly string[]) {
    super();
    this.name = name;
    this.regexSize = regexSize;
    this.problems = problems;
  }

  override get typeName(): string {
    return 'kubernetes.NamedFormat';
  }

  override equals(other: Opaque): boolean {
    return other instanceof Format && other.name === this.name;
  }
}

const matching = (pattern: RegExp, message: string) => (value: string) => (pattern.test(value) ? [] : [message]);

function isDate(value: string): boolean {
  const match = /^(\d{4})-(\d\d)-(\d\d)$/.exec(value);
  if (!match) return false;
  const date = new Date(0);
  date.setUTCFullYear(Number(match[1]), Number(match[2]) - 1, Number(match[3]));
  return date.getUTCMonth() === Number(match[2]) - 1 && date.getUTCDate() === Number(match[3]);
}

function isDateTime(value: string): boolean {
  const match = /^(\d{4}-\d\d-\d\d)[tT](\d\d):(\d\d):(\d\d)(?:.\d+)?(?:[zZ]|[+-]\d\d:\d\d)$/.exec(value);
  return match !== null && isDate(match[1]!) && Number(match[2]) < 24 && Number(match[3]) < 60 && Number(match[4]) < 60;
}

const formats = {
  dns1123Label: new Format('DNS1123Label', 30, names.labelProblems),
  dns1123Subdomain: new Format('DNS1123Subdomain', 60, names.subdomainProblems),
  dns1035Label: new Format('DNS1035Label', 30, names.label1035Problems),
  qualifiedName: new Format('QualifiedName', 60, names.qualifiedNameProblems),
  dns1123LabelPrefix: new Format('DNS1123LabelPrefix', 30, names.labelPrefixProblems),
  dns1123SubdomainPrefix: new Format('DNS1123SubdomainPrefix', 60, names.subdomainPrefixProblems),
  dns1035LabelPrefix: new Format('DNS1035LabelPrefix', 30, names.label1035PrefixProblems),
  labelValue: new Format('LabelValue', 40, names.labelValueProblems),
  uri: new Format('URI', 1103, (value) =>
    parseUrl(value) === undefined ? [`parse ${JSON.stringify(value)}: invalid URI for request`] : [],
  ),
  uuid: new Format(
    'uuid',
    70,
    matching(/^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i, 'does not match the UUID format'),
  ),
  byte: new Format(
    'byte',
    84,
    matching(/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/, 'invalid base64'),
  ),
  date: new Format('date', 71, (value) => (isDate(value) ? [] : ['invalid date'])),
  datetime: new Format('datetime', 71, (value) => (isDateTime(value) ? [] : ['invalid datetime'])),
} as const;

export const formatType = t.opaque('kubernetes.NamedFormat');

const constants: Record<string, Overload[]> = {};
for (const [name, format] of Object.entries(formats)) {
  constants[`format.${name}`] = [overload(`format.${name}`, [], formatType, () => format)];
}

export const namedFormats: Library = {
  name: 'kubernetes format',
  types: [formatType],
  functions: {
    ...constants,
    'format.named': [
      overload('format-named', [t.stringType], t.optionalOf(formatType), (name: string) =>
        Object.hasOwn(formats, name) ? new Optional(formats[name as keyof typeof formats]) : Optional.none,
      ),
    ],
    validate: [
      method(
        'format-validate',
        [formatType, t.stringType],
        t.optionalOf(t.listOf(t.stringType)),
        (format: Format, value: string) => {
          const problems = format.problems(value);
          return problems.length === 0 ? Optional.none : new Optional(new ValueList(problems));
        },
      ),
    ],
  },
};
