/**
 * The layout of a destination, below its prefix or folder:
 *
 *     NAME.backup.json       the record: written last, and the only object that makes a backup exist
 *     data/NAME.ID.backup    the bytes; ID is random, so that a new backup of the same name does not touch the old one
 */

import { BackupError } from '../errors.ts';
import { isObject } from '../format/index.ts';

export interface BackupRecord {
  readonly name: string;
  readonly sizeBytes: number;
  /** SHA-256 of the bytes, hexadecimal. */
  readonly sha256: string;
  /** RFC 3339: when the upload was complete. */
  readonly storedAt: string;
  /** Identifies the data object. */
  readonly id: string;
  /** Facts that the program that stored the backup added, such as a digest of its content. Absent: none. */
  readonly facts?: Readonly<Record<string, string>>;
}

export const recordBytesMax = 16 * 1024;
const kind = 'HangarBackup';
const format = 1;
/** Far below the limit of a record, in which a character of a fact needs up to six bytes. */
const factCharactersMax = 1_000;
const recordSuffix = '.backup.json';
export const dataPrefix = 'data/';

export const recordKey = (name: string): string => `${name}${recordSuffix}`;
export const dataKey = (name: string, id: string): string => `${dataPrefix}${name}.${id}.backup`;

/** Returns the name of the backup of a record; undefined for other objects. */
export function nameOfRecord(key: string): string | undefined {
  const name = key.endsWith(recordSuffix) ? key.slice(0, -recordSuffix.length) : '';
  return isName(name) ? name : undefined;
}

/** Returns the name and the id of a data object; undefined for other objects. */
export function partsOfData(key: string): { name: string; id: string } | undefined {
  const [, name = '', id = ''] = /^data\/(.+)\.([0-9a-f]{32})\.backup$/.exec(key) ?? [];
  return isName(name) ? { name, id } : undefined;
}

const isName = (text: string): boolean => /^[A-Za-z0-9][A-Za-z0-9._-]{0,199}$/.test(text);

/** Throws `InvalidName`. */
export function checkName(name: string): void {
  if (isName(name)) return;
  throw new BackupError(
    'InvalidName',
    `${JSON.stringify(name.slice(0, 100))} is not a valid name of a backup: use up to 200 letters, digits, ".", "_" and "-", and start with a letter or digit`,
  );
}

export const encodeRecord = (record: BackupRecord): Buffer => Buffer.from(JSON.stringify({ kind, format, ...record }));

/** Throws `Corrupted` or `UnsupportedVersion`. */
export function decodeRecord(name: string, bytes: Uint8Array): BackupRecord {
  const value = parsed(bytes);
  if (!isObject(value) || value['kind'] !== kind) throw invalid(name, 'it is not the record of a backup');
  if (value['format'] !== format) {
    throw new BackupError(
      'UnsupportedVersion',
      `the record of backup ${name} has format ${String(value['format'])}, and this version of Hangar supports ${format}`,
    );
  }
  const { sizeBytes, sha256, storedAt, id } = value;
  if (value['name'] !== name) throw invalid(name, 'it has another name');
  if (!Number.isSafeInteger(sizeBytes) || Number(sizeBytes) < 0) throw invalid(name, 'it has no valid size');
  if (typeof sha256 !== 'string' || !/^[0-9a-f]{64}$/.test(sha256)) throw invalid(name, 'it has no valid digest');
  if (typeof id !== 'string' || !/^[0-9a-f]{32}$/.test(id)) throw invalid(name, 'it has no valid id');
  if (typeof storedAt !== 'string' || Number.isNaN(Date.parse(storedAt))) throw invalid(name, 'it has no valid time');
  return { name, sizeBytes: Number(sizeBytes), sha256, storedAt, id, ...factsOf(name, value['facts']) };
}

function factsOf(name: string, value: unknown): { facts?: Readonly<Record<string, string>> } {
  if (value === undefined) return {};
  if (!isObject(value) || !Object.values(value).every((one) => typeof one === 'string')) {
    throw invalid(name, 'it has no valid facts');
  }
  return { facts: value as Record<string, string> };
}

/** Throws `InvalidName` if they do not fit into a record. */
export function checkFacts(facts: Readonly<Record<string, string>>): void {
  if (Object.entries(facts).flat().join('').length <= factCharactersMax) return;
  throw new BackupError('InvalidName', `the facts of a backup have more than ${factCharactersMax} characters`);
}

function parsed(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes).toString());
  } catch {
    return undefined;
  }
}

const invalid = (name: string, problem: string): BackupError =>
  new BackupError('Corrupted', `the record of backup ${name} is invalid: ${problem}`);
