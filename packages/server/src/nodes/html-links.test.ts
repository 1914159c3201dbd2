import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom } from '@hangar/core';
import { HtmlLinks, rewrittenLink } from './html-links.ts';

const context = { prefix: '/p/proxy', backendHost: '10.0.0.1:80', requestHost: 'localhost:8001' };

async function rewritten(pieces: readonly string[]): Promise<string> {
  const links = new HtmlLinks(context);
  const output = links.toArray();
  for (const piece of pieces) links.write(Buffer.from(piece, 'latin1'));
  links.end();
  return Buffer.concat((await output) as Buffer[]).toString('latin1');
}

/** Splits a text at random positions. */
function split(text: string, seed: number): string[] {
  const random = seededRandom(seed);
  const pieces: string[] = [];
  for (let at = 0; at < text.length;) {
    const length = 1 + Math.floor(random.fraction() * 7);
    pieces.push(text.slice(at, at + length));
    at += length;
  }
  return pieces;
}

test('a link leads through the proxy only if its host is the backend or the server', () => {
  const cases = {
    '/a?b#c': '/p/proxy/a?b#c',
    '/a/': '/p/proxy/a/',
    '/p/proxy/a': '/p/proxy/a',
    'http://10.0.0.1:80/a': '/p/proxy/a',
    'http://localhost:8001/a': 'http://localhost:8001/p/proxy/a',
    '//10.0.0.1:80/a': '/p/proxy/a',
    'http://example.com/a': 'http://example.com/a',
    'relative/a': 'relative/a',
    '#top': '#top',
    'mailto:a@b': 'mailto:a@b',
    '': '',
  };
  for (const [link, expected] of Object.entries(cases)) assert.equal(rewrittenLink(link, context), expected, link);
});

test('links of HTML are rewritten, and everything else is unchanged, however it is split', async () => {
  const cases: [string, string][] = [
    ['<a href="/x">', '<a href="/p/proxy/x">'],
    ["<A class='y' HREF='/x' >", `<A class='y' HREF="/p/proxy/x" >`],
    ['<img src=/x>', '<img src="/p/proxy/x">'],
    ['<a href="/x>y">', '<a href="/p/proxy/x>y">'],
    ['<p href="/x">', '<p href="/x">'],
    ['<a title="a > b" href="/x">', '<a title="a > b" href="/p/proxy/x">'],
    ['<!-- <a href="/x"> --><a href="/y">', '<!-- <a href="/x"> --><a href="/p/proxy/y">'],
    [
      '<script src="/s">"<a href=/x>"</script><a href=/y>',
      '<script src="/p/proxy/s">"<a href=/x>"</script><a href="/p/proxy/y">',
    ],
    ['<style>a<b</style><a href="/y">', '<style>a<b</style><a href="/p/proxy/y">'],
    ['a < b && c > d <a href="/y"', 'a < b && c > d <a href="/y"'],
    ['<!DOCTYPE html><html><body background="/b">', '<!DOCTYPE html><html><body background="/p/proxy/b">'],
    ['<a href="h\xe9">\xff\xfe', '<a href="h\xe9">\xff\xfe'],
  ];
  for (const [html, expected] of cases) {
    assert.equal(await rewritten([html]), expected);
    for (let seed = 0; seed < 20; seed++) assert.equal(await rewritten(split(html, seed)), expected, `seed ${seed}`);
  }
});

test('a tag that never ends takes no memory', async () => {
  const links = new HtmlLinks(context);
  let bytes = 0;
  links.on('data', (piece: Buffer) => (bytes += piece.length));
  links.write(Buffer.from('<a '));
  const piece = Buffer.alloc(64 * 1024, 'x');
  for (let i = 0; i < 64; i++) if (!links.write(piece)) await new Promise((resolve) => links.once('drain', resolve));
  assert.ok(bytes >= 63 * piece.length, `${bytes} bytes were passed on`);
  links.destroy();
});
