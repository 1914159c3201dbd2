/**
 * Images from registries with the OCI distribution protocol. The blobs of an image are downloaded into a layout, verified and unpacked; an
 * image is downloaded once and then used by its name, like `imagePullPolicy: IfNotPresent`.
 */

import { createHash } from 'node:crypto';
import { createWriteStream, existsSync } from 'node:fs';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream } from 'node:stream/web';
import { asError, uuid } from '@hangar/core';
import type { Clock, Random } from '@hangar/core';
import { ProcessRuntimeError } from '../errors.ts';
import { blob, manifestForMachine, unpack, verified } from './layout.ts';
import type { Descriptor, Index, Manifest } from './layout.ts';
import type { Image, ImageSource } from './resolver.ts';

export interface RegistryCredentials {
  readonly username: string;
  readonly password: string;
}

export interface RegistryOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** Downloaded and unpacked images. */
  readonly cacheFolder: string;
  /** Returns the credentials for a registry. Absent: anonymous. */
  readonly credentials?: (host: string) => RegistryCredentials | undefined;
  /** Reports whether a registry is used without TLS. Absent: never. */
  readonly isInsecure?: (host: string) => boolean;
}

const manifestTypes = [
  'application/vnd.oci.image.index.v1+json',
  'application/vnd.oci.image.manifest.v1+json',
  'application/vnd.docker.distribution.manifest.list.v2+json',
  'application/vnd.docker.distribution.manifest.v2+json',
];
const manifestBytesMax = 4 * 1024 * 1024;
const requestTimeoutMs = 30_000;

/** Returns a source for images whose name begins with the host of a registry. Rejects with `ErrImagePull`. */
export function imagesFromRegistries(options: RegistryOptions): ImageSource {
  const pulling = new Map<string, Promise<Image>>();
  // One at a time: images share layers, and a layer is removed when it is unpacked.
  let previous: Promise<unknown> = Promise.resolve();
  return (image, { repository, tag, digest }) => {
    const slash = repository.indexOf('/');
    const host = repository.slice(0, Math.max(slash, 0));
    // The first part of a name without a registry has neither a dot nor a port.
    if (!/[.:]/.test(host) && host !== 'localhost') return undefined;
    let pulled = pulling.get(image);
    if (!pulled) {
      const pull = new Pull(options, host, repository.slice(slash + 1));
      pulled = previous
        .catch(() => {})
        .then(() => pull.image(digest ?? tag ?? 'latest'))
        .finally(() => pulling.delete(image));
      previous = pulled;
      pulling.set(image, pulled);
    }
    return pulled;
  };
}

class Pull {
  readonly #options: RegistryOptions;
  readonly #host: string;
  readonly #name: string;
  readonly #layout: string;
  #authorization: string | undefined;

  constructor(options: RegistryOptions, host: string, name: string) {
    this.#options = options;
    this.#host = host;
    this.#name = name;
    this.#layout = join(options.cacheFolder, 'registry');
  }

  async image(reference: string): Promise<Image> {
    const { cacheFolder } = this.#options;
    try {
      const known = join(this.#layout, 'names', encodeURIComponent(`${this.#host}/${this.#name}@${reference}`));
      if (existsSync(known))
        return await unpack(this.#layout, { digest: (await readFile(known, 'utf8')).trim() }, cacheFolder);
      const { descriptor, manifest } = await this.#manifest(reference);
      for (const one of [manifest.config, ...manifest.layers]) await this.#download(one);
      const image = await unpack(this.#layout, descriptor, cacheFolder);
      // The layers are unpacked.
      for (const { digest } of manifest.layers) await rm(blob(this.#layout, digest), { force: true });
      await mkdir(dirname(known), { recursive: true, mode: 0o700 });
      await writeFile(known, `${descriptor.digest}\n`, { mode: 0o600 });
      return image;
    } catch (error) {
      if (error instanceof ProcessRuntimeError) throw error;
      const reason =
        asError(error).cause instanceof Error ? (asError(error).cause as Error).message : asError(error).message;
      throw failed(`failed to pull from registry ${this.#host}: ${reason}`, error);
    }
  }

  /** Downloads the manifest for this machine. */
  async #manifest(reference: string): Promise<{ descriptor: Descriptor; manifest: Manifest }> {
    const response = await this.#get(`manifests/${reference}`, { accept: manifestTypes.join(', ') });
    const bytes = Buffer.from(await response.arrayBuffer());
    if (bytes.length > manifestBytesMax) throw failed('the manifest is too large');
    const digest = `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
    if (reference.startsWith('sha256:') && digest !== reference)
      throw failed(`manifest ${reference} has the digest ${digest}`);
    await this.#write({ digest }, (path) => writeFile(path, bytes));
    const manifest = JSON.parse(bytes.toString()) as Manifest & Index;
    if (manifest.manifests) return this.#manifest(manifestForMachine(manifest.manifests).digest);
    return { descriptor: { digest }, manifest };
  }

  async #download(descriptor: Descriptor): Promise<void> {
    if (existsSync(blob(this.#layout, descriptor.digest))) return;
    await this.#write(descriptor, async (path) => {
      const response = await this.#get(`blobs/${descriptor.digest}`, {});
      await pipeline(Readable.fromWeb(response.body as ReadableStream), createWriteStream(path, { mode: 0o600 }));
    });
    try {
      await verified(this.#layout, descriptor);
    } catch (error) {
      await rm(blob(this.#layout, descriptor.digest), { force: true });
      throw error;
    }
  }

  /** A blob appears complete or not at all. */
  async #write({ digest }: Descriptor, fill: (path: string) => Promise<unknown>): Promise<void> {
    const path = blob(this.#layout, digest);
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    const partial = `${path}.${uuid(this.#options.random)}`;
    try {
      await fill(partial);
      await rename(partial, path);
    } finally {
      await rm(partial, { force: true });
    }
  }

  async #get(path: string, headers: Record<string, string>): Promise<Response> {
    const scheme = this.#options.isInsecure?.(this.#host) ? 'http' : 'https';
    const url = `${scheme}://${this.#host}/v2/${this.#name}/${path}`;
    const send = (): Promise<Response> => this.#send(url, { ...headers, authorization: this.#authorization ?? '' });
    let response = await send();
    if (response.status === 401 && this.#authorization === undefined) {
      await response.body?.cancel();
      this.#authorization = await this.#authorize(response.headers.get('www-authenticate') ?? '');
      response = await send();
    }
    if (response.ok) return response;
    const text = (await response.text()).slice(0, 500);
    throw failed(`${this.#host}/${this.#name}: unexpected status ${response.status} for ${path}: ${text.trim()}`);
  }

  /** Limits the time until the head of the response: a large body takes longer. */
  async #send(url: string | URL, headers: Record<string, string>): Promise<Response> {
    const limit = new AbortController();
    const timer = this.#options.clock.after(requestTimeoutMs, () => limit.abort(new Error('timeout')));
    try {
      const given = Object.entries(headers).filter(([, value]) => value !== '');
      return await fetch(url, { headers: given, signal: limit.signal });
    } finally {
      timer.cancel();
    }
  }

  /** Answers the challenge of the registry: a token of its token server, or the credentials themselves. */
  async #authorize(challenge: string): Promise<string> {
    const credentials = this.#options.credentials?.(this.#host);
    const basic =
      credentials && `Basic ${Buffer.from(`${credentials.username}:${credentials.password}`).toString('base64')}`;
    const [, scheme = '', rest = ''] = /^(\w+)\s*(.*)$/.exec(challenge) ?? [];
    if (scheme.toLowerCase() === 'basic' && basic) return basic;
    if (scheme.toLowerCase() !== 'bearer') throw failed(`registry ${this.#host} requires credentials`);
    const parameters = Object.fromEntries(
      Array.from(rest.matchAll(/(\w+)="([^"]*)"/g), ([, key, value]) => [key!, value!]),
    );
    const { realm, ...query } = parameters;
    if (realm === undefined) throw failed(`registry ${this.#host} has no token server`);
    const url = new URL(realm);
    for (const [key, value] of Object.entries(query)) url.searchParams.set(key, value);
    const response = await this.#send(url, { authorization: basic ?? '' });
    if (!response.ok) throw failed(`token server of registry ${this.#host}: unexpected status ${response.status}`);
    const { token, access_token: accessToken } = (await response.json()) as { token?: string; access_token?: string };
    return `Bearer ${token ?? accessToken ?? ''}`;
  }
}

const failed = (message: string, cause?: unknown): ProcessRuntimeError =>
  new ProcessRuntimeError('ErrImagePull', message, cause === undefined ? {} : { cause });
