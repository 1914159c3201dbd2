/**
 * The formats of strings that Kubernetes checks. Names are compared without dashes; other formats are not checked. The checks are those of
 * Go's parsers, with their leniencies.
 */

import { isIPv4, isIPv6 } from 'node:net';
import { parseUrl } from '@hangar/cel';
import { dnsLabelReasons, dnsSubdomainReasons } from '../../validation/formats.ts';
import { parseDuration } from '../../values/duration.ts';
import { isEmail } from './email.ts';

type Check = (text: string) => boolean;

const matches =
  (pattern: RegExp): Check =>
  (text) =>
    pattern.test(text);

const anyHostname =
  /^([a-zA-Z0-9\p{S}\p{L}]((-?[a-zA-Z0-9\p{S}\p{L}]{0,62})?)|([a-zA-Z0-9\p{S}\p{L}](([a-zA-Z0-9-\p{S}\p{L}]{0,61}[a-zA-Z0-9\p{S}\p{L}])?)(\.)){1,}([a-zA-Z\p{L}]){2,63})$/u;

function isHostname(text: string): boolean {
  if (Buffer.byteLength(text) > 255) return false;
  return anyHostname.test(text) && text.split('.').every((label) => Buffer.byteLength(label) <= 63);
}

/** Go's lenient parser allows leading zeros. */
const withoutZeros = (text: string): string => text.replace(/(^|[.:])0+(?=\d)/g, '$1');
const isIp = (text: string): boolean => isIPv4(text) || (isIPv6(text) && !text.includes('%'));
const isLenientIp = (text: string): boolean => isIp(text) || (text.includes('.') && isIp(withoutZeros(text)));

function isCidr(text: string): boolean {
  const [, address = '', length = ''] = /^(.*)\/(\d{1,3})$/.exec(text) ?? [];
  return isLenientIp(address) && Number(length) <= (address.includes(':') ? 128 : 32);
}

/** 6, 8 or 20 bytes: `00:00:5e:00:53:01`, `00-00-…`, `0000.5e00.5301`. */
function isMac(text: string): boolean {
  const pairs = /^[0-9a-f]{2}(?:([:-])[0-9a-f]{2})(?:\1[0-9a-f]{2})+$/i;
  const fours = /^[0-9a-f]{4}(?:\.[0-9a-f]{4})+$/i;
  const digits = text.replace(/[:.-]/g, '').length;
  return (digits === 12 || digits === 16 || digits === 40) && (pairs.test(text) || fours.test(text));
}

export function isDate(text: string): boolean {
  const [, year, month, day] = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text) ?? [];
  if (year === undefined) return false;
  const date = new Date(0);
  date.setUTCFullYear(Number(year), Number(month) - 1, Number(day));
  return date.getUTCMonth() === Number(month) - 1 && date.getUTCDate() === Number(day);
}

function isDateTime(text: string): boolean {
  const [date = '', time] = text.toLowerCase().split('t');
  if (time === undefined || !isDate(date)) return false;
  const [, hour, minute, second] = /^(\d\d):(\d\d):(\d\d)(?:.\d+)?(?:z|[+-]\d\d:\d\d)$/.exec(time) ?? [];
  return hour !== undefined && hour <= '23' && minute! <= '59' && second! <= '59';
}

const durationUnits = new Set(['ns', 'us', 'µs', 'ms', 's', 'm', 'h', 'hr', 'd', 'w', 'wk']);
const durationWords = ['nano', 'micro', 'milli', 'sec', 'min', 'hour', 'day', 'week'];

/** Go's durations, and a number with a unit anywhere in the text. */
function isDuration(text: string): boolean {
  return isGoDuration(text) || hasDuration(text);
}

/** No duration is longer, and parsing takes the square of the length. */
const durationLengthMax = 200;

function isGoDuration(text: string): boolean {
  if (text.length > durationLengthMax) return false;
  try {
    parseDuration(text);
    return true;
  } catch {
    return false;
  }
}

/** Checks texts such as `5 minutes`; split into words so that every character is read once. */
function hasDuration(text: string): boolean {
  const words = text.match(/\d+|\s+|[A-Za-zµ]+|[^\dA-Za-zµ\s]+/g) ?? [];
  let isKnown = false;
  for (const [i, word] of words.entries()) {
    const unit = words[i + 1]?.trim() === '' ? words[i + 2] : words[i + 1];
    if (!/^\d/.test(word) || unit === undefined || !/^[A-Za-zµ]/.test(unit)) continue;
    const digits = word.replace(/^0+(?=\d)/, '');
    if (digits.length > 19 || BigInt(digits) >= 2n ** 63n) return false;
    const lower = unit.toLowerCase();
    isKnown ||= durationUnits.has(lower) || durationWords.some((known) => lower.startsWith(known));
  }
  return isKnown;
}

const luhn = (digits: string): boolean => {
  let sum = 0;
  for (let i = digits.length - 1, doubled = false; i >= 0; i--, doubled = !doubled) {
    const digit = Number(digits[i]) * (doubled ? 2 : 1);
    sum += digit > 9 ? digit - 9 : digit;
  }
  return sum % 10 === 0;
};

const cardNumber =
  /^(?:4\d{12}(?:\d{3})?|5[1-5]\d{14}|6(?:011|5\d\d)\d{12}|3[47]\d{13}|3(?:0[0-5]|[68]\d)\d{11}|(?:2131|1800|35\d{3})\d{11})$/;
const isCreditCard: Check = (text) => {
  const digits = text.replace(/\D+/g, '');
  return cardNumber.test(digits) && luhn(digits);
};

const isbnDigits = (text: string): string => text.replace(/[\s-]+/g, '');
const isIsbn10: Check = (text) => {
  const digits = isbnDigits(text);
  if (!/^(?:\d{9}X|\d{10})$/.test(digits)) return false;
  return [...digits].reduce((sum, digit, i) => sum + (i + 1) * (digit === 'X' ? 10 : Number(digit)), 0) % 11 === 0;
};
const isIsbn13: Check = (text) => {
  const digits = isbnDigits(text);
  if (!/^\d{13}$/.test(digits)) return false;
  return [...digits].reduce((sum, digit, i) => sum + (i % 2 === 0 ? 1 : 3) * Number(digit), 0) % 10 === 0;
};

const channel = '\\s*(?:0|[1-9]\\d?|1\\d\\d?|2[0-4]\\d|25[0-5])\\s*';
const uuid = (version: string, variant: string): Check =>
  matches(new RegExp(`^[0-9a-f]{8}-?[0-9a-f]{4}-?${version}-?${variant}-?[0-9a-f]{12}$`, 'i'));
const four = '[0-9a-f]{4}';

const checks: Readonly<Record<string, Check>> = {
  bsonobjectid: matches(/^[0-9a-f]{24}$/i),
  uri: (text) => parseUrl(text) !== undefined,
  email: isEmail,
  hostname: isHostname,
  ipv4: (text) => text.includes('.') && isLenientIp(text),
  ipv6: (text) => text.includes(':') && isIp(text),
  cidr: isCidr,
  mac: isMac,
  uuid: uuid(four, four),
  uuid3: uuid('3[0-9a-f]{3}', four),
  uuid4: uuid('4[0-9a-f]{3}', '[89ab][0-9a-f]{3}'),
  uuid5: uuid('5[0-9a-f]{3}', '[89ab][0-9a-f]{3}'),
  isbn: (text) => isIsbn10(text) || isIsbn13(text),
  isbn10: isIsbn10,
  isbn13: isIsbn13,
  creditcard: isCreditCard,
  ssn: (text) => text.length === 11 && /^\d{3}[- ]?\d{2}[- ]?\d{4}$/.test(text),
  hexcolor: matches(/^#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$/),
  rgbcolor: matches(new RegExp(`^rgb\\(${channel},${channel},${channel}\\)$`)),
  byte: (text) => text.length > 0 && text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text),
  password: () => true,
  date: isDate,
  duration: isDuration,
  datetime: isDateTime,
  k8sshortname: (text) => dnsLabelReasons(text).length === 0,
  k8slongname: (text) => dnsSubdomainReasons(text).length === 0,
};

/** The check of a string's format; undefined for a format that is not checked. */
export function formatCheck(format: string): Check | undefined {
  const name = format.replaceAll('-', '');
  return Object.hasOwn(checks, name) ? checks[name] : undefined;
}

/** Formats mean something for one type each; others are ignored, with a warning when the definition is written. */
export function isKnownFormat(format: string, type: string): boolean {
  switch (type) {
    case '':
    case 'string':
      return formatCheck(format) !== undefined;
    case 'integer':
      return format === 'int32' || format === 'int64';
    case 'number':
      return format === 'float' || format === 'double';
    default:
      return false;
  }
}
