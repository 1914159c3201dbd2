/** Subject of a certificate signing request (PKCS #10). */

import { readElements, readObjectIdentifier } from './der.ts';
import type { Element } from './der.ts';
import { pemBlocks } from './pem.ts';

export interface CertificateSubject {
  readonly commonName: string;
  readonly organizations: readonly string[];
}

const commonNameId = '2.5.4.3';
const organizationId = '2.5.4.10';
const wideStringTag = 0x1e;

/** Returns undefined if it cannot be parsed: the caller must refuse then. */
export function certificateRequestSubject(pem: string): CertificateSubject | undefined {
  const block = pemBlocks(pem)[0];
  if (block?.type !== 'CERTIFICATE REQUEST') return undefined;
  const request = readElements(block.bytes)?.[0];
  const info = request && readElements(request.content)?.[0];
  const subject = info && readElements(info.content)?.[1];
  const names = subject && attributesOf(subject);
  if (!names) return undefined;
  return {
    // Of several, the last one counts, as in Go.
    commonName: names.findLast(({ id }) => id === commonNameId)?.value ?? '',
    organizations: names.filter(({ id }) => id === organizationId).map(({ value }) => value),
  };
}

/** A name is a list of sets, each of attributes. */
function attributesOf(subject: Element): { id: string; value: string }[] | undefined {
  const all: { id: string; value: string }[] = [];
  for (const set of readElements(subject.content) ?? [undefined]) {
    const attributes = set && readElements(set.content);
    if (!attributes) return undefined;
    for (const attribute of attributes) {
      const [id, value] = readElements(attribute.content) ?? [];
      if (!id || !value) return undefined;
      all.push({ id: readObjectIdentifier(id.content), value: textOf(value) });
    }
  }
  return all;
}

const textOf = ({ tag, content }: Element): string =>
  tag === wideStringTag ? new TextDecoder('utf-16be').decode(content) : new TextDecoder().decode(content);
