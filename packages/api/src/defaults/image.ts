/** Parses image references as far as defaulting needs them: whether one has the tag `latest`. */

const component = '[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*';
const host =
  '(?:[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?(?:\\.[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?)*|\\[[a-fA-F0-9:]+\\])';
const reference = new RegExp(
  `^((?:${host}(?::[0-9]+)?/)?${component}(?:/${component})*)(?::(\\w[\\w.-]{0,127}))?(?:@([A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}))?$`,
);
const digest = /^(?:sha256:[a-f0-9]{64}|sha384:[a-f0-9]{96}|sha512:[a-f0-9]{128})$/;
const identifier = /^[a-f0-9]{64}$/;

const nameLengthMax = 255;
/** Larger than any name with a tag and a digest. */
const referenceLengthMax = 600;

/** Returns the tag of an image: `latest` if it has neither tag nor digest, empty if it has only a digest or is not a reference. */
export function imageTag(image: string): string {
  if (image.length > referenceLengthMax || identifier.test(image)) return '';
  const full = withDomain(image);
  if (full === undefined) return '';
  const match = reference.exec(full);
  if (!match) return '';
  const [, name = '', tag = '', hash] = match;
  if (name.length > nameLengthMax || (hash !== undefined && !digest.test(hash))) return '';
  return tag === '' && hash === undefined ? 'latest' : tag;
}

/** Short names belong to Docker Hub. Returns undefined if the path has capitals. */
function withDomain(image: string): string | undefined {
  const slash = image.indexOf('/');
  const first = image.slice(0, Math.max(slash, 0));
  const isPath = slash < 0 || (!/[.:]/.test(first) && first !== 'localhost' && first.toLowerCase() === first);
  let domain = isPath ? 'docker.io' : first;
  let path = isPath ? image : image.slice(slash + 1);
  if (domain === 'index.docker.io') domain = 'docker.io';
  if (domain === 'docker.io' && !path.includes('/')) path = `library/${path}`;
  const colon = path.indexOf(':');
  const repository = colon < 0 ? path : path.slice(0, colon);
  return repository.toLowerCase() === repository ? `${domain}/${path}` : undefined;
}
