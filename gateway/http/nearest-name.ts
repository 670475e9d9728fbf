/** Longer names are not compared: no field of the API is as long. */
const LONGEST = 40;

/** The known name that a wrong one is probably meant to be: written in another style (`terminal_id`), or with at most two wrong letters. */
export function nearestName(wrong: string, known: readonly string[]): string | undefined {
  if (wrong.length > LONGEST) return undefined;
  const plain = plainName(wrong);
  const [nearest] = known
    .map((name) => ({ name, distance: distanceOf(plain, plainName(name)) }))
    .sort((a, b) => a.distance - b.distance);
  const tolerance = Math.min(2, Math.floor(plain.length / 3));
  return nearest && nearest.distance <= tolerance ? nearest.name : undefined;
}

function plainName(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, '');
}

/** How many letters must be added, removed or replaced to turn one name into another (Levenshtein distance). */
function distanceOf(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let i = 1; i <= from.length; i++) {
    const next = [i];
    for (let j = 1; j <= to.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (from[i - 1] === to[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}
