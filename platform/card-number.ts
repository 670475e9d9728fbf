import { FEWEST_DIGITS, hasSchemeForm, MOST_DIGITS } from './card-schemes.ts';

/**
 * Returns true when a text contains what looks like a card number: digits that begin as a scheme's numbers do, are as
 * many, and pass the Luhn check (ISO/IEC 7812-1). Digits of any script count, in one run or in the groups in which
 * cards are written, whatever separates these: blanks, punctuation or invisible characters, also spelled as in URLs
 * (`%20`) or in HTML (`&nbsp;`).
 *
 * Other identifiers with a form of their own do not count: UUIDs, times, IBANs, and telephone numbers after a `+`.
 */
export function hasCardNumber(text: string): boolean {
  if (isAscii(text) && (text.match(/\d/g)?.length ?? 0) < FEWEST_DIGITS) return false;
  const decoded = decode(text);
  return isFoundIn(text) || (decoded !== text && isFoundIn(decoded));
}

function isFoundIn(text: string): boolean {
  const rest = OTHER_FORMS.reduce((plain, form) => plain.replace(form, 'x'), fold(text));
  return (rest.match(RUN) ?? []).some((run) => isCard(run.split(/\D+/)));
}

/** Replaces what URLs and HTML write for a character by the character, or by a blank. */
function decode(text: string): string {
  return text
    .replace(/%([0-9a-f]{2})/gi, (_, code: string) => asciiOf(Number.parseInt(code, 16)))
    .replace(/&#(?:x([0-9a-f]{1,6})|(\d{1,7}));/gi, (_, hex: string | undefined, decimal: string) =>
      asciiOf(hex === undefined ? Number(decimal) : Number.parseInt(hex, 16)),
    )
    .replace(/&[a-z]{2,8};/gi, ' ');
}

function asciiOf(code: number): string {
  return code < 0x80 ? String.fromCharCode(code) : ' ';
}

function isAscii(text: string): boolean {
  return /^[ -~]*$/.test(text);
}

/**
 * Replaces compatibility forms (full-width, circled) and other scripts' digits by 0 to 9, and removes invisible
 * characters.
 */
function fold(text: string): string {
  if (isAscii(text)) return text;
  return text
    .normalize('NFKC')
    .replace(/[\t-\r]/g, ' ')
    .replace(/[\p{Cf}\p{M}\p{Cc}\u115f\u1160\u3164]/gu, '')
    .replace(/(?![0-9])\p{Nd}/gu, digitOf);
}

/** Unicode keeps the ten digits of each script together, from 0 to 9. */
function digitOf(digit: string): string {
  const codePoint = digit.codePointAt(0) ?? 0;
  let value = 0;
  while (value < 9 && /\p{Nd}/u.test(String.fromCodePoint(codePoint - value - 1))) value += 1;
  return String(value);
}

/**
 * Whether some of the neighbouring groups of digits form a card number; a number before it or a date after it must not
 * hide it.
 */
function isCard(groups: readonly string[]): boolean {
  return groups.some((_, from) => beginsWithCard(groups, from));
}

/**
 * Whether the groups that begin at `from` form a card number: one run; 4-4-…, 4-6-5 or 4-6-4 as printed on cards, even
 * if one space is missing; or groups of one size, where the last may be shorter.
 */
function beginsWithCard(groups: readonly string[], from: number): boolean {
  const first = groups[from]?.length ?? 0;
  let [asOnCards, sameSize] = [first === 4, first <= 4];
  let digits = '';
  for (let index = from; index < groups.length; index++) {
    const group = groups[index] ?? '';
    digits += group;
    if (digits.length > MOST_DIGITS) return false;
    const second = group.length === 4 || group.length === 6;
    if (index > from) asOnCards &&= index === from + 1 ? second : group.length <= 8;
    const isGrouping = index === from || asOnCards || (sameSize && group.length <= first);
    if (!isGrouping) return false;
    if (hasSchemeForm(digits) && isLuhnValid(digits)) return true;
    sameSize &&= group.length === first;
  }
  return false;
}

/** The check digit of ISO/IEC 7812-1 (Luhn), over a string of digits: every second one counts twice, from the right. */
export function isLuhnValid(digits: string): boolean {
  let sum = 0;
  for (let index = 0; index < digits.length; index++) {
    const digit = Number(digits[digits.length - 1 - index]);
    const doubled = digit > 4 ? digit * 2 - 9 : digit * 2;
    sum += index % 2 === 0 ? digit : doubled;
  }
  return sum % 10 === 0;
}

/** How long IBANs are, by country (the registry of ISO 13616). */
const IBANS: readonly (readonly [countries: string, length: number])[] = [
  ['NO', 15],
  ['BE', 16],
  ['DK FK FI FO GL NL SD', 18],
  ['MK SI', 19],
  ['AT BA EE KZ LT LU MN XK', 20],
  ['CH HR LI LV', 21],
  ['BG BH CR DE GB GE IE ME RS VA', 22],
  ['AE GI IL IQ OM SO TL', 23],
  ['AD CZ ES MD PK RO SA SE SK TN VG', 24],
  ['LY PT ST', 25],
  ['IS TR', 26],
  ['BI DJ FR GR IT MC MR SM', 27],
  ['AL AZ BY CY DO GT HN HU LB NI PL SV', 28],
  ['BR EG PS QA UA', 29],
  ['JO KW MU YE', 30],
  ['MT SC', 31],
  ['LC', 32],
  ['RU', 33],
];
const IBAN_FORMS = IBANS.map(([countries, length]) => {
  return `(?:${countries.replaceAll(' ', '|')})\\d\\d(?:[ -]?[A-Z0-9]){${length - 4}}`;
});

/** What is written in a form that no card has. */
const OTHER_FORMS: readonly RegExp[] = [
  /(?<![0-9a-f])[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}(?![0-9a-f])/gi,
  /(?<!\d)\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d([.,]\d+)?)?/gi,
  // E.164, up to 13 digits: real ones are not longer, and cards are not shorter but for Maestro's.
  /(?<![\d+])\+(?:\d[ ()./-]{0,2}){6,12}\d(?![ ()./-]{0,2}\d)/g,
  new RegExp(`(?<![A-Za-z0-9])(?:${IBAN_FORMS.join('|')})(?![A-Z0-9])`, 'g'),
];

/** Digits with one to three separators between groups. */
const RUN = /\d+(?:[^\p{L}\p{N}]{1,3}\d+)*/gu;
