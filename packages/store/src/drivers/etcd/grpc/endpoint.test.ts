import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseEndpoint, refusesOurCertificate } from './endpoint.ts';

test('an endpoint is a scheme, a host and a port', () => {
  const parsed = [
    'http://127.0.0.1:2379',
    'https://etcd.example',
    'https://[::1]:12379',
    'https://etcd:443/',
    'http://etcd:80',
  ].map(parseEndpoint);
  assert.deepEqual(
    parsed.map(({ host, port, secure, authority }) => [host, port, secure, authority]),
    [
      ['127.0.0.1', 2379, false, '127.0.0.1:2379'],
      ['etcd.example', 2379, true, 'etcd.example:2379'],
      ['::1', 12379, true, '[::1]:12379'],
      ['etcd', 443, true, 'etcd:443'],
      ['etcd', 80, false, 'etcd:80'],
    ],
  );
});

test('whatever else is refused', () => {
  const others = ['', '127.0.0.1:2379', 'etcd', 'unix:///tmp/x', 'http://a:1/path', 'http://u:p@a', 'http://a:1?x=1'];
  for (const text of others) assert.throws(() => parseEndpoint(text), { code: 'InvalidRequest' }, text);
});

test('a refused certificate is told from a connection that breaks', () => {
  const codes = {
    ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED: true,
    ERR_SSL_TLSV1_ALERT_UNKNOWN_CA: true,
    ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE: true,
    ERR_SSL_WRONG_VERSION_NUMBER: false,
    ECONNRESET: false,
  };
  for (const [code, refused] of Object.entries(codes)) {
    assert.equal(refusesOurCertificate(Object.assign(new Error(code), { code })), refused, code);
  }
});
