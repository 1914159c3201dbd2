/**
 * Converts Helm's output to manifests for kubectl and kustomize: without the metadata of a release. Texts are compared with the committed
 * ones, so the same chart gives the same bytes with every version of Helm.
 */

/** A template's name, such as `deployment.yaml` → its documents. */
export function byTemplate(rendered: string): Map<string, string> {
  const files = new Map<string, string[]>();
  for (const document of rendered.split(/^---$/m)) {
    const [, template] = /^# Source: [^/]+\/templates\/(.+)$/m.exec(document) ?? [];
    if (template === undefined) continue;
    const text = withoutRelease(document.replace(/^# Source: .*\n/m, '')).trim();
    if (text === '') continue;
    files.set(template, [...(files.get(template) ?? []), text]);
  }
  return new Map([...files].map(([name, documents]) => [name, `${documents.join('\n---\n')}\n`]));
}

const releaseMarks = /^ *(helm\.sh\/[a-z-]+: .*|app\.kubernetes\.io\/managed-by: Helm)\n/gm;

function withoutRelease(document: string): string {
  const lines = document.replaceAll(releaseMarks, '').split('\n');
  // Removes maps that contained only Helm's entries.
  return lines
    .filter((line, at) => !(/^ *(labels|annotations):$/.test(line) && indent(lines[at + 1]) <= indent(line)))
    .join('\n');
}

const indent = (line = ''): number => line.length - line.trimStart().length;
