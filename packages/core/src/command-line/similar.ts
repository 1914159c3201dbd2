/** Suggests known words for a mistyped one. */

/** Returns at most three words, the most similar first; none if no word is similar. */
export function similarTo(word: string, known: Iterable<string>): string[] {
  const meant = word.slice(0, lengthMax);
  const nearest: { readonly name: string; readonly distance: number }[] = [];
  for (const name of known) {
    if (Math.abs(name.length - meant.length) > distanceMax(meant) && !name.startsWith(meant)) continue;
    const distance = name.startsWith(meant) && meant.length > 1 ? 1 : distanceOf(meant, name);
    if (distance <= distanceMax(meant)) nearest.push({ name, distance });
  }
  return nearest
    .sort((a, b) => a.distance - b.distance || (a.name < b.name ? -1 : 1))
    .slice(0, 3)
    .map(({ name }) => name);
}

/** Longer words are not typing errors. */
const lengthMax = 64;

const distanceMax = (word: string): number => Math.max(1, Math.floor(word.length / 3));

/** Damerau–Levenshtein distance: missing, additional, different, or transposed letters. */
function distanceOf(a: string, b: string): number {
  let before: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let row = 1; row <= a.length; row++) {
    const now = [row];
    for (let column = 1; column <= b.length; column++) {
      const isSame = a[row - 1] === b[column - 1];
      let least = Math.min(last[column]! + 1, now[column - 1]! + 1, last[column - 1]! + (isSame ? 0 : 1));
      if (row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]) {
        least = Math.min(least, before[column - 2]! + 1);
      }
      now.push(least);
    }
    [before, last] = [last, now];
  }
  return last[b.length]!;
}
