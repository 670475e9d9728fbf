/** What merchants say of their operations besides what is done: references, metadata, a reason, and card numbers. */

/** What is said of one. */
export interface Said {
  readonly merchantReference?: string;
  readonly metadata?: Record<string, string>;
  readonly reason?: string;
}

/** Numbers that the schemes publish for tests, as people write them. */
const CARDS = [
  '4242424242424242',
  '5555-5555-5555-4444',
  '3782 822463 10005',
  '4242,4242,4242,4242',
  '4242%204242%204242%204242',
] as const;

/** What is said, by its number. The digits of a shop are not those of a card. */
const SAYINGS = {
  nothing: () => ({}),
  'a reference': (serial) => ({ merchantReference: `reference of k${serial}` }),
  everything: (serial) => ({
    merchantReference: `order ${serial}`,
    metadata: { basket: `b-${serial}`, till: 'fünf' },
    reason: `what was wanted of it (${serial})`,
  }),
  digits: (serial) => ({
    // As long as a card number, but no scheme's; and one whose last digit is wrong.
    merchantReference: String(9_900_000_000_000 + serial),
    metadata: { voucher: '4242424242424241' },
    reason: String(1_700_000_000_000 + serial),
  }),
  'card in the reference': (serial) => ({ merchantReference: cardOf(serial) }),
  'card in the metadata': (serial) => ({ metadata: { order: `o-${serial}`, note: `paid by ${cardOf(serial)}` } }),
  'card in the reason': (serial) => ({ reason: `card ${cardOf(serial)}` }),
} as const satisfies Record<string, (serial: number) => Said>;

export type Words = keyof typeof SAYINGS;

/** All of them, those with a card number last. */
export const WORDS = Object.keys(SAYINGS) as Words[];

/** Whether it contains a card number, and is refused for that. */
export const namesCard = ({ words = 'nothing' }: { readonly words?: Words | undefined }) => words.startsWith('card');

/** What a call says of its operation; its key has a number. */
export function saidBy({ key, words = 'nothing' }: { readonly key: string; readonly words?: Words | undefined }): Said {
  return SAYINGS[words](Number(key.slice(1)));
}

function cardOf(serial: number): string {
  return CARDS[serial % CARDS.length] ?? CARDS[0];
}
