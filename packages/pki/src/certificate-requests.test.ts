import assert from 'node:assert/strict';
import { createPublicKey, generateKeyPairSync, sign, X509Certificate } from 'node:crypto';
import { describe, test } from 'node:test';
import { chance, seededRandom, systemClock, systemRandom } from '@hangar/core';
import { integer, implicit, objectIdentifier, octets, sequence, set, utf8, boolean } from './der.ts';
import { createAuthority, PkiError, readCertificateRequest, signRequest } from './index.ts';
import type { SignedRequestOptions } from './index.ts';
import { newRequest, requestPem } from './testing/certificate-request.ts';

const world = { clock: systemClock, random: systemRandom };
const authority = createAuthority('the authority', 10, world);
const clientAuth = '1.3.6.1.5.5.7.3.2';

const validity = (lifeMs = 3_600_000): SignedRequestOptions['validity'] => ({
  notBeforeMs: systemClock.now() - 1_000,
  notAfterMs: systemClock.now() + lifeMs,
});

const signedOf = (pem: string, options: Partial<SignedRequestOptions> = {}): X509Certificate =>
  new X509Certificate(
    signRequest(
      authority,
      {
        request: readCertificateRequest(pem),
        keyUsage: 1,
        extendedKeyUsage: [clientAuth],
        validity: validity(),
        ...options,
      },
      world,
    ),
  );

describe('a request', () => {
  test('tells for whom it is, under which names, and with which key', () => {
    const { key, pem } = newRequest('jane', ['a', 'b'], {
      attributes: [['2.5.4.11', 'unit']],
      dnsNames: ['example.com'],
      emailAddresses: ['jane@example.com'],
      ipAddresses: [Buffer.of(10, 0, 0, 1), Buffer.alloc(16, 1)],
      uris: ['spiffe://example.com/jane'],
    });
    const request = readCertificateRequest(pem);
    const { commonName, organizations } = request.subject;
    assert.deepEqual({ commonName, organizations }, { commonName: 'jane', organizations: ['a', 'b'] });
    assert.deepEqual(request.dnsNames, ['example.com']);
    assert.deepEqual(request.emailAddresses, ['jane@example.com']);
    assert.deepEqual(
      request.ipAddresses.map((address) => address.length),
      [4, 16],
    );
    assert.deepEqual(request.uris, ['spiffe://example.com/jane']);
    assert.ok(request.publicKey.equals(createPublicKey(key)));
  });

  test('is read whatever the set that organizations are in, and of several names the last one counts', () => {
    const { pem } = newRequest('first', ['a', 'b'], { together: true, attributes: [['2.5.4.3', 'last']] });
    const { subject } = readCertificateRequest(pem);
    assert.equal(subject.commonName, 'last');
    assert.deepEqual(subject.organizations, ['a', 'b']);
    assert.deepEqual(subject.attributes, [
      ['2.5.4.10', 'a'],
      ['2.5.4.10', 'b'],
      ['2.5.4.3', 'last'],
    ]);
  });

  test('of somebody else’s key is refused', () => {
    const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const { privateKey: other } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const spki = publicKey.export({ type: 'spki', format: 'der' });
    const information = sequence(integer(Buffer.of(0)), sequence(), spki, implicit(0x20, Buffer.alloc(0)));
    const pem = requestPem(information, sign('sha256', information, other));
    assert.throws(() => readCertificateRequest(pem), { code: 'InvalidSignature' });
  });

  test('with weak keys, keys of other types, or signed in other ways is refused', () => {
    const signed = (spki: Buffer, key: Parameters<typeof sign>[2]): string => {
      const information = sequence(integer(Buffer.of(0)), sequence(), spki, implicit(0x20, Buffer.alloc(0)));
      return requestPem(information, sign('sha256', information, key));
    };
    const weak = generateKeyPairSync('rsa', { modulusLength: 512 });
    const spki = { type: 'spki', format: 'der' } as const;
    assert.throws(() => readCertificateRequest(signed(weak.publicKey.export(spki), weak.privateKey)), {
      code: 'MalformedRequest',
    });
    const exchange = generateKeyPairSync('x25519');
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    assert.throws(() => readCertificateRequest(signed(exchange.publicKey.export(spki), privateKey)), {
      code: 'MalformedRequest',
    });
    // The algorithm is ECDSA, the key is RSA.
    const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const information = sequence(
      integer(Buffer.of(0)),
      sequence(),
      rsa.publicKey.export(spki),
      implicit(0x20, Buffer.alloc(0)),
    );
    const others = requestPem(information, sign('sha256', information, rsa.privateKey));
    assert.throws(() => readCertificateRequest(others), { code: 'InvalidSignature' });
    assert.throws(() => readCertificateRequest(requestPem(information, Buffer.alloc(64))), {
      code: 'InvalidSignature',
    });
  });

  test('that two readers could read in two ways is refused', () => {
    const { pem } = newRequest('jane');
    const other = newRequest('system:admin', ['system:masters']).pem;
    const san = (name: string) =>
      sequence(objectIdentifier('2.5.29.17'), octets(sequence(implicit(2, Buffer.from(name)))));
    const refused = {
      'two blocks': pem + other,
      'another block before it': `-----BEGIN X-----\nAAAA\n-----END X-----\n${pem}`,
      'no block': 'jane',
      'another block': pem.replaceAll('CERTIFICATE REQUEST', 'CERTIFICATE'),
      'no base64': pem.replace('M', '*'),
      'an extension twice': newRequest('jane', [], { dnsNames: ['a'], extensions: [san('b')] }).pem,
      'an address of five bytes': newRequest('jane', [], { ipAddresses: [Buffer.alloc(5)] }).pem,
      'a name that is no ASCII': newRequest('jane', [], { dnsNames: ['ü.example'] }).pem,
      'a URI that is none': newRequest('jane', [], { uris: ['http://['] }).pem,
      'too long': newRequest('j'.repeat(200_000)).pem,
    };
    for (const [what, text] of Object.entries(refused)) {
      assert.throws(() => readCertificateRequest(text), { code: 'MalformedRequest' }, what);
    }
  });

  test('of any bytes at all is read or refused with a code, and never anything else', () => {
    const random = seededRandom(7);
    const { pem } = newRequest('jane', ['a'], { dnsNames: ['example.com'], ipAddresses: [Buffer.alloc(4)] });
    const body = Buffer.from(pem.split('-----')[2]!, 'base64');
    for (let round = 0; round < 3_000; round++) {
      let bytes = Buffer.from(body);
      for (let changes = 1 + random.below(4); changes > 0; changes--)
        bytes[random.below(bytes.length)] = random.below(256);
      if (chance(random, 0.2)) bytes = bytes.subarray(0, random.below(bytes.length));
      const text = `-----BEGIN CERTIFICATE REQUEST-----\n${bytes.toString('base64')}\n-----END CERTIFICATE REQUEST-----\n`;
      try {
        readCertificateRequest(text);
      } catch (error) {
        assert.ok(error instanceof PkiError, String(error));
      }
    }
  });
});

describe('a certificate for a request', () => {
  test('is for its key and its names, and says what it may be used for', () => {
    const { key, pem } = newRequest('jane', ['a', 'b'], {
      dnsNames: ['example.com'],
      ipAddresses: [Buffer.of(10, 0, 0, 1)],
    });
    const certificate = signedOf(pem, { keyUsage: 0b101 });
    assert.ok(certificate.checkPrivateKey(key));
    assert.ok(certificate.verify(new X509Certificate(authority.certificate).publicKey));
    assert.ok(certificate.checkIssued(new X509Certificate(authority.certificate)));
    assert.equal(certificate.ca, false);
    assert.equal(certificate.subjectAltName, 'DNS:example.com, IP Address:10.0.0.1');
    assert.deepEqual(certificate.keyUsage, [clientAuth]);
    const { subject } = certificate.toLegacyObject() as unknown as { subject: { CN: string; O: string[] } };
    assert.deepEqual([subject.CN, subject.O], ['jane', ['a', 'b']]);
  });

  test('has nothing of what else was asked for: no CA, no uid, no other attribute', () => {
    const constraints = sequence(objectIdentifier('2.5.29.19'), boolean(true), octets(sequence(boolean(true))));
    const { pem } = newRequest('jane', [], {
      attributes: [
        ['1.3.6.1.4.1.57683.2', 'somebody-elses-uid'],
        ['0.9.2342.19200300.100.1.1', 'other'],
      ],
      extensions: [constraints],
    });
    const certificate = signedOf(pem);
    assert.equal(certificate.ca, false);
    assert.equal(certificate.subject, 'CN=jane');
    assert.ok(!certificate.raw.includes('somebody-elses-uid') && !certificate.raw.includes('other'));
  });

  test('ends with its CA, and there is none when the CA’s time is over', () => {
    const { pem } = newRequest('jane');
    const end = new X509Certificate(authority.certificate).validToDate.getTime();
    const certificate = signedOf(pem, { validity: validity(100 * 86_400_000) });
    assert.equal(certificate.validToDate.getTime(), end);
    const later = { ...world, clock: { ...systemClock, now: () => end } };
    const request = readCertificateRequest(pem);
    const options = { request, keyUsage: 1, extendedKeyUsage: [], validity: validity() };
    assert.throws(() => signRequest(authority, options, later), { code: 'AuthorityUnusable' });
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const foreign = { ...authority, key: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string };
    assert.throws(() => signRequest(foreign, options, world), { code: 'AuthorityUnusable' });
  });

  test('without a name is known by its other names, without usages it says none', () => {
    const { pem } = newRequest('', [], { dnsNames: ['example.com'] });
    const certificate = signedOf(pem, { keyUsage: 0, extendedKeyUsage: [] });
    assert.equal(certificate.keyUsage, undefined);
    assert.equal(certificate.checkHost('example.com'), 'example.com');
    assert.ok(!certificate.raw.includes(Buffer.from('551d0f', 'hex')), 'no key usage');
  });

  test('writes all nine usages in their bits', () => {
    const { pem } = newRequest('jane');
    const bitsOf = (keyUsage: number): string => {
      const { raw } = signedOf(pem, { keyUsage });
      const at = raw.indexOf(Buffer.from('0603551d0f0101ff04', 'hex'));
      return raw.subarray(at + 10, at + 10 + raw[at + 9]!).toString('hex');
    };
    assert.equal(bitsOf(1), '03020780');
    assert.equal(bitsOf(0b101), '030205a0');
    assert.equal(bitsOf(0b100000000), '0303070080');
    assert.equal(bitsOf(0b111111111), '030307ff80');
  });
});

test('texts in other alphabets are read, and those that are none are not', () => {
  const subjectWith = (value: Buffer): string => {
    const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const name = sequence(set(sequence(objectIdentifier('2.5.4.3'), value)));
    const spki = publicKey.export({ type: 'spki', format: 'der' });
    const information = sequence(integer(Buffer.of(0)), name, spki);
    return requestPem(information, sign('sha256', information, privateKey));
  };
  const tagged = (tag: number, content: Buffer): Buffer => Buffer.concat([Buffer.of(tag, content.length), content]);
  const nameIn = (pem: string): string => readCertificateRequest(pem).subject.commonName;
  assert.equal(nameIn(subjectWith(utf8('jäne'))), 'jäne');
  assert.equal(nameIn(subjectWith(tagged(0x13, Buffer.from('jane')))), 'jane');
  assert.equal(nameIn(subjectWith(tagged(0x1e, Buffer.from('006a0061', 'hex')))), 'ja');
  for (const bad of [tagged(0x0c, Buffer.of(0xff)), tagged(0x13, Buffer.of(0xe4)), tagged(0x14, Buffer.from('jane'))]) {
    assert.throws(() => nameIn(subjectWith(bad)), { code: 'MalformedRequest' });
  }
});
