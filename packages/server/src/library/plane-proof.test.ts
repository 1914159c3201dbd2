import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { test } from 'node:test';
import { systemClock, systemRandom } from '@hangar/core';
import { createAuthority, issueCertificate } from '@hangar/pki';
import type { KeyPair } from '@hangar/pki';
import type { Peer, ServerRequest } from '../http/message.ts';
import { bundleLengthMax, FrontProxyAuthorities, frontProxyCaOf } from './front-proxy-authorities.ts';
import { frontProxyName, PlaneProofs } from './plane-proof.ts';

const world = { clock: systemClock, random: systemRandom };
const authorityOf = (plane: string): KeyPair => createAuthority(`hangar-${plane}-front-proxy-ca`, 10, world);
const shop = authorityOf('shop');
const lab = authorityOf('lab');

const idOf = ({ certificate }: KeyPair): string => new X509Certificate(certificate).fingerprint256;

/** Returns a connection with a certificate of this CA. */
function peerOf(authority: KeyPair, commonName = frontProxyName): Peer {
  const { certificate } = issueCertificate(authority, { commonName, usage: 'client', days: 5 }, world);
  const { raw } = new X509Certificate(certificate);
  return { address: '127.0.0.1', certificate: undefined, unverified: { der: () => raw } };
}

const requestOf = (peer: Peer): ServerRequest => ({ method: 'GET', target: '/', peer }) as ServerRequest;

/** `bundles`: by name of the control plane; can change. */
function proofsOf(bundles: Record<string, string>): PlaneProofs<{ name: string; frontProxyCa: string }> {
  const plane = (name: string) => {
    const frontProxyCa = bundles[name];
    return Promise.resolve(frontProxyCa === undefined ? undefined : { name, frontProxyCa });
  };
  return new PlaneProofs({ plane }, systemClock);
}

test('the certificate of a connection proves its control plane and its CA', async () => {
  const next = authorityOf('shop');
  const proofs = proofsOf({ shop: shop.certificate + next.certificate, lab: lab.certificate });
  for (const ca of [shop, next]) {
    const proven = await proofs.prove(requestOf(peerOf(ca)));
    assert.deepEqual([proven?.plane.name, proven?.authority.id], ['shop', idOf(ca)]);
    assert.equal(new X509Certificate(proven!.authority.certificate).fingerprint256, idOf(ca));
    assert.equal(proven!.request.peer.certificate?.commonName, frontProxyName);
  }
  for (const peer of [peerOf(shop, 'kim'), peerOf(authorityOf('shop')), peerOf(authorityOf('other'))]) {
    assert.equal(await proofs.prove(requestOf(peer)), undefined);
  }
});

test('a control plane that publishes the CA of another gains nothing', async () => {
  const proofs = proofsOf({ shop: lab.certificate + shop.certificate, lab: shop.certificate });
  assert.equal((await proofs.prove(requestOf(peerOf(shop))))?.plane.name, 'shop');
  assert.equal(await proofs.prove(requestOf(peerOf(lab))), undefined);
});

test('all requests of a connection have the same verified peer, until the CAs change', async () => {
  const bundles: Record<string, string> = { shop: shop.certificate };
  const proofs = proofsOf(bundles);
  const peer = peerOf(shop);
  const [first, second] = [await proofs.prove(requestOf(peer)), await proofs.prove(requestOf(peer))];
  assert.ok(first && first.request.peer === second?.request.peer);
  bundles['shop'] = authorityOf('shop').certificate;
  assert.equal(await proofs.prove(requestOf(peer)), undefined);
  bundles['shop'] += shop.certificate;
  assert.equal((await proofs.prove(requestOf(peer)))?.authority.id, idOf(shop));
});

test('a bundle above the limit counts as empty', async () => {
  const tooLong = shop.certificate + '\n'.repeat(bundleLengthMax);
  assert.equal(await proofsOf({ shop: tooLong }).prove(requestOf(peerOf(shop))), undefined);
  const key = 'requestheader-client-ca-file';
  assert.equal(frontProxyCaOf({ [key]: tooLong }), '');
  assert.equal(frontProxyCaOf({ [key]: shop.certificate }), shop.certificate);
  assert.equal(frontProxyCaOf({ [key]: 1 }), '');
});

test('at most eight different CAs of the control plane are used, and parsed once', () => {
  const authorities = new FrontProxyAuthorities();
  const invalid = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n';
  const own = Array.from({ length: 9 }, () => authorityOf('shop'));
  const bundle = [invalid, lab.certificate, ...own.flatMap(({ certificate }) => [certificate, `\n${certificate}`])];
  const plane = { name: 'shop', frontProxyCa: bundle.join('') };
  const found = authorities.of(plane);
  assert.deepEqual(
    found.map(({ id }) => id),
    own.slice(0, 8).map(idOf),
  );
  assert.equal(authorities.of({ ...plane }), found);
  assert.notEqual(authorities.of({ ...plane, frontProxyCa: `${plane.frontProxyCa}\n` }), found);
});
