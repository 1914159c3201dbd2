import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { describe, test } from 'node:test';
import { parseS3Address, s3Environment } from './s3-address.ts';
import { connectionError, responseError } from './s3-errors.ts';
import { s3Storage } from './s3-storage.ts';
import { emptySha256, escaped, queryText, signedHeaders } from './sign.ts';
import { elementsOf, textOf, xmlText } from './xml.ts';

const credentials = {
  accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
};

describe('signatures', () => {
  // The examples of the AWS documentation.
  const sign = (query: Record<string, string>, headers: Record<string, string>, path = '/'): string => {
    const request = { method: 'GET', host: 'examplebucket.s3.amazonaws.com', path, query, headers };
    const options = { credentials, region: 'us-east-1', nowMs: Date.UTC(2013, 4, 24) };
    return signedHeaders({ ...request, bodySha256: emptySha256 }, options)['authorization']!.split('Signature=')[1]!;
  };

  test('equal the published ones', () => {
    const object = sign({}, { range: 'bytes=0-9' }, '/test.txt');
    assert.equal(object, 'f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41');
    const lifecycle = sign({ lifecycle: '' }, {});
    assert.equal(lifecycle, 'fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543');
    const list = sign({ prefix: 'J', 'max-keys': '2' }, {});
    assert.equal(list, '34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7');
  });

  test('escape as S3 requires, and sign the token of temporary credentials', () => {
    assert.equal(escaped("a b/!'()*~ü"), 'a%20b%2F%21%27%28%29%2A~%C3%BC');
    assert.equal(queryText({ b: '1', a: 'x y', 'a-b': '' }), 'a=x%20y&a-b=&b=1');
    const request = { method: 'GET', host: 'h', path: '/', query: {}, headers: {}, bodySha256: emptySha256 };
    const temporary = { ...credentials, sessionToken: 'token' };
    const headers = signedHeaders(request, { credentials: temporary, region: 'x', nowMs: 0 });
    assert.equal(headers['x-amz-security-token'], 'token');
    assert.match(headers['authorization']!, /SignedHeaders=host;x-amz-content-sha256;x-amz-date;x-amz-security-token,/);
  });
});

describe('XML', () => {
  test('gives elements and unescapes text', () => {
    const xml = '<L><C><Key>a&amp;&#60;&#x3e;&quot;</Key></C><C><Key>b</Key></C><C>';
    assert.deepEqual(
      elementsOf(xml, 'C').map((one) => textOf(one, 'Key')),
      ['a&<>"', 'b'],
    );
    assert.equal(textOf(xml, 'None'), undefined);
    assert.equal(textOf(`<K>${xmlText('"<&>"')}</K>`, 'K'), '"<&>"');
    assert.equal(textOf('<K>&#x110000;&bogus;</K>', 'K'), '&#x110000;&bogus;');
  });
});

describe('errors of S3', () => {
  const failed = { action: 'PUT of x', place: 'bucket b of host' };
  const codeOf = (status: number, s3Code = ''): readonly [string, boolean] => {
    const body = s3Code === '' ? '' : `<Error><Code>${s3Code}</Code><Message>details</Message></Error>`;
    const { code, isRetryable } = responseError(failed, status, body);
    return [code, isRetryable];
  };

  test('have a code that says what to do', () => {
    assert.deepEqual(codeOf(403, 'AccessDenied'), ['AccessDenied', false]);
    assert.deepEqual(codeOf(403, 'ExpiredToken'), ['CredentialsExpired', false]);
    assert.deepEqual(codeOf(400, 'ExpiredToken'), ['CredentialsExpired', false]);
    assert.deepEqual(codeOf(404, 'NoSuchBucket'), ['BucketNotFound', false]);
    assert.deepEqual(codeOf(404), ['NotFound', false]);
    assert.deepEqual(codeOf(507), ['StorageFull', false]);
    assert.deepEqual(codeOf(412, 'PreconditionFailed'), ['AlreadyExists', false]);
    assert.deepEqual(codeOf(400, 'InvalidPart'), ['StorageFailed', false]);
    assert.deepEqual(codeOf(501, 'NotImplemented'), ['StorageFailed', false]);
  });

  test('are retried when the same request can succeed', () => {
    assert.deepEqual(codeOf(503, 'SlowDown'), ['Unavailable', true]);
    assert.deepEqual(codeOf(500, 'InternalError'), ['Unavailable', true]);
    assert.deepEqual(codeOf(200, 'InternalError'), ['Unavailable', true]);
    assert.deepEqual(codeOf(429), ['Unavailable', true]);
    assert.deepEqual(codeOf(400, 'XAmzContentSHA256Mismatch'), ['Unavailable', true]);
    const certificate = Object.assign(new Error('self-signed certificate'), { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' });
    assert.equal(connectionError(failed, certificate).isRetryable, false);
    assert.match(connectionError(failed, certificate).message, /set the CA of the server/);
    assert.equal(connectionError(failed, new Error('socket hang up')).isRetryable, true);
  });
});

describe('a long body', () => {
  const body = async function* (): AsyncGenerator<Uint8Array, void, void> {
    yield Buffer.alloc(3 * 1024 * 1024);
  };

  /** A server that answers after the head of a request and closes the connection. */
  async function refusing(answer: string): Promise<{ endpoint: string; bodyBytes: () => number; close(): void }> {
    let bodyBytes = 0;
    const server = createServer((socket) => {
      let isAnswered = false;
      socket.on('error', () => {});
      socket.on('data', (piece) => {
        if (isAnswered) bodyBytes += piece.length;
        else if (piece.includes('\r\n\r\n')) {
          isAnswered = true;
          socket.end(answer);
        }
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    return { endpoint, bodyBytes: () => bodyBytes, close: () => server.close() };
  }

  test('is not sent to a server that refuses it, and the refusal is reported', async () => {
    const xml = '<Error><Code>ExpiredToken</Code></Error>';
    const head = `HTTP/1.1 403 Forbidden\r\ncontent-length: ${xml.length}\r\nconnection: close\r\n\r\n`;
    const server = await refusing(`${head}${xml}`);
    const storage = s3Storage({ bucket: 'bucket', credentials, endpoint: server.endpoint });
    await assert.rejects(storage.upload('key', body()), { code: 'CredentialsExpired' });
    assert.equal(server.bodyBytes(), 0);
    storage.close();
    server.close();
  });
});

describe('addresses', () => {
  test('have a bucket, an optional prefix and a name', () => {
    assert.deepEqual(parseS3Address('s3://b/x'), { bucket: 'b', prefix: '', name: 'x' });
    assert.deepEqual(parseS3Address('s3://b/p/q/x'), { bucket: 'b', prefix: 'p/q', name: 'x' });
    for (const bad of ['s3://', 's3://b', 's3://b/', 's3://b/p/', 's3:///x']) {
      assert.throws(() => parseS3Address(bad), { code: 'InvalidName' }, bad);
    }
  });

  test('are refused when a bucket, prefix or endpoint is malformed', () => {
    const open = (more: object) => () => s3Storage({ bucket: 'bucket', credentials, ...more });
    for (const more of [
      { bucket: 'a' },
      { bucket: '../x' },
      { prefix: 'a/../b' },
      { prefix: 'a//b' },
      { prefix: 'a?b' },
      { endpoint: 'host:9000' },
      { endpoint: 'ftp://host' },
      { endpoint: 'https://user:secret@host' },
    ]) {
      assert.throws(open(more), { code: 'InvalidName' }, JSON.stringify(more));
    }
    assert.equal(s3Storage({ bucket: 'bucket', prefix: '/a/b/', credentials }).description, 's3://bucket/a/b');
  });

  test('come from the usual variables', () => {
    assert.deepEqual(s3Environment({ AWS_ACCESS_KEY_ID: 'a', AWS_REGION: '' }), {
      endpoint: undefined,
      region: undefined,
      caFile: undefined,
      credentials: undefined,
    });
    const all = s3Environment({
      AWS_ACCESS_KEY_ID: 'a',
      AWS_SECRET_ACCESS_KEY: 'b',
      AWS_SESSION_TOKEN: 'c',
      AWS_DEFAULT_REGION: 'r',
      AWS_ENDPOINT_URL: 'https://general',
      AWS_ENDPOINT_URL_S3: 'https://s3',
      AWS_CA_BUNDLE: '/ca',
    });
    assert.deepEqual(all.credentials, { accessKeyId: 'a', secretAccessKey: 'b', sessionToken: 'c' });
    assert.deepEqual([all.endpoint, all.region, all.caFile], ['https://s3', 'r', '/ca']);
  });
});
