import assert from 'node:assert/strict';
import { Answer } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { type Known, type Told, untruths } from './truth.ts';

/** A result that was told as it is in the processor's books. */
const told = (requestId: string, kind: string, more: Partial<Told> = {}): Told => ({
  requestId,
  kind,
  state: 'OK',
  amount: 100n,
  currency: 'EUR',
  reference: '',
  holdRequestId: kind === 'HOLD' ? '' : 'h',
  subject: '',
  ...more,
});
type Booked = Known['ledger'] extends ReadonlyMap<string, infer Entry> ? Entry : never;
const booked = (kind: Booked['kind'], more: Partial<Booked> = {}): Booked => ({
  kind,
  answer: Answer.APPROVED,
  amount: 100,
  currency: 'EUR',
  reference: 'theirs',
  returned: 0,
  renews: '',
  ...more,
});

const HOLD = told('h', 'HOLD');
const CAPTURE = told('c', 'CAPTURE');
const REFUND = told('r', 'REFUND');
const BACK = told('b', 'REFUND_RETURN', { subject: 'r' });
const RELEASE = told('e', 'RELEASE');

/** A hold that is captured and refunded, as it was told and is. */
function known({ ledger, ...more }: Partial<Omit<Known, 'ledger'>> & { ledger?: Record<string, Booked> }): Known {
  const booksOf = { h: booked('authorization'), c: booked('capture'), r: booked('refund'), ...ledger };
  return {
    told: [HOLD, CAPTURE, REFUND],
    identifiers: new Map(Object.keys(booksOf).map((id) => [id, id])),
    ledger: new Map(Object.entries(booksOf)),
    said: () => undefined,
    returns: () => ({ certain: [], possible: 0 }),
    areEventsTrue: true,
    decided: new Map(),
    givenBack: new Set(),
    ended: new Set(),
    ...more,
  };
}

const reported = (certain: bigint[], possible = 0): Pick<Known, 'returns'> => ({
  returns: (kind, subject) =>
    kind === 'REFUND_RETURN' && subject === 'r' ? { certain, possible } : { certain: [], possible: 0 },
});
const without = (id: string) => [HOLD, CAPTURE, REFUND].filter(({ requestId }) => requestId !== id);

/** What breaks each rule, and what is said of it. */
const UNTRUE: Readonly<Record<string, readonly [Parameters<typeof known>[0], ...string[]]>> = {
  'done that nobody did': [
    { ledger: { c: booked('capture', { answer: Answer.DECLINED }) } },
    "CAPTURE c is told as done, and the processor's books have none",
  ],
  'done that is something else there': [
    { ledger: { c: booked('void') } },
    "CAPTURE c is told as done, and the processor's books have none",
  ],
  'not done that was done': [
    { told: [HOLD, told('c', 'CAPTURE', { state: 'KO' }), REFUND] },
    'CAPTURE c is told as not done, and the processor has done it',
  ],
  'corrected to what is not so': [
    { told: [HOLD, CAPTURE, REFUND, told('x', 'CORRECTION', { state: 'KO', subject: 'c' })] },
    'CAPTURE c is told as not done, and the processor has done it',
  ],
  'neither the decision nor the books': [
    {
      ledger: { c: booked('capture', { answer: Answer.DECLINED }) },
      said: () => ({ approved: true, refused: true, references: new Set() }),
      decided: new Map([['c', 'KO']]),
    },
    "CAPTURE c is told as OK, which neither the operator nor the processor's books say",
  ],
  'another amount': [
    { ledger: { c: booked('capture', { amount: 90 }) } },
    'CAPTURE c is told with the amount 100, and is 90',
  ],
  'another currency': [
    { ledger: { c: booked('capture', { currency: 'JPY' }) } },
    'CAPTURE c is told in EUR, and is in JPY',
  ],
  "another's reference": [
    { told: [HOLD, told('c', 'CAPTURE', { reference: 'strange' }), REFUND] },
    'CAPTURE c is told with the reference of another: strange',
  ],
  'no result of what was done': [{ told: without('c') }, 'capture c was done, and no result of it is told'],
  'a new authorization that nobody gives back': [
    { ledger: { n: booked('authorization', { renews: 'h' }) } },
    'authorization n was done, and no result of it is told',
  ],
  'a return that is not told': [
    { ...reported([100n]), ledger: { r: booked('refund', { returned: 100 }) } },
    'REFUND_RETURN of r is told 0 times, and was reported 1',
    'REFUND_RETURN of r is told with 0 in all, and 100 came back',
  ],
  'a return that is told twice': [
    { ...reported([100n]), told: [HOLD, CAPTURE, REFUND, BACK, BACK], areEventsTrue: false },
    'REFUND_RETURN of r is told 2 times, by 1 events',
  ],
  'a return of another amount than was reported': [
    { ...reported([90n]), told: [HOLD, CAPTURE, REFUND, BACK], areEventsTrue: false },
    'REFUND_RETURN of r is told with 100 in all, and was reported with 90',
  ],
  'a return of another amount than came back': [
    {
      ...reported([], 1),
      told: [HOLD, CAPTURE, REFUND, BACK],
      ledger: { r: booked('refund', { returned: 90 }) },
    },
    'REFUND_RETURN of r is told with 100 in all, and 90 came back',
  ],
  'an end that is told twice': [
    { told: [HOLD, CAPTURE, REFUND, RELEASE, RELEASE] },
    'the end of the hold h is told 2 times',
  ],
  'an expiry that is told twice': [
    {
      told: [HOLD, ...[60n, 40n].map((amount) => told('e', 'EXPIRY', { state: 'KO', amount }))],
      ledger: { c: booked('void'), r: booked('void') },
    },
    'the end of the hold h is told 2 times',
  ],
  'an end that is not told': [{ ended: new Set(['h']) }, 'the end of the hold h is not told'],
  'a return of what was never told': [
    { told: [HOLD, CAPTURE, REFUND, told('b', 'OCT_RETURN', { subject: 'o' })] },
    'OCT_RETURN b is about o, of which no result is told',
  ],
  'a return in another currency': [
    {
      ...reported([], 1),
      told: [HOLD, CAPTURE, REFUND, { ...BACK, currency: 'JPY' }],
      ledger: { r: booked('refund', { returned: 100 }) },
    },
    'REFUND_RETURN b is told in JPY, not EUR',
  ],
};

/** What looks untrue, and is not. */
const TRUE: Readonly<Record<string, Parameters<typeof known>[0]>> = {
  'what is in the books': {},
  'a new authorization that was given back': {
    ledger: { n: booked('authorization', { renews: 'h' }) },
    givenBack: new Set(['n']),
  },
  'what the processor said': {
    ledger: { c: booked('capture', { answer: Answer.DECLINED }) },
    said: () => ({ approved: true, refused: false, references: new Set() }),
  },
  'what an operator decided': {
    told: [HOLD, told('c', 'CAPTURE', { state: 'KO' }), REFUND],
    decided: new Map([['c', 'KO']]),
  },
  'what was corrected': {
    told: [HOLD, told('c', 'CAPTURE', { state: 'KO' }), REFUND, told('x', 'CORRECTION', { subject: 'c' })],
  },
  'two ends of what one of them left': {
    told: [HOLD, ...[60n, 40n].map((amount) => told('e', 'RELEASE', { amount }))],
    ledger: { c: booked('void'), r: booked('void') },
    ended: new Set(['h']),
  },
};

describe('untruths()', () => {
  for (const [what, [given, ...expected]] of Object.entries(UNTRUE))
    it(`finds ${what}`, () => assert.deepEqual(untruths(known(given)), expected));
  for (const [what, given] of Object.entries(TRUE))
    it(`believes ${what}`, () => assert.deepEqual(untruths(known(given)), []));
});
