/** The beginnings of runs that are told, and not drawn. */
import type { Command } from './commands.ts';

const KEPT = { do: 'place', token: 'guarantee_short', terms: 'keep', fault: 'none' } as const;

/** Openings that lead to states which random commands rarely reach. */
export const STORIES: readonly Partial<Command>[][] = [
  // The checkout is cancelled with a lost answer, and the customer pays.
  [{ do: 'checkout' }, { do: 'release', fault: 'lost before' }, { do: 'pay', fault: 'none' }, { do: 'capture' }],
  [{ do: 'checkout' }, { do: 'release', fault: 'late' }, { do: 'pay', fault: 'none' }, { do: 'capture' }],
  // The customer pays, the event is lost, and the checkout is cancelled.
  [{ do: 'checkout' }, { do: 'pay', fault: 'slow' }, { do: 'release', fault: 'none' }],
  // The customer of a known card is asked by its issuer, on a page that is lost at first, is used, or is cancelled.
  ...(['none', 'lost before', 'lost after', 'lost after', 'late'] as const).flatMap((fault): Partial<Command>[][] => [
    [{ do: 'step up', token: 'ok', fault }, ...Array<Partial<Command>>(5).fill({ do: 'pay', final: false })],
    [{ do: 'step up', token: 'ok', fault: 'none' }, { do: 'release', fault }, { do: 'pay' }, { do: 'retry' }],
  ]),
  // One capture is unknown when another closes the hold.
  ...(['lost before', 'lost after', 'late'] as const).map((fault): Partial<Command>[] => [
    { do: 'place', merchant: 0, token: 'ok', fault: 'none' },
    { do: 'capture', share: 'little', final: false, fault },
    { do: 'capture', share: 'half', final: true, fault: 'none' },
  ]),
  // An increment is unknown when everything else is captured.
  ...(['lost before', 'lost after', 'late'] as const).map((fault): Partial<Command>[] => [
    { do: 'place', merchant: 0, token: 'ok', fault: 'none' },
    { do: 'increment', share: 'half', fault },
    { do: 'capture', share: 'rest', final: false, fault: 'none' },
  ]),
  // Parts are released whatever fails, and corrected, and the rest is captured, and renewed.
  ...(['none', 'none', 'none', 'lost before', 'lost after', 'late'] as const).map((fault): Partial<Command>[] => [
    { do: 'place', merchant: 0, token: 'ok', terms: 'none', fault: 'none' },
    { do: 'release a part', share: 'half', currency: 'EUR', words: 'everything', fault },
    { do: 'release a part', share: 'little', currency: 'EUR', words: 'digits', fault: 'none' },
    { do: 'correct', final: false },
    { do: 'capture', share: 'rest', final: false, fault: 'none' },
    { do: 'renew', final: false, fault: 'none' },
  ]),
  // An extension is unknown at the end of the hold's period.
  [
    { do: 'place', merchant: 2, token: 'ok', fault: 'none' },
    { do: 'extension', fault: 'lost after' },
  ],
  // What remains is due to be captured while a capture or the placing is unknown, while the hold is frozen, and after
  // that was changed.
  ...(['none', 'lost before', 'lost after', 'late'] as const).flatMap((fault): Partial<Command>[][] => [
    [
      { do: 'place', merchant: 0, token: 'ok', terms: 'capture soon', fault: 'none' },
      { do: 'capture', share: 'little', final: false, fault },
      { do: 'race', rival: 'capture by itself', share: 'half', final: false },
      { do: 'race', rival: 'freeze', final: true },
    ],
    [
      { do: 'place', merchant: 1, token: 'ok', terms: 'capture soon', fault },
      { do: 'capture by itself', fault },
      { do: 'update', terms: 'no capture' },
      { do: 'capture by itself', fault: 'none' },
    ],
  ]),
  // A hold is renewed while something of it is unknown, and released while the merchant captures it, or that is lost.
  ...(['none', 'lost before', 'lost after', 'late'] as const).flatMap((fault): Partial<Command>[][] => [
    [
      { do: 'place', merchant: 0, token: 'ok', terms: 'none', fault: 'none' },
      { do: fault === 'late' ? 'increment' : 'capture', share: 'little', final: false, fault },
      { do: 'renew', fault: 'none' },
      { do: 'race', rival: 'release renewed', share: 'half', final: false },
      { do: 'release renewed', fault },
    ],
    [
      { do: 'place', merchant: 1, token: 'ok', terms: 'none', fault: 'none' },
      { do: 'renew', fault: fault === 'lost after' ? fault : 'none' },
      { do: 'release renewed', fault },
    ],
  ]),
  // A capture is refunded in part, whatever fails, and again, also after its hold has closed.
  ...(['none', 'none', 'lost before', 'lost after', 'late', 'slow'] as const).map((fault): Partial<Command>[] => [
    { do: 'place', merchant: 0, token: 'ok', fault: 'none' },
    { do: 'capture', share: 'half', final: fault === 'slow', currency: 'EUR', words: 'a reference', fault: 'none' },
    { do: 'refund', share: 'half', currency: 'EUR', words: 'everything', fault },
    { do: 'come back' },
    { do: 'refund', share: 'little', fault: 'none' },
  ]),
  // A kept hold renews itself, whatever fails, while the merchant goes on with it.
  ...(['none', 'slow', 'lost before', 'lost after', 'late', 'late authorization'] as const).flatMap(
    (fault): Partial<Command>[][] => [
      [
        { ...KEPT, merchant: 0 },
        { do: 'get' },
        { do: 'capture', share: 'little', final: false, currency: 'EUR', words: 'a reference', fault: 'none' },
        { do: 'get' },
        { do: 'renew kept', fault },
        { do: 'race', rival: 'renew kept', share: 'little', final: false, fault: 'slow' },
        { do: 'void replaced' },
        { do: 'refund', share: 'half', currency: 'EUR', words: 'everything', fault: 'none' },
        { do: 'renew kept', fault: 'none' },
        { do: 'end there' },
        { do: 'capture', share: 'half', currency: 'EUR', words: 'digits', fault: 'none' },
      ],
      [
        { ...KEPT, merchant: 3 },
        { do: 'get' },
        { do: 'race', rival: 'renew kept', share: 'little', final: false, fault: 'none' },
        { do: 'renew kept', fault },
        { do: 'increment', share: 'little', currency: 'EUR', words: 'a reference', fault: 'none' },
        { do: 'end there' },
        { do: 'renew kept', fault: 'none' },
        { do: 'release a part', share: 'little', currency: 'EUR', words: 'everything', fault },
        { do: 'renew kept', fault },
        { do: 'void replaced' },
        { do: 'extension' },
      ],
    ],
  ),
  // A hold is changed without an answer while its renewal has none.
  ...(['increment', 'extension', 'release a part', 'capture'] as const).flatMap((change): Partial<Command>[][] =>
    (['lost after', 'late'] as const).map((fault) => [
      { ...KEPT, merchant: 3 },
      { do: 'get' },
      { do: 'renew kept', fault },
      { do: change, share: 'little', final: false, currency: 'EUR', words: 'a reference', fault: 'lost after' },
      { do: 'get' },
    ]),
  ),
  // A refund fails, or is done, and the processor says the contrary later.
  ...(['lost before', 'lost before', 'lost before', 'late', 'none', 'none'] as const).map(
    (fault): Partial<Command>[] => [
      { do: 'place', merchant: 0, token: 'ok', fault: 'none' },
      { do: 'capture', share: 'half', currency: 'EUR', words: 'everything', fault: 'none' },
      { do: 'refund', share: 'half', currency: 'EUR', words: 'digits', fault },
      ...Array<Partial<Command>>(5).fill({ do: 'correct', final: true }),
    ],
  ),
  // A release is unknown, and the merchant sends more commands.
  [{ do: 'place', token: 'ok', fault: 'none' }, { do: 'release', fault: 'lost after' }, { do: 'capture' }],
];
