/** AWS Signature Version 4 in headers, for S3: https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html. */

import { createHash, createHmac } from 'node:crypto';

export interface S3Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** Of temporary credentials. */
  readonly sessionToken?: string | undefined;
}

export interface SignedRequest {
  readonly method: string;
  readonly host: string;
  /** Escaped. */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  /** Names in lower case. All are signed. */
  readonly headers: Readonly<Record<string, string>>;
  /** SHA-256 of the body, hexadecimal: the server refuses a body that was changed on the way. */
  readonly bodySha256: string;
}

export interface SignOptions {
  readonly credentials: S3Credentials;
  readonly region: string;
  /** Milliseconds since 1970. */
  readonly nowMs: number;
}

const algorithm = 'AWS4-HMAC-SHA256';
export const emptySha256: string = createHash('sha256').digest('hex');

/** Returns all headers of the request, with its signature. */
export function signedHeaders(
  request: SignedRequest,
  { credentials, region, nowMs }: SignOptions,
): Record<string, string> {
  const time = new Date(nowMs).toISOString().replaceAll(/[-:]|\.\d{3}/g, '');
  const headers: Record<string, string> = {
    ...request.headers,
    host: request.host,
    'x-amz-content-sha256': request.bodySha256,
    'x-amz-date': time,
    ...(credentials.sessionToken !== undefined && { 'x-amz-security-token': credentials.sessionToken }),
  };
  const names = Object.keys(headers).sort();
  const canonical = [
    request.method,
    request.path,
    queryText(request.query),
    ...names.map((name) => `${name}:${headers[name]!.trim()}`),
    '',
    names.join(';'),
    request.bodySha256,
  ].join('\n');
  const scope = `${time.slice(0, 8)}/${region}/s3/aws4_request`;
  const digest = createHash('sha256').update(canonical).digest('hex');
  const key = [time.slice(0, 8), region, 's3', 'aws4_request'].reduce<string | Buffer>(
    (secret, part) => hmac(secret, part),
    `AWS4${credentials.secretAccessKey}`,
  );
  const signature = hmac(key, [algorithm, time, scope, digest].join('\n')).toString('hex');
  const credential = `Credential=${credentials.accessKeyId}/${scope}`;
  return {
    ...headers,
    authorization: `${algorithm} ${credential}, SignedHeaders=${names.join(';')}, Signature=${signature}`,
  };
}

/** The query as it is signed and sent: escaped, and sorted by name. */
export const queryText = (query: Readonly<Record<string, string>>): string =>
  Object.keys(query)
    .map((name): [string, string] => [escaped(name), escaped(query[name]!)])
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, value]) => `${name}=${value}`)
    .join('&');

/** Escapes all characters except letters, digits, "-", ".", "_" and "~". */
export const escaped = (text: string): string =>
  encodeURIComponent(text).replaceAll(/[!'()*]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`);

const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest();
