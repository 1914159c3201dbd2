/**
 * YAML as the Go library of Kubernetes reads it: YAML 1.1 booleans (`y`, `no`, `on`), Go's integers (`0x1f`, `0o17`,
 * `017`, `1_000`), no base 60, and times remain texts.
 */

import { boolYaml11Tag, defineScalarTag, FAILSAFE_SCHEMA, mergeTag, NOT_RESOLVED, nullYaml11Tag } from 'js-yaml';

const isFloat = /^[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?$/;
const isInteger = /^[-+]?(?:0[xX][0-9a-fA-F]+|0[oO]?[0-7]+|0[bB][01]+|0|[1-9]\d*)$/;
const infinities: Readonly<Record<string, true>> = Object.fromEntries(
  ['', '+', '-'].flatMap((sign) => ['.inf', '.Inf', '.INF'].map((word) => [sign + word, true as const])),
);

const integerTag = defineScalarTag<number>('tag:yaml.org,2002:int', {
  implicit: true,
  implicitFirstChars: [...'-+0123456789'],
  resolve: (source) => integerOf(source) ?? NOT_RESOLVED,
  identify: () => false,
});

function integerOf(source: string): number | undefined {
  const plain = source.replaceAll('_', '');
  if (!isInteger.test(plain)) return undefined;
  const sign = plain.startsWith('-') ? -1 : 1;
  const digits = plain.replace(/^[-+]/, '');
  const isOldOctal = /^0\d/.test(digits);
  const value = sign * Number(isOldOctal ? `0o${digits.slice(1)}` : digits);
  return Number.isFinite(value) ? value + 0 : undefined;
}

const floatTag = defineScalarTag<number>('tag:yaml.org,2002:float', {
  implicit: true,
  implicitFirstChars: [...'-+.0123456789'],
  resolve: (source) => {
    const plain = source.replaceAll('_', '');
    const value = isFloat.test(plain) ? Number(plain) : Number.NaN;
    // JSON has neither infinities nor NaN, and the server refuses them.
    return Number.isFinite(value) && !infinities[source] ? value : NOT_RESOLVED;
  },
  identify: () => false,
});

const binaryTag = defineScalarTag<string>('tag:yaml.org,2002:binary', {
  resolve: (source) => Buffer.from(source, 'base64').toString('utf8'),
  identify: () => false,
});

export const kubernetesYaml = FAILSAFE_SCHEMA.withTags(
  nullYaml11Tag,
  boolYaml11Tag,
  integerTag,
  floatTag,
  binaryTag,
  mergeTag,
);
