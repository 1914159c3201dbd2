/** Decodes the output of a credential plugin, with the checks of client-go. */

import { isObject, parseJson } from '@hangar/api/json';
import { parseTime } from '@hangar/api/values';
import type { JsonObject } from '@hangar/api';
import type { ClientCertificate } from '../cluster-config.ts';
import { isToken, pairProblem } from '../credentials-material.ts';
import type { ExecConfig } from './exec-config.ts';
import { pluginError } from './run-plugin.ts';

export interface ExecCredential {
  readonly token?: string | undefined;
  readonly pair?: ClientCertificate | undefined;
  /** Wall time in milliseconds. Absent: until the server rejects it. */
  readonly expiresAtMs?: number | undefined;
}

export function execCredentialOf(config: ExecConfig, output: string): ExecCredential {
  const status = statusOf(config, output);
  const text = (name: string): string | undefined => {
    const value = status[name] ?? '';
    if (typeof value !== 'string') throw pluginError(config, `returned a ${name} that is not a string`);
    return value === '' ? undefined : value;
  };
  const token = text('token');
  if (token !== undefined && !isToken(token)) throw pluginError(config, 'returned an invalid token');
  const pair = pairOf(config, text('clientCertificateData'), text('clientKeyData'));
  if (token === undefined && pair === undefined) {
    throw pluginError(config, 'returned neither a token nor a certificate');
  }
  return { token, pair, expiresAtMs: timeOf(config, text('expirationTimestamp')) };
}

function statusOf(config: ExecConfig, output: string): JsonObject {
  let answer: unknown;
  try {
    answer = parseJson(output).value;
  } catch {
    // Omits the message of the parser: it could quote a secret.
    throw pluginError(config, 'returned invalid JSON');
  }
  if (!isObject(answer) || answer['kind'] !== 'ExecCredential') {
    throw pluginError(config, 'returned an object that is not an ExecCredential');
  }
  if (answer['apiVersion'] !== config.apiVersion) {
    const found = String(answer['apiVersion']).slice(0, 100);
    throw pluginError(config, `returned API version ${found}, but is configured for ${config.apiVersion}`);
  }
  if (!isObject(answer['status'])) throw pluginError(config, 'returned an ExecCredential without status');
  return answer['status'];
}

function pairOf(
  config: ExecConfig,
  certificate: string | undefined,
  key: string | undefined,
): ClientCertificate | undefined {
  if (certificate === undefined && key === undefined) return undefined;
  if (certificate === undefined || key === undefined) {
    throw pluginError(
      config,
      `returned a ${key === undefined ? 'certificate without a key' : 'key without a certificate'}`,
    );
  }
  const problem = pairProblem({ certificate, key });
  if (problem !== undefined) throw pluginError(config, `returned a certificate that cannot be used: ${problem}`);
  return { certificate, key };
}

function timeOf(config: ExecConfig, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  try {
    const { seconds, nanos } = parseTime(text, 'second');
    return seconds * 1_000 + nanos / 1e6;
  } catch (cause) {
    throw pluginError(config, 'returned an invalid expirationTimestamp', cause);
  }
}
