/** Returns the first line in which two texts differ, as `line: is, should be`; undefined when they are equal. */
export function firstDifference(actual: string, expected: string): string | undefined {
  if (actual === expected) return undefined;
  const [is, due] = [actual.split('\n'), expected.split('\n')];
  const line = is.findIndex((text, index) => text !== due[index]);
  const at = line === -1 ? is.length : line;
  return `${at + 1}: is ${quoted(is[at])}, should be ${quoted(due[at])}`;
}

function quoted(line: string | undefined): string {
  return line === undefined ? 'the end' : `"${line.trim().slice(0, 120)}"`;
}
