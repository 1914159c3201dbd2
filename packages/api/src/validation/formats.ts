/**
 * Formats of names and texts in Kubernetes. Each function returns the reasons why a value does not have the format, in kube-apiserver's
 * wording; none if it has. Lengths are in bytes of UTF-8.
 */

export type Reasons = readonly string[];

const none: Reasons = [];

export const byteLength = (text: string): number => Buffer.byteLength(text);

export const regexReason = (message: string, pattern: string, ...examples: readonly string[]): string => {
  const such = examples.map((example) => `'${example}', `).join(' or ');
  return `${message} (${examples.length === 0 ? '' : `e.g. ${such}`}regex used for validation is '${pattern}')`;
};
export const rangeReason = (low: number, high: number): string => `must be between ${low} and ${high}, inclusive`;
export const negativeReason = 'must be greater than or equal to 0';
const lengthReason = (max: number): string => `must be no more than ${max} characters`;
const bytesReason = (max: number): string => `must be no more than ${max} bytes`;

const whole = (pattern: string): RegExp => new RegExp(`^${pattern}$`);

const label = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const subdomain = `${label}(\\.${label})*`;
const labelWithUnderscore = '_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?';
const subdomainWithUnderscore = `${labelWithUnderscore}(\\.${labelWithUnderscore})*`;
const label1035 = '[a-z]([-a-z0-9]*[a-z0-9])?';
const wildcard = `\\*\\.${subdomain}`;
const keyName = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]';
const labelValue = `(${keyName})?`;
const cIdentifier = '[A-Za-z_][A-Za-z0-9_]*';
const percent = '[0-9]+%';
const headerName = '[-A-Za-z0-9]+';
const variableName = '[-._a-zA-Z][-._a-zA-Z0-9]*';
const configKey = '[-._a-zA-Z0-9]+';

const isLabel = whole(label);
const isSubdomain = whole(subdomain);
const isSubdomainWithUnderscore = whole(subdomainWithUnderscore);
const isLabel1035 = whole(label1035);
const isWildcard = whole(wildcard);
const isKeyName = whole(keyName);
const isCIdentifier = whole(cIdentifier);
const isPercent = whole(percent);
const isHeaderName = whole(headerName);
const isVariableName = whole(variableName);
const isConfigKey = whole(configKey);

/** Checks the length and the pattern; `reason` is the pattern's reason. */
function lengthAndPattern(value: string, max: number, pattern: RegExp, reason: () => string): Reasons {
  const fits = value.length <= max && (value.length * 3 <= max || byteLength(value) <= max);
  const matches = pattern.test(value);
  if (fits && matches) return none;
  return [...(fits ? [] : [lengthReason(max)]), ...(matches ? [] : [reason()])];
}

const labelText =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character";
export const dnsLabelReasons = (value: string): Reasons =>
  lengthAndPattern(value, 63, isLabel, () =>
    isSubdomain.test(value) ? 'must not contain dots' : regexReason(labelText, label, 'my-name', '123-abc'),
  );

const subdomainText =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character";
export const dnsSubdomainReasons = (value: string): Reasons =>
  lengthAndPattern(value, 253, isSubdomain, () => regexReason(subdomainText, subdomain, 'example.com'));

const underscoreText =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', and must start and end with an alphanumeric character";
export const dnsSubdomainWithUnderscoreReasons = (value: string): Reasons =>
  lengthAndPattern(value, 253, isSubdomainWithUnderscore, () =>
    regexReason(underscoreText, subdomainWithUnderscore, 'example.com'),
  );

const label1035Text =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character";
export const dns1035LabelReasons = (value: string): Reasons =>
  lengthAndPattern(value, 63, isLabel1035, () => regexReason(label1035Text, label1035, 'my-name', 'abc-123'));

const wildcardText =
  "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character";
export const wildcardSubdomainReasons = (value: string): Reasons =>
  lengthAndPattern(value, 253, isWildcard, () => regexReason(wildcardText, wildcard, '*.example.com'));

const keyText =
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";
const keyReason = (): string => regexReason(keyText, keyName, 'MyName', 'my.name', '123-abc');

/** Keys of labels, annotations, taints, resources: `name` or `example.com/name`. */
export function qualifiedNameReasons(value: string): Reasons {
  const parts = value.split('/');
  if (parts.length > 2) {
    return [
      `a valid label key ${keyReason()} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
    ];
  }
  const name = parts.at(-1)!;
  const reasons: string[] = [];
  if (parts.length === 2) reasons.push(...prefixReasons(parts[0]!));
  if (name === '') reasons.push('name part must be non-empty');
  else if (byteLength(name) > 63) reasons.push(`name part ${bytesReason(63)}`);
  if (!isKeyName.test(name)) reasons.push(`name part ${keyReason()}`);
  return reasons;
}

function prefixReasons(prefix: string): Reasons {
  if (prefix === '') return ['prefix part must be non-empty'];
  const reasons: string[] = [];
  if (byteLength(prefix) > 253) reasons.push(`prefix part ${bytesReason(253)}`);
  if (!isSubdomain.test(prefix)) reasons.push(`prefix part ${regexReason(subdomainText, subdomain, 'example.com')}`);
  return reasons;
}

const valueText =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";
export function labelValueReasons(value: string): Reasons {
  const reasons: string[] = [];
  if (byteLength(value) > 63) reasons.push(bytesReason(63));
  if (value !== '' && !isKeyName.test(value)) {
    reasons.push(regexReason(valueText, labelValue, 'MyValue', 'my_value', '12345'));
  }
  return reasons;
}

const cIdentifierText =
  "a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric characters or '_'";
export const cIdentifierReasons = (value: string): Reasons =>
  isCIdentifier.test(value) ? none : [regexReason(cIdentifierText, cIdentifier, 'my_name', 'MY_NAME', 'MyName')];

export const portNumberReasons = (port: number): Reasons => inRangeReasons(port, 1, 65_535);
export const inRangeReasons = (value: number, low: number, high: number): Reasons =>
  value >= low && value <= high ? none : [rangeReason(low, high)];
/** For users and groups. */
export const idReasons = (id: number): Reasons => inRangeReasons(id, 0, 2 ** 31 - 1);

export function portNameReasons(name: string): Reasons {
  const reasons: string[] = [];
  if (byteLength(name) > 15) reasons.push(lengthReason(15));
  if (!/^[-a-z0-9]+$/.test(name)) {
    reasons.push('must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)');
  }
  if (!/[a-z]/.test(name)) reasons.push('must contain at least one letter (a-z)');
  if (name.includes('--')) reasons.push('must not contain consecutive hyphens');
  if (name.startsWith('-') || name.endsWith('-')) reasons.push('must not begin or end with a hyphen');
  return reasons;
}

const percentText = "a valid percent string must be a numeric string followed by an ending '%'";
export const percentReasons = (value: string): Reasons =>
  isPercent.test(value) ? none : [regexReason(percentText, percent, '1%', '93%')];

const headerText = "a valid HTTP header must consist of alphanumeric characters or '-'";
export const httpHeaderNameReasons = (value: string): Reasons =>
  isHeaderName.test(value) ? none : [regexReason(headerText, headerName, 'X-Header-Name')];

const variableText =
  "a valid environment variable name must consist of alphabetic characters, digits, '_', '-', or '.', and must not start with a digit";
export const environmentNameReasons = (value: string): Reasons => [
  ...(isVariableName.test(value)
    ? none
    : [regexReason(variableText, variableName, 'my.env-name', 'MY_ENV.NAME', 'MyEnvName1')]),
  ...dotReasons(value),
];

/** Names of environment variables since Kubernetes 1.34: any printable characters except `=`. */
export function relaxedEnvironmentNameReasons(value: string): Reasons {
  if (value === '') return ['environment variable name must be non-empty'];
  if (/^[\x20-\x3c\x3e-\x7e]+$/.test(value)) return none;
  return ["a valid environment variable name must consist only of printable ASCII characters other than '='"];
}

const configKeyText = "a valid config key must consist of alphanumeric characters, '-', '_' or '.'";
export const configKeyReasons = (value: string): Reasons => [
  ...lengthAndPattern(value, 253, isConfigKey, () =>
    regexReason(configKeyText, configKey, 'key.name', 'KEY_NAME', 'key-name'),
  ),
  ...dotReasons(value),
];

function dotReasons(value: string): Reasons {
  if (value === '.') return ["must not be '.'"];
  if (value === '..') return ["must not be '..'"];
  return value.startsWith('..') ? ["must not start with '..'"] : none;
}

/** A name that will get a suffix may end in a dash. */
const withoutDash = (name: string, isPrefix: boolean): string =>
  isPrefix && name.length > 1 && name.endsWith('-') ? `${name.slice(0, -2)}a` : name;

export type NameRule = (name: string, isPrefix: boolean) => Reasons;
export const nameIsSubdomain: NameRule = (name, isPrefix) => dnsSubdomainReasons(withoutDash(name, isPrefix));
export const nameIsLabel: NameRule = (name, isPrefix) => dnsLabelReasons(withoutDash(name, isPrefix));
export const nameIs1035Label: NameRule = (name, isPrefix) => dns1035LabelReasons(withoutDash(name, isPrefix));

/** Any valid path segment: names of RBAC objects. */
export const nameIsPathSegment: NameRule = (name, isPrefix) => {
  if (!isPrefix && (name === '.' || name === '..')) return [`may not be '${name}'`];
  return ['/', '%'].filter((one) => name.includes(one)).map((one) => `may not contain '${one}'`);
};
