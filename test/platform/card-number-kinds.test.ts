import assert from 'node:assert/strict';
import { hasCardNumber } from '../../platform/card-number.ts';
import { hasSchemeForm } from '../../platform/card-schemes.ts';

/** How many of each kind are drawn, and how many of these may be refused. */
const DRAWN = 20_000;
const MOST_REFUSED = DRAWN / 1_000;

/** What the schemes and their processors publish to test with. */
const TEST_NUMBERS = {
  Visa: '4111111111111111 4012888888881881 4222222222222 4242424242424242 4000056655665556 4988438843884305',
  'Visa of 19 digits': '4000000000000000006',
  Mastercard: '5555555555554444 5105105105105100 2223003122003222 2223000048400011 5200828282828210 2720990000000007',
  'American Express': '378282246310005 371449635398431 378734493671000 340000000000009',
  'Diners Club': '30569309025904 38520000023237 36227206271667 3056930009020004 36006666333344',
  Discover: '6011111111111117 6011000990139424 6011981111111113 6445644564456445 6500000000000002',
  JCB: '3530111333300000 3566002020360505 3569990010095841',
  UnionPay: '6200000000000005 6205500000000000004 6243030000000001 8171999900000000021',
  Maestro: '6759649826438453 6304000000000000 6799990100000000019 5018000000000009 6771798021000008 5000550000000029',
};

/** How people, forms and programs write the groups of a number. */
const SPELLINGS: Readonly<Record<string, (groups: readonly string[]) => string>> = {
  plain: (groups) => groups.join(''),
  'with blanks': (groups) => groups.join(' '),
  'with hyphens': (groups) => groups.join('-'),
  'with dots': (groups) => groups.join('.'),
  'with commas': (groups) => groups.join(','),
  'with colons': (groups) => groups.join(':'),
  'with semicolons': (groups) => groups.join(';'),
  'with hashes': (groups) => groups.join('#'),
  'as in a URL': (groups) => groups.join('%20'),
  'as in HTML': (groups) => groups.join('&nbsp;'),
  mixed: (groups) => groups.reduce((text, group, index) => text + [' - ', ', ', '#', '%2F'][index % 4] + group),
  'full-width': (groups) => groups.join('').replace(/\d/g, (digit) => String.fromCodePoint(0xff10 + Number(digit))),
  'within a text': (groups) => `the card is ${groups.join(' ')}, until 12/29`,
};

/** Splits a number as it is printed on its card. */
function groupsOf(number: string): string[] {
  if (number.length === 15) return [number.slice(0, 4), number.slice(4, 10), number.slice(10)];
  if (number.length === 14) return [number.slice(0, 4), number.slice(4, 10), number.slice(10)];
  return number.match(/\d{1,4}/g) ?? [];
}

/** Mulberry32: the same numbers in each run. */
function seeded(seed: number) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

const chance = seeded(49);
const below = (end: number) => Math.floor(chance() * end);
const oneOf = <T>(choices: readonly T[]): T => choices[below(choices.length)] as T;
const from = (alphabet: string, count: number) => Array.from({ length: count }, () => oneOf([...alphabet])).join('');
const digits = (count: number) => from('0123456789', count);
/** A moment of 2026. */
const moment = () => 1_767_225_600_000 + below(365 * 86_400_000);
const iso = () => new Date(moment()).toISOString();
const HEX = '0123456789abcdef';
const CROCKFORD = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/** With the check digit of EAN-13 and ISBN-13. */
function withCheck13(twelve: string): string {
  const sum = [...twelve].reduce((total, digit, index) => total + Number(digit) * (index % 2 === 0 ? 1 : 3), 0);
  return twelve + ((10 - (sum % 10)) % 10);
}

/** An IBAN as banks print it; its country has `length` characters. */
function ibanInGroups([country, length]: readonly [string, number]): string {
  const account = digits(length - 4);
  const asNumber = [...`${account}${country}00`].map((character) => Number.parseInt(character, 36)).join('');
  const check = String(98n - (BigInt(asNumber) % 97n)).padStart(2, '0');
  return `${country}${check}${account}`.match(/.{1,4}/g)?.join(' ') ?? '';
}

/** A snowflake: milliseconds since the service's epoch, then 22 bits. */
const snowflake = (epoch: number) => String((BigInt(moment() - epoch) << 22n) | BigInt(below(2 ** 22)));

/** An IMEI, which passes Luhn. */
function imei(): string {
  const body = oneOf(['35', '86', '01', '99']) + digits(12);
  const sum = [...body].reduce((total, digit, index) => {
    const doubled = Number(digit) * 2;
    return total + (index % 2 === 0 ? Number(digit) : doubled > 9 ? doubled - 9 : doubled);
  }, 0);
  return body + ((10 - (sum % 10)) % 10);
}

const KINDS: Readonly<Record<string, () => string>> = {
  'an order id of 13 digits': () => digits(13),
  'an order id of 13 digits after a word': () => `order-${digits(13)}`,
  'an order id of 16 digits': () => digits(16),
  'EAN-13': () => withCheck13(digits(12)),
  'ISBN-13': () => withCheck13(`97${oneOf(['8', '9'])}${digits(9)}`),
  IMEI: imei,
  'a snowflake of Twitter': () => snowflake(1_288_834_974_657),
  'a snowflake of Discord': () => snowflake(1_420_070_400_000),
  'Date.now()': () => String(moment()),
  'Date.now() with a suffix': () => `${moment()}${oneOf(['', '-', '_', '.'])}${digits(oneOf([3, 4, 5]))}`,
  'Date.now() after a number': () => `${digits(4)}-${moment()}`,
  'an IBAN in groups': () =>
    ibanInGroups(
      oneOf([
        ['DE', 22],
        ['FR', 27],
        ['ES', 24],
        ['PL', 28],
        ['AT', 20],
        ['BE', 16],
        ['SE', 24],
      ] as const),
    ),
  'an IBAN in groups within a text': () => `refund to ${ibanInGroups(['DE', 22])}, order ${digits(6)}`,
  'a UUID': () => [8, 4, 4, 4, 12].map((length) => from(HEX, length)).join('-'),
  'a UUID without hyphens': () => from(HEX, 32),
  'a telephone number': () =>
    oneOf([() => `+49${oneOf(['15', '16', '17'])}${digits(oneOf([8, 9]))}`, () => `+44 7${digits(3)} ${digits(6)}`])(),
  'a telephone number in groups': () => `+${oneOf(['49', '48', '43', '39'])} ${digits(3)} ${digits(3)} ${digits(4)}`,
  'a Shopify order id': () => `${oneOf(['5', '7'])}${digits(12)}`,
  'a Shopify GID': () => `gid://shopify/Order/${oneOf(['5', '7'])}${digits(12)}`,
  'a WooCommerce order': () => `wc_order_${from('abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789', 13)}`,
  'a Magento order': () => `${oneOf(['1', '2', '3'])}0000${digits(5)}`,
  'an ISO time': iso,
  'a compact ISO time': () => iso().replace(/[-:]/g, ''),
  'a time of digits alone': () => iso().replace(/\D/g, ''),
  'a ULID': () => from(CROCKFORD, 26),
  'a tracking number of UPS': () => `1Z${from(CROCKFORD, 6)}${digits(10)}`,
  'a tracking number of FedEx': () => digits(12),
  'a tracking number of DHL': () =>
    oneOf([() => digits(10), () => `00340434${digits(12)}`, () => `JJD${digits(18)}`])(),
  'an invoice number': () => `${oneOf(['INV', 'RE', 'F'])}-${iso().slice(0, 7)}-${digits(6)}`,
  'an invoice number of digits': () => `${iso().slice(0, 10).replaceAll('-', '')}${digits(6)}`,
};

describe('hasCardNumber() of what shops write', () => {
  for (const [scheme, numbers] of Object.entries(TEST_NUMBERS)) {
    for (const [spelling, spell] of Object.entries(SPELLINGS)) {
      it(`finds each test number of ${scheme} ${spelling}`, () => {
        for (const number of numbers.split(' ')) {
          const text = spell(groupsOf(number));
          assert.equal(hasCardNumber(text), true, text);
        }
      });
    }
  }

  for (const [kind, draw] of Object.entries(KINDS)) {
    it(`refuses less than one in a thousand: ${kind}`, () => {
      const drawn = Array.from({ length: DRAWN }, draw);
      const without = drawn.filter((text) => !text.match(/\d+/g)?.some(hasSchemeForm));
      assert(without.length > DRAWN / 2, 'most have no form of a scheme');
      const refused = without.filter(hasCardNumber);
      assert(refused.length < MOST_REFUSED, `${refused.length}, such as ${refused.slice(0, 3).join(' and ')}`);
    });
  }

  it('refuses a tenth of what has the form of a scheme', () => {
    const drawn = Array.from({ length: DRAWN }, () => `4${digits(15)}`);
    const refused = drawn.filter(hasCardNumber).length;
    assert(refused > DRAWN * 0.09 && refused < DRAWN * 0.11, String(refused));
  });
});
