/** The syntaxes of Kubernetes names, each with the messages users know. */

const label = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const subdomain = `${label}(\\.${label})*`;
const label1035 = '[a-z]([-a-z0-9]*[a-z0-9])?';
const qualified = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]';
const labelValue = `(${qualified})?`;

function regexMessage(message: string, pattern: string, ...examples: string[]): string {
  const shown = examples.map((example, index) => `${index > 0 ? ' or ' : ''}'${example}', `).join('');
  return `${message} (e.g. ${shown}regex used for validation is '${pattern}')`;
}

const lengthMessage = (bytes: number, unit = 'bytes'): string => `must be no more than ${bytes} ${unit}`;
/** These patterns have one way to match at each character: nothing backtracks over more than a label. */
const full = (pattern: string): RegExp => new RegExp(`^(?:${pattern})$`);

interface Rule {
  readonly pattern: RegExp;
  readonly message: string;
  readonly lengthMax: number;
  readonly unit?: string;
}

const rules = {
  label: {
    pattern: full(label),
    message: regexMessage(
      "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character",
      label,
      'my-name',
      '123-abc',
    ),
    lengthMax: 63,
    unit: 'characters',
  },
  subdomain: {
    pattern: full(subdomain),
    message: regexMessage(
      "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
      subdomain,
      'example.com',
    ),
    lengthMax: 253,
    unit: 'characters',
  },
  label1035: {
    pattern: full(label1035),
    message: regexMessage(
      "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character",
      label1035,
      'my-name',
      'abc-123',
    ),
    lengthMax: 63,
    unit: 'characters',
  },
  labelValue: {
    pattern: full(labelValue),
    message: regexMessage(
      "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
      labelValue,
      'MyValue',
      'my_value',
      '12345',
    ),
    lengthMax: 63,
  },
  qualifiedName: {
    pattern: full(qualified),
    message: regexMessage(
      "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
      qualified,
      'MyName',
      'my.name',
      '123-abc',
    ),
    lengthMax: 63,
  },
} as const satisfies Record<string, Rule>;

function problems(rule: Rule, value: string): string[] {
  const found: string[] = [];
  if (Buffer.byteLength(value) > rule.lengthMax) found.push(lengthMessage(rule.lengthMax, rule.unit));
  // Much longer texts are invalid without matching the pattern.
  if (value.length > 4 * rule.lengthMax || !rule.pattern.test(value)) found.push(rule.message);
  return found;
}

/** A prefix for generated names may end with a dash. */
const withoutDash = (value: string): string =>
  value.length > 1 && value.endsWith('-') ? `${value.slice(0, -1)}a` : value;

export const labelProblems = (value: string): string[] => problems(rules.label, value);
export const subdomainProblems = (value: string): string[] => problems(rules.subdomain, value);
export const label1035Problems = (value: string): string[] => problems(rules.label1035, value);
export const labelValueProblems = (value: string): string[] => problems(rules.labelValue, value);
export const labelPrefixProblems = (value: string): string[] => labelProblems(withoutDash(value));
export const subdomainPrefixProblems = (value: string): string[] => subdomainProblems(withoutDash(value));
export const label1035PrefixProblems = (value: string): string[] => label1035Problems(withoutDash(value));

export function qualifiedNameProblems(value: string): string[] {
  const parts = value.split('/');
  if (parts.length > 2) {
    const { message } = rules.qualifiedName;
    return [`a valid label key ${message} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`];
  }
  const name = parts.at(-1)!;
  const prefix = parts.length === 2 ? parts[0]! : undefined;
  const found: string[] = [];
  if (prefix === '') found.push('prefix part must be non-empty');
  else if (prefix !== undefined) found.push(...subdomainProblems(prefix).map((problem) => `prefix part ${problem}`));
  if (name === '') found.push('name part must be non-empty');
  return [...found, ...problems(rules.qualifiedName, name).map((problem) => `name part ${problem}`)];
}
