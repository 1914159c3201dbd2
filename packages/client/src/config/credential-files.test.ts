import assert from 'node:assert/strict';
import { rename, rm } from 'node:fs/promises';
import { describe, test } from 'node:test';
import { testAuthority, virtualClock } from '@hangar/testkit';
import { CertificateFiles } from './certificate-files.ts';
import { testFolder } from './testing/files.ts';
import { TokenFile } from './token-file.ts';

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

describe('a token in a file', () => {
  test('is read again after a minute, and not before', async (context) => {
    const folder = await testFolder(context);
    const clock = virtualClock();
    const path = await folder.write('token', 'one\n');
    const token = new TokenFile(path, { clock });
    assert.deepEqual(await token.headers(), bearer('one'));
    await folder.write('token', 'two');
    await clock.advance(59_999);
    assert.deepEqual(token.headers(), bearer('one'), 'without even a promise');
    await clock.advance(1);
    assert.deepEqual(await token.headers(), bearer('two'));
  });

  test('is used on while the file cannot be read', async (context) => {
    const folder = await testFolder(context);
    const clock = virtualClock();
    const path = await folder.write('token', 'one');
    const token = new TokenFile(path, { clock });
    await token.headers();
    await rm(path);
    await clock.advance(60_000);
    assert.deepEqual(await token.headers(), bearer('one'));
    await folder.write('token', 'two');
    await clock.advance(1_000);
    assert.deepEqual(await token.headers(), bearer('two'));
  });

  test('is read at once after a refusal, by one of many', async (context) => {
    const folder = await testFolder(context);
    const clock = virtualClock();
    const token = new TokenFile(await folder.write('token', 'one'), { clock });
    await token.headers();
    await clock.advance(10_000);
    assert.equal(await token.refresh(), false, 'it is the same: asking again is useless');
    await folder.write('token', 'two');
    await clock.advance(1_000);
    assert.deepEqual(await Promise.all([token.refresh(), token.refresh()]), [true, true]);
    assert.deepEqual(await token.headers(), bearer('two'));
  });

  test('that is absent, empty or no token is an error that names the file', async (context) => {
    const folder = await testFolder(context);
    const absent = new TokenFile(`${folder.path}/absent`);
    await assert.rejects(async () => absent.headers(), { code: 'CredentialsFailed', message: /absent: ENOENT/ });
    for (const [text, message] of [
      ['', /is empty/],
      ['a\nb', /does not contain a valid token/],
    ] as const) {
      const token = new TokenFile(await folder.write('token', text));
      await assert.rejects(async () => token.headers(), { code: 'CredentialsFailed', message });
    }
  });

  test('gives way to the token of the kubeconfig only until it could be read', async (context) => {
    const folder = await testFolder(context);
    const token = new TokenFile(await folder.write('token', 'of-file'), { token: 'of-config' });
    assert.deepEqual(await token.headers(), bearer('of-file'));
    assert.deepEqual(
      await new TokenFile(`${folder.path}/absent`, { token: 'of-config' }).headers(),
      bearer('of-config'),
    );
  });
});

describe('a certificate in files', () => {
  test('is the same object until the files change, and the old pair while they do not fit', async (context) => {
    const folder = await testFolder(context);
    const authority = testAuthority();
    const [one, two] = [authority.client('one'), authority.client('two')];
    const certificate = { path: await folder.write('c.pem', one.certificate) };
    const key = { path: await folder.write('k.pem', one.key) };
    const files = new CertificateFiles(certificate, key);
    const first = await files.clientCertificate();
    assert.equal(first.certificate, one.certificate);
    assert.equal(await files.clientCertificate(), first);
    assert.equal(await files.refresh(), false);
    await rename(await folder.write('next', two.certificate), certificate.path);
    assert.equal(await files.clientCertificate(), first, 'half of a renewal is none');
    await rename(await folder.write('next', two.key), key.path);
    assert.equal(await files.refresh(), true);
    assert.deepEqual(await files.clientCertificate(), { certificate: two.certificate, key: two.key });
    await rm(key.path);
    assert.equal((await files.clientCertificate()).key, two.key);
  });

  test('that is no certificate is an error', async (context) => {
    const folder = await testFolder(context);
    const { certificate, key } = testAuthority().client('one');
    const path = await folder.write('c.pem', 'nonsense');
    await assert.rejects(new CertificateFiles({ path }, { data: key }).clientCertificate(), {
      code: 'CredentialsFailed',
      message: /c\.pem, the kubeconfig: the certificate or the private key is not valid PEM/,
    });
    const absent = new CertificateFiles({ data: certificate }, { path: `${folder.path}/absent` });
    await assert.rejects(absent.clientCertificate(), { code: 'CredentialsFailed', message: /absent: ENOENT/ });
  });
});
