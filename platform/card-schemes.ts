/**
 * The numbers that card schemes issue: how they begin, and how many digits they have (ISO/IEC 7812-1; the schemes'
 * published ranges). Maestro may begin with 50, 56 to 58 or 6, which one in ten references of 12 to 19 digits does; so
 * only the prefixes count under which its cards were issued.
 */
const SCHEMES: readonly (readonly [name: string, prefixes: string, lengths: readonly number[]])[] = [
  ['Visa', '4', [13, 16, 19]],
  ['Mastercard', '51-55 2221-2720', [16]],
  ['American Express', '34 37', [15]],
  ['Diners Club', '300-305 3095 36 38-39', [14, 15, 16, 17, 18, 19]],
  ['Discover', '6011 644-649 65', [16, 17, 18, 19]],
  ['JCB', '3528-3589', [16, 17, 18, 19]],
  ['UnionPay', '62 81', [16, 17, 18, 19]],
  ['Maestro', '5018-5020 5038 5612 5893 6304 6390 6759 6761-6763', [12, 13, 14, 15, 16, 17, 18, 19]],
  ['Maestro, Bancontact', '5000 67', [16, 17, 18, 19]],
];

export const FEWEST_DIGITS = 12;
export const MOST_DIGITS = 19;

/** Whether a scheme issues numbers that begin as these digits do, and have as many. */
export function hasSchemeForm(digits: string): boolean {
  return FORMS.get(digits.length)?.test(digits) ?? false;
}

/** For each length, the prefixes of numbers that have it. */
const FORMS: ReadonlyMap<number, RegExp> = new Map(
  Array.from({ length: MOST_DIGITS - FEWEST_DIGITS + 1 }, (_, index) => {
    const length = FEWEST_DIGITS + index;
    const ofLength = SCHEMES.filter(([, , lengths]) => lengths.includes(length));
    const prefixes = ofLength.flatMap(([, ranges]) => ranges.split(' ').flatMap(prefixesIn));
    return [length, new RegExp(`^(?:${prefixes.join('|')})`)];
  }),
);

/** All prefixes of a range, such as 51-55. */
function prefixesIn(range: string): number[] {
  const [first = 0, last = first] = range.split('-').map(Number);
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}
