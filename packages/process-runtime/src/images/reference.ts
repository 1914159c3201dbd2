/** The parts of an image reference. */

export interface ImageReference {
  /** With registry: `registry.example/etcd`. */
  readonly repository: string;
  /** Last part of the repository: `etcd`. */
  readonly name: string;
  /** Absent: `latest`, unless the digest is present. */
  readonly tag: string | undefined;
  /** `sha256:…`. */
  readonly digest: string | undefined;
}

export function parseImage(image: string): ImageReference {
  const [tagged = '', digest] = image.split('@');
  const [, repository = tagged, tag] = /^(.*?)(?::([\w][\w.-]*))?$/.exec(tagged) ?? [];
  const name = repository.slice(repository.lastIndexOf('/') + 1);
  return { repository, name, tag: tag ?? (digest === undefined ? 'latest' : undefined), digest };
}
