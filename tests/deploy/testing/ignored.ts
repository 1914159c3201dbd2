/** Applies a `.dockerignore`: the last pattern that matches a path or one of its folders decides. */

export function ignoreOf(text: string): (path: string) => boolean {
  const rules = text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => ({ isKept: line.startsWith('!'), pattern: patternOf(line.replace(/^!/, '')) }));
  return (path) => {
    let isIgnored = false;
    for (const { pattern, isKept } of rules) if (pattern.test(path)) isIgnored = !isKept;
    return isIgnored;
  };
}

/**
 * `*` is any name, also one that begins with a dot; a double star is any number of folders, none included. Everything below a match
 * matches.
 */
function patternOf(glob: string): RegExp {
  const source = glob
    .replaceAll(/[.+^$()|[\]{}\\]/g, String.raw`\$&`)
    .replaceAll(/\*\*\/|\*\*|\*/g, (stars) => (stars === '**/' ? '(.*/)?' : stars === '**' ? '.*' : '[^/]*'));
  return new RegExp(`^${source}(/|$)`);
}
